// Checks that objects have the field types that the model relies on: those of a cluster do, manifests may not.
import { VirtualService, DestinationRule, Gateway, ServiceEntry, Sidecar } from './istio/objects.ts';
import type { KubeObject } from '../kube/index.ts';
import { DaemonSet, Deployment, Service, StatefulSet } from './services.ts';
import { isOfWorld, worldKinds } from './world-objects.ts';

type FieldShapes = Readonly<Record<string, Shape>>;
type Shape =
  | 'a string'
  | 'a number'
  | 'a boolean'
  | { readonly listOf: Shape }
  | { readonly mapOf: Shape }
  | { readonly fields: FieldShapes };

const TEXT: Shape = 'a string';
const NUMBER: Shape = 'a number';
const FLAG: Shape = 'a boolean';
const TEXTS: Shape = { listOf: TEXT };
const LABELS: Shape = { mapOf: TEXT };
const object = (fields: FieldShapes): Shape => ({ fields });
const list = (fields: FieldShapes): Shape => ({ listOf: { fields } });

const MATCH = object({ exact: TEXT, prefix: TEXT, regex: TEXT });
const MATCHES: Shape = { mapOf: MATCH };
const PERCENT = object({ value: NUMBER });
const DESTINATION = object({ host: TEXT, subset: TEXT, port: object({ number: NUMBER }) });
const OPERATIONS = object({ set: LABELS, add: LABELS, remove: TEXTS });
const HEADERS = object({ request: OPERATIONS, response: OPERATIONS });
const SERVICE_PORT: FieldShapes = { name: TEXT, protocol: TEXT, appProtocol: TEXT, port: NUMBER, number: NUMBER };

const HTTP = list({
  name: TEXT,
  match: list({
    name: TEXT,
    headers: MATCHES,
    withoutHeaders: MATCHES,
    queryParams: MATCHES,
    uri: MATCH,
    scheme: MATCH,
    method: MATCH,
    authority: MATCH,
    ignoreUriCase: FLAG,
    port: NUMBER,
    sourceLabels: LABELS,
    sourceNamespace: TEXT,
    gateways: TEXTS,
  }),
  route: list({ destination: DESTINATION, weight: NUMBER, headers: HEADERS }),
  delegate: object({ name: TEXT, namespace: TEXT }),
  redirect: object({ uri: TEXT, authority: TEXT, scheme: TEXT, port: NUMBER, redirectCode: NUMBER }),
  directResponse: object({ status: NUMBER, body: object({ string: TEXT, bytes: TEXT }) }),
  rewrite: object({ uri: TEXT, authority: TEXT, uriRegexRewrite: object({ match: TEXT, rewrite: TEXT }) }),
  timeout: TEXT,
  retries: object({ attempts: NUMBER, retryOn: TEXT, perTryTimeout: TEXT }),
  fault: object({
    delay: object({ fixedDelay: TEXT, percentage: PERCENT, percent: NUMBER }),
    abort: object({ httpStatus: NUMBER, grpcStatus: TEXT, percentage: PERCENT }),
  }),
  mirror: DESTINATION,
  mirrorPercentage: PERCENT,
  mirrorPercent: NUMBER,
  mirrors: list({ destination: DESTINATION, percentage: PERCENT }),
  headers: HEADERS,
});

const STREAMS = list({ route: list({ destination: DESTINATION, weight: NUMBER }) });

const SELECTOR = object({
  matchLabels: LABELS,
  matchExpressions: list({ key: TEXT, operator: TEXT, values: TEXTS }),
});
const CONTAINERS = list({ name: TEXT, image: TEXT, command: TEXTS, env: list({ name: TEXT }) });
const POD_OWNER: FieldShapes = {
  replicas: NUMBER,
  selector: SELECTOR,
  template: object({
    metadata: object({ labels: LABELS, annotations: LABELS }),
    spec: object({ containers: CONTAINERS, initContainers: CONTAINERS, volumes: list({ name: TEXT }) }),
  }),
};
const CONDITIONS = list({
  type: TEXT,
  status: TEXT,
  reason: TEXT,
  message: TEXT,
  lastTransitionTime: TEXT,
  lastUpdateTime: TEXT,
});
const CONTAINER_STATE = object({
  waiting: object({ reason: TEXT, message: TEXT }),
  running: object({ startedAt: TEXT }),
  terminated: object({ reason: TEXT, exitCode: NUMBER, startedAt: TEXT, finishedAt: TEXT }),
});
const CONTAINER_STATUSES = list({
  name: TEXT,
  ready: FLAG,
  restartCount: NUMBER,
  image: TEXT,
  state: CONTAINER_STATE,
  lastState: CONTAINER_STATE,
});
const STATUS = object({
  observedGeneration: NUMBER,
  readyReplicas: NUMBER,
  phase: TEXT,
  conditions: CONDITIONS,
  containerStatuses: CONTAINER_STATUSES,
  initContainerStatuses: CONTAINER_STATUSES,
});
const METADATA = object({
  name: TEXT,
  namespace: TEXT,
  uid: TEXT,
  generation: NUMBER,
  creationTimestamp: TEXT,
  deletionTimestamp: TEXT,
  labels: LABELS,
  annotations: LABELS,
  finalizers: TEXTS,
  ownerReferences: list({ apiVersion: TEXT, kind: TEXT, name: TEXT, uid: TEXT, controller: FLAG }),
  managedFields: list({ manager: TEXT }),
});

