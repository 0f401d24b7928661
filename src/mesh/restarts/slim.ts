// The cached form of pods and workloads: only the fields that predicates and the planner use, as there can be
// thousands.
import type { ObjectMeta } from '../../kube/index.ts';
import { EXCLUDED, MAINTENANCE_WINDOW, MODULE_LABEL, RESTARTED_AT, RESTARTED_FOR } from '../names.ts';
import type { Container, Pod, Workload } from '../workloads/workloads.ts';
import type { DisruptionBudget } from './budgets.ts';

/** Containers of Istio; of others only the name is kept. */
const OURS = new Set(['istio-proxy', 'discovery']);
const POD_LABELS = new Set(['istio', 'app', 'k8s-app', MODULE_LABEL, 'sidecar.istio.io/inject']);
/** Annotations of the injection and its options, and of metrics. */
const POD_ANNOTATION = /^(sidecar\.istio\.io|prometheus\.io)\//;
const WORKLOAD_LABELS = new Set([MODULE_LABEL]);
const WORKLOAD_ANNOTATIONS = new Set([EXCLUDED, MAINTENANCE_WINDOW, RESTARTED_AT, RESTARTED_FOR]);

type Texts = Readonly<Record<string, string>>;

/** A pod with the fields that determine whether it is outdated. */
export function slimPod({ apiVersion, kind, metadata, spec = {}, status = {} }: Pod): Pod {
  const annotations = kept(metadata.annotations, (name) => POD_ANNOTATION.test(name));
  return {
    apiVersion,
    kind,
    metadata: {
      ...identity(metadata),
      ...(metadata.labels && { labels: kept(metadata.labels, (name) => POD_LABELS.has(name)) }),
      // It only matters that the annotation exists.
      annotations:
        'sidecar.istio.io/status' in annotations ? { ...annotations, 'sidecar.istio.io/status': '' } : annotations,
    },
    spec: {
      ...(spec.hostNetwork === true && { hostNetwork: true }),
      containers: (spec.containers ?? []).map(slimContainer),
      initContainers: (spec.initContainers ?? []).map(slimContainer),
    },
    status: {
      ...(status.phase !== undefined && { phase: status.phase }),
      conditions: (status.conditions ?? [])
        .filter((condition) => condition.type === 'Ready' || condition.status !== 'True')
        .map(({ type, status: holds }) => ({ type, status: holds })),
    },
  };
}

function slimContainer({ name, image, resources }: Container): Container {
  if (!OURS.has(name)) return { name };
  return { name, ...(image !== undefined && { image }), ...(resources && { resources }) };
}

/** A workload with the fields that restarts use: edits change nothing else. */
export function slimWorkload({ apiVersion, kind, metadata, spec = {}, status = {} }: Workload): Workload {
  const { replicas, paused, strategy, updateStrategy, template, restartAt } = spec;
  const { labels, annotations } = template?.metadata ?? {};
  const isOurs = (name: string): boolean => WORKLOAD_ANNOTATIONS.has(name);
  return {
    apiVersion,
    kind,
    metadata: {
      ...identity(metadata),
      ...(metadata.labels && { labels: kept(metadata.labels, (name) => WORKLOAD_LABELS.has(name)) }),
      ...(metadata.annotations && { annotations: kept(metadata.annotations, isOurs) }),
    },
    spec: {
      ...(replicas !== undefined && { replicas }),
      ...(paused !== undefined && { paused }),
      ...(strategy && { strategy }),
      ...(updateStrategy && { updateStrategy }),
      ...(restartAt !== undefined && { restartAt }),
      template: {
        metadata: {
          ...(labels && { labels }),
          ...(annotations && { annotations: kept(annotations, isOurs) }),
        },
      },
    },
    status: slimStatus(status),
  };
}

const COUNTS = [
  'observedGeneration',
  'replicas',
  'readyReplicas',
  'updatedReplicas',
  'availableReplicas',
  'desiredNumberScheduled',
  'updatedNumberScheduled',
  'numberAvailable',
  'phase',
  'restartedAt',
] as const;

function slimStatus(status: NonNullable<Workload['status']>): NonNullable<Workload['status']> {
  const counts = Object.fromEntries(
    COUNTS.flatMap((name) => (status[name] === undefined ? [] : [[name, status[name]]])),
  );
  const progressing = (status.conditions ?? []).filter(({ type }) => type === 'Progressing');
  return { ...counts, ...(progressing.length > 0 && { conditions: progressing }) };
}

/** A ReplicaSet; of one with an owner, only the metadata. */
export function slimReplicaSet(set: Workload): Workload {
  if ((set.metadata.ownerReferences ?? []).length === 0) return slimWorkload(set);
  return { apiVersion: set.apiVersion, kind: set.kind, metadata: identity(set.metadata) };
}

export function slimBudget({ apiVersion, kind, metadata, spec, status }: DisruptionBudget): DisruptionBudget {
  const { disruptionsAllowed, observedGeneration } = status ?? {};
  return {
    apiVersion,
    kind,
    metadata: identity(metadata),
    ...(spec?.selector && { spec: { selector: spec.selector } }),
    status: {
      ...(disruptionsAllowed !== undefined && { disruptionsAllowed }),
      ...(observedGeneration !== undefined && { observedGeneration }),
    },
  };
}

/** The metadata of an object without labels, annotations, managed fields and finalizers. */
function identity({
  labels: _l,
  annotations: _a,
  managedFields: _m,
  finalizers: _f,
  generateName: _g,
  ...rest
}: ObjectMeta): ObjectMeta {
  return rest;
}

function kept(texts: Texts = {}, isKept: (name: string) => boolean): Texts {
  return Object.fromEntries(Object.entries(texts).filter(([name]) => isKept(name)));
}
