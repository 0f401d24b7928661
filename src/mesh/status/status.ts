// The status of the active resource: its state in one word, a description, conditions, the running version, resources
// that block a deletion, and pending restarts.
import type { Istio, IstioStatus } from '../../api/istio.ts';
import { conditionsOf } from '../../controller/index.ts';
import type { Condition, PlannedCondition, Status } from '../../controller/index.ts';
import type { AnyObject } from '../../kube/index.ts';
import { condition, manualRestartRequired } from './conditions.ts';
import type { RECONCILING } from '../reasons.ts';
import { blockedBy } from '../deletion/blocking.ts';
import { failure, worstOf } from './failures.ts';
import type { Failure } from './failures.ts';
import type { ClusterSize } from '../installation/operator/size.ts';
import type { ManualRestart, UninjectedPod } from '../restarts/outdated.ts';
import { workloadKey } from '../restarts/owners.ts';
import type { PendingWorkload, RestartPlan } from '../restarts/plan.ts';

export interface StatusFacts {
  readonly istio: Istio;
  /** The failures of all components. */
  readonly failures: readonly Failure[];
  /** What the installation waits for; absent when it is done. */
  readonly waiting?: string;
  readonly istioVersion?: string;
  readonly size?: ClusterSize;
  /** Resources of users that block the deletion. */
  readonly blocking?: readonly AnyObject[];
  readonly restarts?: RestartPlan;
  readonly manual?: readonly ManualRestart[];
  /** Pods that should have a sidecar but have none. */
  readonly uninjected?: readonly UninjectedPod[];
  /** Additional conditions, which override others of the same type. */
  readonly conditions?: readonly PlannedCondition[];
}

/** The status of the resource. Conditions of other types are kept. */
export function meshStatus(facts: StatusFacts): Status & Omit<IstioStatus, 'conditions'> {
  const { istio, istioVersion, size, blocking = [], restarts, uninjected = [] } = facts;
  const { generation } = istio.metadata;
  const { state, description, conditions } = summarize(facts);
  return {
    state,
    description,
    conditions: merged(conditionsOf(istio), [...conditions, ...(facts.conditions ?? [])]),
    ...(generation !== undefined && { observedGeneration: generation }),
    ...(istioVersion !== undefined && { istioVersion }),
    ...(size !== undefined && { clusterSize: size }),
    ...(blocking.length > 0 && { blockedBy: blockedBy(blocking) }),
    ...(restarts !== undefined && restartsStatus(restarts)),
    ...(uninjected.length > 0 && { uninjected: uninjectedStatus(uninjected) }),
  };
}

interface Summary {
  readonly state: IstioStatus['state'];
  readonly description: string;
  readonly conditions: readonly PlannedCondition[];
}

function summarize({ istio, failures, waiting, restarts, manual = [] }: StatusFacts): Summary {
  const sidecars = sidecarSummary(restarts, manual);
  const worst = worstOf([...failures, ...(sidecars.failure ? [sidecars.failure] : [])]);
  if (worst !== undefined) {
    const others = failures.flatMap((each) => (each === worst ? [] : each.conditions));
    // Of conditions with the same type, that of the worst failure wins.
    const all = [...sidecars.conditions, ...others, ...worst.conditions];
    const settled = worst.isHarmless ? reconciling(undefined) : stalled(worst);
    return { state: worst.state, description: worst.description, conditions: [...all, ...settled] };
  }
  const unknown = condition('ReconcileUnknown');
  if (istio.metadata.deletionTimestamp !== undefined) {
    const description = described('Deleting Istio', waiting);
    return { state: 'Deleting', description, conditions: [unknown, ...reconciling(waiting ?? '')] };
  }
  if (waiting !== undefined) {
    const description = described('Reconciling Istio', waiting);
    return { state: 'Processing', description, conditions: [unknown, ...sidecars.conditions, ...reconciling(waiting)] };
  }
  if (sidecars.going !== undefined) {
    const conditions = [condition('ReconcileRequeued'), ...sidecars.conditions, ...reconciling(sidecars.going)];
    return { state: 'Processing', description: sidecars.going, conditions };
  }
  const conditions = [condition('ReconcileSucceeded'), ...sidecars.conditions, ...reconciling(undefined)];
  return { state: 'Ready', description: '', conditions };
}