/** The fields of `spec` that are read, by kind. */
const SPECS: ReadonlyMap<string, FieldShapes> = new Map(
  Object.entries<FieldShapes>({
    [VirtualService.kind]: { hosts: TEXTS, gateways: TEXTS, exportTo: TEXTS, http: HTTP, tls: STREAMS, tcp: STREAMS },
    [DestinationRule.kind]: {
      host: TEXT,
      exportTo: TEXTS,
      subsets: list({ name: TEXT, labels: LABELS }),
      workloadSelector: object({ matchLabels: LABELS }),
    },
    [Gateway.kind]: {
      selector: LABELS,
      servers: list({
        port: object({ number: NUMBER, name: TEXT, protocol: TEXT }),
        hosts: TEXTS,
        tls: object({ mode: TEXT, httpsRedirect: FLAG }),
      }),
    },
    [Sidecar.kind]: {
      workloadSelector: object({ labels: LABELS }),
      egress: list({ port: object({ number: NUMBER }), hosts: TEXTS }),
      outboundTrafficPolicy: object({ mode: TEXT }),
    },
    [ServiceEntry.kind]: {
      hosts: TEXTS,
      exportTo: TEXTS,
      ports: list(SERVICE_PORT),
      endpoints: list({ address: TEXT, labels: LABELS }),
      workloadSelector: object({ labels: LABELS }),
    },
    [Service.kind]: { type: TEXT, clusterIP: TEXT, selector: LABELS, ports: list(SERVICE_PORT) },
    [Deployment.kind]: POD_OWNER,
    [StatefulSet.kind]: POD_OWNER,
    [DaemonSet.kind]: POD_OWNER,
    Pod: { containers: CONTAINERS, initContainers: CONTAINERS, volumes: list({ name: TEXT }) },
    PodDisruptionBudget: { selector: SELECTOR },
    NetworkPolicy: { podSelector: SELECTOR },
    HorizontalPodAutoscaler: {
      scaleTargetRef: object({ apiVersion: TEXT, kind: TEXT, name: TEXT }),
      metrics: list({ type: TEXT }),
    },
  }),
);

/** The fields beside `spec` and `status` that are read, by kind. */
const OTHERS: ReadonlyMap<string, FieldShapes> = new Map(
  Object.entries<FieldShapes>({
    ConfigMap: { data: LABELS },
    Event: {
      involvedObject: object({ kind: TEXT, name: TEXT, namespace: TEXT, uid: TEXT }),
      regarding: object({ kind: TEXT, name: TEXT, namespace: TEXT, uid: TEXT }),
      reason: TEXT,
      message: TEXT,
      note: TEXT,
      type: TEXT,
    },
    EndpointSlice: {
      ports: list({ name: TEXT, port: NUMBER }),
      endpoints: list({
        addresses: TEXTS,
        conditions: object({ ready: FLAG }),
        targetRef: object({ kind: TEXT, name: TEXT, namespace: TEXT }),
      }),
    },
  }),
);

/** A field with the wrong type. */
export interface ShapeProblem {
  readonly at: readonly (string | number)[];
  readonly message: string;
}

/** The first field with the wrong type; undefined if there is none. */
export function worldProblem(written: KubeObject): ShapeProblem | undefined {
  const { kind } = written;
  // Another API group may have a kind with the same name.
  const isOthers = worldKinds.some((each) => each.kind === kind) && !isOfWorld(written);
  const spec = isOthers ? undefined : SPECS.get(kind);
  const shape = object({
    metadata: METADATA,
    ...(spec && { spec: { fields: spec }, status: STATUS }),
    ...OTHERS.get(kind),
  });
  return problemIn(written, shape, []);
}

function problemIn(value: unknown, shape: Shape, at: ShapeProblem['at']): ShapeProblem | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof shape === 'string') return shape === `a ${typeof value}` ? undefined : wrong(value, shape, at);
  if ('listOf' in shape) {
    if (!Array.isArray(value)) return wrong(value, 'a list', at);
    return firstOf(value.entries(), ([index, item]) => problemIn(item, shape.listOf, [...at, index]));
  }
  if (typeof value !== 'object' || Array.isArray(value)) return wrong(value, 'an object', at);
  const fields = value as Readonly<Record<string, unknown>>;
  return 'mapOf' in shape
    ? firstOf(Object.entries(fields), ([key, item]) => problemIn(item, shape.mapOf, [...at, key]))
    : firstOf(Object.entries(shape.fields), ([key, each]) => problemIn(fields[key], each, [...at, key]));
}

function firstOf<T, R>(items: Iterable<T>, find: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function wrong(value: unknown, expected: string, at: ShapeProblem['at']): ShapeProblem {
  const field = at.map((each) => (typeof each === 'number' ? `[${each}]` : `.${each}`)).join('');
  return { at, message: `${field.slice(1)} must be ${expected}, found ${JSON.stringify(value)}` };
}
