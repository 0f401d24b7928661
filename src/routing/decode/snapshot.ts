// Objects of any kinds → Snapshot. An object that cannot be decoded is reported and left out; the others are kept.
import { mesh, meshGroup } from '../../api/routing.ts';
import type { Mesh as MeshObject, MeshGroup as MeshGroupObject } from '../../api/routing.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { diagnostic } from '../errors.ts';
import type { Diagnostic, Problem } from '../errors.ts';
import type { Mesh, MeshGroup, Pod, Ref, Rule, Service, Snapshot, Upstream } from '../model.ts';
import { byText } from '../names.ts';
import { isObject, readMessage, shown } from './proto-json.ts';
import type { FieldProblem, FieldPath } from './proto-json.ts';
import { chosen, decodeRule, refOf } from './rule.ts';
import { decodePod, decodeService, decodeUpstream } from './workloads.ts';

/** An object as it was read, and a function that locates its fields in the input. */
export interface Source {
  readonly object: unknown;
  readonly where: (at: FieldPath) => string;
}

export interface Decoded {
  readonly snapshot: Snapshot;
  readonly diagnostics: readonly Diagnostic[];
}

type Lists = {
  readonly meshes: Map<string, Mesh>;
  readonly groups: Map<string, MeshGroup>;
  readonly rules: Map<string, Rule>;
  readonly upstreams: Map<string, Upstream>;
  readonly pods: Map<string, Pod>;
  readonly services: Map<string, Service>;
};

type Decode<T> = (ref: Ref, object: Readonly<Record<string, unknown>>, problems: FieldProblem[]) => T;

/** The decoder of each kind, and the list for its results. */
const KINDS: Readonly<Record<string, { readonly into: keyof Lists; readonly decode: Decode<unknown> }>> = {
  'supergloo.solo.io/v1 Mesh': {
    into: 'meshes',
    decode: (ref, { metadata, spec }, problems) => decodeMesh(ref, metadata as object, spec, problems),
  },
  'supergloo.solo.io/v1 MeshGroup': {
    into: 'groups',
    decode: (ref, { spec }, problems) => decodeGroup(ref, spec, problems),
  },
  'supergloo.solo.io/v1 RoutingRule': {
    into: 'rules',
    decode: (ref, { spec }, problems) => decodeRule(ref, spec, problems),
  },
  'gloo.solo.io/v1 Upstream': {
    into: 'upstreams',
    decode: (ref, { metadata, spec }, problems) => decodeUpstream(ref, metadata as object as never, spec, problems),
  },
  'v1 Pod': {
    into: 'pods',
    decode: (ref, { metadata, spec }, problems) => decodePod(ref, metadata as object as never, spec, problems),
  },
  'v1 Service': { into: 'services', decode: (ref, { spec }, problems) => decodeService(ref, spec, problems) },
};

const DEFAULT_MAX_DELETE_FRACTION = 0.5;

/** A decoded object; or why it is invalid, with the part that could be decoded. */
export type DecodedObject<T> = { readonly value: T } | { readonly invalid: Problem; readonly rest: T };

/** Decodes an object of one of the kinds above. */
export function decodeObject<T>(object: KubeObject): DecodedObject<T> {
  const { apiVersion, kind, metadata } = object;
  const ref = { name: metadata.name, namespace: metadata.namespace ?? '' };
  const found: FieldProblem[] = [];
  const value = KINDS[`${apiVersion} ${kind}`]!.decode(ref, object as KubeObject & Record<string, unknown>, found);
  if (found.length === 0) return { value: value as T };
  const message = found.map((problem) => `${pathText(problem.at)}: ${problem.message}`).join('; ');
  return { invalid: { code: 'OBJECT_INVALID', message }, rest: value as T };
}

/** Decodes all valid objects. */
export function decodeSnapshot(sources: Iterable<Source>): Decoded {
  const lists: Lists = {
    meshes: new Map(),
    groups: new Map(),
    rules: new Map(),
    upstreams: new Map(),
    pods: new Map(),
    services: new Map(),
  };
  const diagnostics: Diagnostic[] = [];
  const unknown = new Set<string>();
  for (const source of sources) decodeInto(lists, source, diagnostics, unknown);
  const { meshes, groups, rules, upstreams, pods, services } = lists;
  return {
    snapshot: {
      meshes: sorted(meshes),
      groups: sorted(groups),
      rules: [...rules.values()],
      upstreams: sorted(upstreams),
      pods: sorted(pods),
      services: sorted(services),
    },
    diagnostics,
  };
}