function described(what: string, waiting = ''): string {
  return waiting === '' ? what : `${what}: ${waiting}`;
}

interface SidecarSummary {
  readonly conditions: readonly PlannedCondition[];
  readonly failure?: Failure;
  /** The progress while restarts are running. */
  readonly going?: string;
}

/** Restarts that wait for a maintenance window or a person do not prevent the mesh from being ready. */
function sidecarSummary(restarts: RestartPlan | undefined, manual: readonly ManualRestart[]): SidecarSummary {
  if (restarts === undefined) return { conditions: [] };
  const names = [
    ...manual.map(({ namespace, name }) => `${namespace}/${name}`),
    ...restarts.unchanged.map(({ workload: { namespace, name } }) => `${namespace}/${name}`),
  ];
  if (names.length > 0) {
    const needsPerson = failure(
      'manualRestart',
      'Istio controller could not restart one or more istio-injected pods.',
      {
        conditions: [condition('ReconcileFailed'), manualRestartRequired(names)],
      },
    );
    return { conditions: [], failure: needsPerson };
  }
  const { total, done } = restarts.progress;
  if (done === total) return { conditions: [condition('ProxySidecarRestartSucceeded')] };
  const conditions = [condition('ProxySidecarRestartPartiallySucceeded')];
  const busy = restarts.restart.length + restarts.restarting.length > 0;
  return busy ? { conditions, going: `Restarting workloads: ${done} of ${total} are done` } : { conditions };
}

/** The condition `Reconciling` for kstatus; it is False without a text. */
function reconciling(what: string | undefined): readonly PlannedCondition[] {
  if (what === undefined) return [reconcilingCondition('False', 'Settled', '')];
  return [reconcilingCondition('True', 'Progressing', what)];
}

function reconcilingCondition(
  status: PlannedCondition['status'],
  reason: keyof typeof RECONCILING,
  message: string,
): PlannedCondition {
  return { type: 'Reconciling', status, reason, message };
}

/** The conditions for a failure, which may be retried. */
function stalled({ message, conditions }: Failure): readonly PlannedCondition[] {
  const { reason = 'ReconcileFailed' } = conditions.at(-1) ?? {};
  return [reconcilingCondition('False', 'Stalled', ''), { type: 'Stalled', status: 'True', reason, message }];
}

/** Merges conditions: of each type the last one wins, and others are kept. */
function merged(
  before: readonly Condition[],
  now: readonly PlannedCondition[],
): readonly (PlannedCondition | Condition)[] {
  // `Stalled` is set again by each plan that fails. One that the loop set for a failed reconcile ends with the next.
  const others = before.filter(({ type }) => type !== 'Stalled');
  const byType = new Map<string, PlannedCondition | Condition>(others.map((each) => [each.type, each]));
  for (const each of now) byType.set(each.type, each);
  return [...byType.values()];
}

const MAX_LISTED = 20;

function restartsStatus({ restart, restarting, waiting, unchanged }: RestartPlan): Pick<IstioStatus, 'restarts'> {
  const pending: readonly PendingWorkload[] = [...waiting, ...unchanged];
  const total = restart.length + restarting.length + pending.length;
  if (total === 0) return {};
  return {
    restarts: {
      total,
      restarting: restart.length + restarting.length,
      workloads: pending
        .toSorted((a, b) => (workloadKey(a.workload) < workloadKey(b.workload) ? -1 : 1))
        .slice(0, MAX_LISTED)
        .map(({ workload: { kind, namespace, name }, why, waiting: until }) => ({
          kind,
          namespace,
          name,
          why,
          waiting: until,
        })),
    },
  };
}

function uninjectedStatus(pods: readonly UninjectedPod[]): IstioStatus['uninjected'] {
  const key = ({ namespace, name }: UninjectedPod): string => `${namespace}/${name}`;
  return {
    total: pods.length,
    pods: pods
      .toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
      .slice(0, MAX_LISTED)
      .map(({ namespace, name }) => ({ namespace, name })),
  };
}
