// The status of the ruling resource: its state in one word, what is wrong or going on, conditions, and what people want to
// know besides: the version that runs, what blocks a deletion, what is still to be restarted.
import type { Istio, IstioStatus } from '../api/istio.ts';
import { conditionsOf } from '../controller/index.ts';
import type { Condition, PlannedCondition, Status } from '../controller/index.ts';
import type { AnyObject } from '../kube/index.ts';
import { condition, manualRestartRequired } from './conditions.ts';
import type { RECONCILING } from './reasons.ts';
import { blockedBy } from './deletion/blocking.ts';
import { failure, worstOf } from './failures.ts';
import type { Failure } from './failures.ts';
import type { ClusterSize } from './installation/operator/size.ts';
import type { ManualRestart, UninjectedPod } from './restarts/outdated.ts';
import { workloadKey } from './restarts/owners.ts';
import type { PendingWorkload, RestartPlan } from './restarts/plan.ts';

export interface StatusFacts {
  readonly istio: Istio;
  /** What went wrong, of whichever component. */
  readonly failures: readonly Failure[];
  /** What the installation waits for; nothing when it is done. */
  readonly waiting?: string;
  readonly istioVersion?: string;
  readonly size?: ClusterSize;
  /** While the resource is being deleted: what people made and would lose. */
  readonly blocking?: readonly AnyObject[];
  readonly restarts?: RestartPlan;
  readonly manual?: readonly ManualRestart[];
  /** Pods that should have a sidecar and have none. */
  readonly uninjected?: readonly UninjectedPod[];
  /** What is to be told besides; has the last word about its types. */
  readonly conditions?: readonly PlannedCondition[];
}

/** What is told of the resource. Conditions of other types stay as they are. */
export function meshStatus(facts: StatusFacts): Status & Omit<IstioStatus, 'conditions'> {
  const { istio, istioVersion, size, blocking = [], restarts, uninjected = [] } = facts;
  const { generation } = istio.metadata;
  const { state, description, conditions } = judge(facts);
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

interface Judgement {
  readonly state: IstioStatus['state'];
  readonly description: string;
  readonly conditions: readonly PlannedCondition[];
}

function judge({ istio, failures, waiting, restarts, manual = [] }: StatusFacts): Judgement {
  const sidecars = sidecarJudgement(restarts, manual);
  const worst = worstOf([...failures, ...(sidecars.failure ? [sidecars.failure] : [])]);
  if (worst !== undefined) {
    const others = failures.flatMap((each) => (each === worst ? [] : each.conditions));
    // Of one type the worst has the last word.
    const told = [...sidecars.conditions, ...others, ...worst.conditions];
    const settled = worst.isHarmless ? reconciling(undefined) : stalled(worst);
    return { state: worst.state, description: worst.description, conditions: [...told, ...settled] };
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

interface SidecarJudgement {
  readonly conditions: readonly PlannedCondition[];
  readonly failure?: Failure;
  /** How far restarts are, while some are under way. */
  readonly going?: string;
}

/** Those that wait for a maintenance window or a person do not keep the mesh from being ready: the status lists them. */
function sidecarJudgement(restarts: RestartPlan | undefined, manual: readonly ManualRestart[]): SidecarJudgement {
  if (restarts === undefined) return { conditions: [] };
  const names = [
    ...manual.map(({ namespace, name }) => `${namespace}/${name}`),
    ...restarts.unchanged.map(({ workload: { namespace, name } }) => `${namespace}/${name}`),
  ];
  if (names.length > 0) {
    const told = failure('manualRestart', 'Istio controller could not restart one or more istio-injected pods.', {
      conditions: [condition('ReconcileFailed'), manualRestartRequired(names)],
    });
    return { conditions: [], failure: told };
  }
  const { total, done } = restarts.progress;
  if (done === total) return { conditions: [condition('ProxySidecarRestartSucceeded')] };
  const conditions = [condition('ProxySidecarRestartPartiallySucceeded')];
  const busy = restarts.restart.length + restarts.restarting.length > 0;
  return busy ? { conditions, going: `Restarting workloads: ${done} of ${total} are done` } : { conditions };
}

/** What kstatus looks for; nothing goes on when there is no text. */
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

/** The same for what gets no further, though it may be tried again. */
function stalled({ message, conditions }: Failure): readonly PlannedCondition[] {
  const { reason = 'ReconcileFailed' } = conditions.at(-1) ?? {};
  return [reconcilingCondition('False', 'Stalled', ''), { type: 'Stalled', status: 'True', reason, message }];
}

/** Of each type the last one that is said; those that nobody speaks of stay. */
function merged(
  before: readonly Condition[],
  now: readonly PlannedCondition[],
): readonly (PlannedCondition | Condition)[] {
  // What gets no further says so each time; that a pass failed is told by the loop, and is over with the next one.
  const others = before.filter(({ type }) => type !== 'Stalled');
  const said = new Map<string, PlannedCondition | Condition>(others.map((each) => [each.type, each]));
  for (const each of now) said.set(each.type, each);
  return [...said.values()];
}

const MOST = 20;

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
        .slice(0, MOST)
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
      .slice(0, MOST)
      .map(({ namespace, name }) => ({ namespace, name })),
  };
}
