// The rollouts that a forecast assumes: pods of workloads that it has written become ready and up to date. These
// controllers run only in a forecast, in place of those of Kubernetes and of the injector.
import { CLUSTER, defineController } from '../../controller/index.ts';
import type { ControllerDefinition, Plan, View, Write } from '../../controller/index.ts';
import { editStatus, make, remove } from '../../kube/index.ts';
import type { AnyObject, Kind, KubeObject, Step, TableKind } from '../../kube/index.ts';
import { timestamp } from '../../kube/times.ts';
import { installed } from '../installation/kinds.ts';
import { lastRestart, needsDeletion } from '../restarts/restart-annotations.ts';
import { podOwner, Pods, ReplicaSets, workloadTables } from '../restarts/tables.ts';
import { rolloutOf } from '../workloads/rollout.ts';
import { Node } from '../tables.ts';
import type { Container, Pod, Workload } from '../workloads/workloads.ts';

/** The prefix of the names of these controllers. */
const ROLLOUT = 'rollout of ';

/** Controllers that complete the rollout of every workload as soon as it is written. */
export function assumedRollouts(): readonly ControllerDefinition[] {
  return workloadTables.map((kind) =>
    defineController<Workload>({
      name: `${ROLLOUT}${kind.plural}`,
      kind,
      ownsStatus: false,
      plan: (view, workload) => rollOut(view, kind, workload),
    }),
  );
}

/** Whether a write is an assumed rollout. */
export function isRollout({ by }: Write): boolean {
  return by.startsWith(ROLLOUT);
}

/** Whether a write of the cluster follows from one to a workload: its pods and ReplicaSets are deleted with it. */
export function isOfWorkload({ by, kind }: Write): boolean {
  return by === CLUSTER && (kind.kind === 'Pod' || kind.kind === 'ReplicaSet');
}

function rollOut(view: View, kind: TableKind<Workload>, workload: Workload): Plan {
  if (workload.metadata.deletionTimestamp !== undefined) return {};
  if (needsDeletion(workload)) return { steps: missingPods(view, workload) };
  if (rolloutOf(workload).state !== 'progressing') return {};
  const whole = view.get(installed(wholeKind(kind)), workload.metadata);
  // Rollouts that others have started may fail for unknown reasons.
  if (isObserved(workload) && whole === undefined && lastRestart(workload) === undefined) return {};
  const steps = podsOf(view, workload).map((pod) => remove(Pods, pod));
  const pod = whole === undefined ? [] : [make(Pods, podOf(view, workload, templateOf(whole)))];
  return { steps: [...steps, ...pod, editStatus(kind, workload, rolledOut(view, workload))] };
}

/** Whether the status has observed the latest change, which is then not one of the forecast. */
function isObserved({ metadata, status }: Workload): boolean {
  return Number(status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
}

/** The status of a workload whose pods are all new and ready. */
function rolledOut(view: View, { kind, metadata, spec, status }: Workload): Workload['status'] {
  const observedGeneration = metadata.generation ?? 0;
  if (kind === 'DaemonSet') {
    const pods = status?.desiredNumberScheduled || view.list(Node).length || 1;
    const all = { currentNumberScheduled: pods, desiredNumberScheduled: pods, updatedNumberScheduled: pods };
    return { ...status, observedGeneration, ...all, numberAvailable: pods };
  }
  const pods = spec?.replicas ?? 1;
  const all = { replicas: pods, readyReplicas: pods, updatedReplicas: pods, availableReplicas: pods };
  const { restartAt } = spec ?? {};
  return { ...status, observedGeneration, ...all, ...(restartAt !== undefined && { restartedAt: restartAt }) };
}

/** The pods of a workload: its own, and those of its ReplicaSets. */
function podsOf(view: View, { kind, metadata }: Workload): readonly Pod[] {
  const { namespace = '', uid } = metadata;
  const sets = view
    .list(ReplicaSets, { namespace })
    .filter((set) => set.metadata.ownerReferences?.some((owner) => owner.uid === uid));
  const owners = [podOwner(kind, metadata), ...sets.map((set) => podOwner(set.kind, set.metadata))];
  return owners.flatMap((owner) => view.index(Pods, 'owner', owner));
}

const READY: Pod['status'] = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };

/** Replaces deleted pods with new ones, which are up to date and become ready. */
function missingPods(view: View, workload: Workload): readonly Step[] {
  if ((workload.metadata.ownerReferences ?? []).length > 0) return [];
  const pods = podsOf(view, workload);
  // A pod that the cluster created always has a phase.
  const made = pods.filter(({ status }) => status?.phase === undefined);
  const isMissing = pods.length < (workload.status?.readyReplicas ?? 0);
  return [
    ...made.map((pod) => editStatus(Pods, pod, READY)),
    ...(isMissing ? [make(Pods, podOf(view, workload, {}))] : []),
  ];
}

interface Template {
  readonly labels?: Readonly<Record<string, string>>;
  readonly containers?: readonly Container[];
}

function templateOf(workload: AnyObject): Template {
  const { template } = workload['spec'] as {
    readonly template?: { readonly metadata?: Template; readonly spec?: Template };
  };
  return { labels: template?.metadata?.labels ?? {}, containers: template?.spec?.containers ?? [] };
}

/** One ready pod for the whole workload. It opts out of injection, so that its sidecar is not checked. */
function podOf(view: View, workload: Workload, { labels = {}, containers = [] }: Template): Pod {
  const { apiVersion, kind, metadata } = workload;
  const { name, namespace, uid = '' } = metadata;
  const taken = new Set(podsOf(view, workload).map((pod) => pod.metadata.name));
  const named = (count: number): string => `${name}-${metadata.resourceVersion ?? ''}-${count}`;
  let count = taken.size;
  while (taken.has(named(count))) count++;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: named(count),
      namespace: namespace!,
      creationTimestamp: timestamp(view.now()),
      labels: { ...labels, 'sidecar.istio.io/inject': 'false' },
      ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
    },
    spec: { containers },
    status: READY,
  };
}

/** The kind without the options of its table. */
function wholeKind({ table: _table, ...kind }: TableKind<Workload>): Kind {
  return kind as unknown as Kind;
}

/** The annotations with which Kubernetes counts templates. */
const COUNTS = ['deployment.kubernetes.io/revision', 'deprecated.daemonset.template.generation'];

/** An object without the fields that Kubernetes sets, which are only assumed. */
export function withoutAssumed(object: KubeObject | undefined): KubeObject | undefined {
  if (object === undefined || object.kind === 'Istio') return object;
  const { status: _status, ...rest } = object as KubeObject & { status?: unknown };
  const { annotations } = rest.metadata;
  if (annotations === undefined || !COUNTS.some((name) => name in annotations)) return rest;
  const others = Object.fromEntries(Object.entries(annotations).filter(([name]) => !COUNTS.includes(name)));
  return { ...rest, metadata: { ...rest.metadata, annotations: others } };
}