function decodeInto(lists: Lists, { object, where }: Source, diagnostics: Diagnostic[], unknown: Set<string>): void {
  const { apiVersion, kind, metadata } = object as { apiVersion: string; kind: string; metadata: Partial<Ref> };
  const ref = { name: metadata.name ?? '', namespace: metadata.namespace || 'default' };
  const report = (severity: Diagnostic['severity'], code: Diagnostic['code'], at: FieldPath, message: string): void => {
    diagnostics.push(diagnostic(severity, kind, ref, { code, message: `${where(at)}: ${message}` }));
  };
  const known = KINDS[`${apiVersion} ${kind}`];
  if (known === undefined) {
    // Only the first object of a kind is reported: the input may be a whole cluster.
    const name = `${apiVersion} ${kind}`;
    if (unknown.has(name)) return;
    unknown.add(name);
    report(
      'warning',
      'KIND_UNKNOWN',
      ['kind'],
      `kind ${kind} of ${apiVersion} is not supported: its objects are ignored`,
    );
    return;
  }
  const problems: FieldProblem[] = [];
  const decoded = known.decode(ref, object as Readonly<Record<string, unknown>>, problems);
  for (const { at, message } of problems) report('error', 'OBJECT_INVALID', at, `${pathText(at)}: ${message}`);
  if (problems.length > 0) return;
  const list = lists[known.into] as Map<string, unknown>;
  const key = `${ref.namespace}/${ref.name}`;
  if (!list.has(key)) {
    list.set(key, decoded);
    return;
  }
  // A cluster can't have two objects with one name. Of pods and upstreams, both are used nevertheless.
  const isKept = known.into === 'pods' || known.into === 'upstreams';
  const which = isKept ? 'both count' : 'this one counts';
  report('warning', 'OBJECT_DUPLICATE', ['metadata', 'name'], `an object of this name came before: ${which}`);
  list.set(isKept ? `${key} ${list.size}` : key, decoded);
}

function decodeMesh(
  ref: Ref,
  { creationTimestamp }: { readonly creationTimestamp?: unknown },
  spec: unknown,
  problems: FieldProblem[],
): Mesh {
  const message = readMessage(mesh.schemas.spec, spec, ['spec'], problems) as MeshObject['spec'];
  const type = chosen(message, ['awsAppMesh', 'istio', 'linkerd'], ['spec'], problems);
  const { awsAppMesh } = message;
  return {
    ref,
    type,
    isAppMesh: type === 'awsAppMesh',
    createdAt: typeof creationTimestamp === 'string' ? creationTimestamp : '',
    awsName: awsAppMesh?.awsName ?? undefined,
    adopt: awsAppMesh?.adopt ?? false,
    allowEmpty: awsAppMesh?.allowEmpty ?? false,
    maxDeleteFraction: awsAppMesh?.maxDeleteFraction ?? DEFAULT_MAX_DELETE_FRACTION,
    region: awsAppMesh?.region ?? undefined,
    secret: awsAppMesh?.awsSecret ? refOf(awsAppMesh.awsSecret) : undefined,
  };
}

function decodeGroup(ref: Ref, spec: unknown, problems: FieldProblem[]): MeshGroup {
  const { meshes } = readMessage(meshGroup.schemas.spec, spec, ['spec'], problems) as MeshGroupObject['spec'];
  return { ref, meshes: (meshes ?? []).map((member) => member && refOf(member)) };
}

/** Objects sorted by namespace, then by name, as in SuperGloo. */
export function sorted<T extends { readonly ref: Ref }>(objects: { values(): Iterable<T> }): T[] {
  return [...objects.values()].sort(
    ({ ref: a }, { ref: b }) => byText(a.namespace, b.namespace) || byText(a.name, b.name),
  );
}

/** The path of a field as text: `spec.requestMatchers[0].prefix`. */
export function pathText(at: FieldPath): string {
  return at
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '');
}

/** Why a value is not a Kubernetes object; undefined if it is one. */
export function shapeProblem(value: unknown): FieldProblem | undefined {
  const noText = (field: string, found: unknown): string =>
    found === undefined || found === null || found === ''
      ? `${field} is missing`
      : `${field} must be a string, found ${shown(found)}${typeof found === 'object' ? '' : ': put it in quotes'}`;
  if (!isObject(value)) {
    return {
      at: [],
      message: `an object of Kubernetes is a mapping with apiVersion, kind and metadata, found ${shown(value)}`,
    };
  }
  const { apiVersion, kind, metadata } = value;
  for (const [field, text] of Object.entries({ apiVersion, kind })) {
    if (typeof text !== 'string' || text === '') return { at: [field], message: noText(field, text) };
  }
  if (!isObject(metadata)) {
    const isMissing = metadata === undefined || metadata === null;
    const message = isMissing ? 'metadata is missing' : `metadata must be a mapping, found ${shown(metadata)}`;
    return { at: ['metadata'], message };
  }
  const { name, namespace } = metadata;
  if (typeof name !== 'string' || name === '') {
    return { at: ['metadata', 'name'], message: noText('metadata.name', name) };
  }
  if (namespace !== undefined && namespace !== null && typeof namespace !== 'string') {
    return { at: ['metadata', 'namespace'], message: noText('metadata.namespace', namespace) };
  }
}
