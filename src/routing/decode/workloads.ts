// Decodes the fields of Pods, Services and Upstreams that a translation needs.
import { upstream as upstreamKind } from '../../api/upstream.ts';
import type { Upstream as UpstreamObject } from '../../api/upstream.ts';
import { ENV, PORTS_ANNOTATION } from '../errors.ts';
import type { Labels, Pod, Ref, Service, Upstream } from '../model.ts';
import { isObject, readMessage, shown } from './proto-json.ts';
import type { FieldProblem, FieldPath } from './proto-json.ts';

type JsonObject = Readonly<Record<string, unknown>>;
const NONE: JsonObject = {};

export function decodePod(ref: Ref, metadata: JsonObject, spec: unknown, problems: FieldProblem[]): Pod {
  const { containers, initContainers } = fieldsOf(spec, ['spec'], problems);
  const nodeNames: string[] = [];
  const arns: string[] = [];
  const portLists: string[] = [];
  const namedPorts: Record<string, number> = {};
  const inContainers: FieldPath = ['spec', 'containers'];
  eachOf(containers, inContainers, problems, (container, index) => {
    const at: FieldPath = [...inContainers, index];
    eachVariable(container, at, problems, (name, read) => {
      if (name === ENV.node) nodeNames.push(read());
      if (name === ENV.arn) arns.push(read());
    });
    if (container['ports'] === undefined) return;
    eachOf(container['ports'], [...at, 'ports'], problems, ({ name, containerPort }) => {
      if (typeof name === 'string' && typeof containerPort === 'number') namedPorts[name] = containerPort;
    });
  });
  const inInitContainers: FieldPath = ['spec', 'initContainers'];
  eachOf(initContainers, inInitContainers, problems, (container, index) => {
    eachVariable(container, [...inInitContainers, index], problems, (name, read) => {
      if (name === ENV.ports) portLists.push(read());
    });
  });
  const annotation = fieldsOf(metadata['annotations'], ['metadata', 'annotations'], problems)[PORTS_ANNOTATION];
  return {
    ref,
    labels: labelsOf(metadata['labels'], ['metadata', 'labels'], problems) ?? {},
    nodeNames,
    arns,
    portLists,
    portsAnnotation: typeof annotation === 'string' ? annotation : undefined,
    namedPorts,
  };
}

/** Calls a function for each environment variable of a container, with a reader of its value. */
function eachVariable(
  container: JsonObject,
  at: FieldPath,
  problems: FieldProblem[],
  call: (name: unknown, read: () => string) => void,
): void {
  if (container['env'] === undefined) return;
  eachOf(container['env'], [...at, 'env'], problems, ({ name, value }, index) => {
    call(name, () => textOf(value, [...at, 'env', index], problems));
  });
}

export function decodeService(ref: Ref, spec: unknown, problems: FieldProblem[]): Service {
  const { selector, ports } = fieldsOf(spec, ['spec'], problems);
  const targetPorts: (number | string)[] = [];
  eachOf(ports, ['spec', 'ports'], problems, ({ port, targetPort = port }) => {
    if (typeof targetPort === 'number' || typeof targetPort === 'string') targetPorts.push(targetPort);
  });
  return { ref, selector: labelsOf(selector, ['spec', 'selector'], problems), targetPorts };
}

export function decodeUpstream(ref: Ref, metadata: JsonObject, spec: unknown, problems: FieldProblem[]): Upstream {
  const message = readMessage(upstreamKind.schemas.spec, spec, ['spec'], problems) as UpstreamObject['spec'];
  const labels = labelsOf(metadata['labels'], ['metadata', 'labels'], problems) ?? {};
  return { ref, labels, spec: upstreamSpec(message) };
}

/** Older objects nest the spec in `upstreamSpec`. */
function upstreamSpec(message: UpstreamObject['spec']): Upstream['spec'] {
  const { kube, static: fixed, aws, azure, consul } = message.upstreamSpec ?? message;
  if (kube) {
    const { serviceName, serviceNamespace, servicePort, selector } = kube;
    return {
      kind: 'kube',
      service: { name: serviceName ?? '', namespace: serviceNamespace ?? '' },
      port: servicePort ?? 0,
      selector: selector ?? undefined,
    };
  }
  if (fixed) {
    const { addr, port } = fixed.hosts?.[0] ?? {};
    return { kind: 'static', addr: addr ?? undefined, port: port ?? undefined };
  }
  return { kind: aws ? 'aws' : azure ? 'azure' : consul ? 'consul' : 'none' };
}

function fieldsOf(value: unknown, at: FieldPath, problems: FieldProblem[]): JsonObject {
  if (isObject(value)) return value;
  if (value !== undefined && value !== null) problems.push({ at, message: `must be an object, found ${shown(value)}` });
  return NONE;
}

/** Calls a function for each item of a list of objects. */
function eachOf(
  value: unknown,
  at: FieldPath,
  problems: FieldProblem[],
  call: (item: JsonObject, index: number) => void,
): void {
  if (value === undefined || value === null) return;
  if (!Array.isArray(value)) {
    problems.push({ at, message: `must be a list, found ${shown(value)}` });
    return;
  }
  for (const [index, item] of value.entries() as Iterable<[number, unknown]>) {
    call(isObject(item) ? item : fieldsOf(item, [...at, index], problems), index);
  }
}

/** The value of an environment variable; empty if it is set with `valueFrom`. */
function textOf(value: unknown, at: FieldPath, problems: FieldProblem[]): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  problems.push({ at: [...at, 'value'], message: `must be a string, found ${shown(value)}: put it in quotes` });
  return '';
}

function labelsOf(value: unknown, at: FieldPath, problems: FieldProblem[]): Labels | undefined {
  if (value === undefined || value === null) return undefined;
  const labels = fieldsOf(value, at, problems);
  for (const [key, each] of Object.entries(labels)) {
    if (typeof each !== 'string') {
      problems.push({ at: [...at, key], message: `must be a string, found ${shown(each)}: put it in quotes` });
    }
  }
  return labels as Labels;
}
