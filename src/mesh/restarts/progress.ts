// How far restarts are: what is to be restarted now, what waits and for what, what only a person can do. The controller
// carries it out; the status, the command line and the dashboard tell it.
import type { Facts, View } from '../../controller/index.ts';
import { failure } from '../failures.ts';
import type { Failure } from '../failures.ts';
import { UPDATED_AT } from '../names.ts';
import type { MeshSettings } from '../settings.ts';
import type { Pod, Workload } from '../workloads.ts';
import { gatewayHash, removalHash, sidecarHash } from './desired-state.ts';
import type { GatewayState } from './desired-state.ts';
import type { RestartGoal } from './installed.ts';
import { needsDeletion } from './mark.ts';
import { byWorkload } from './outdated.ts';
import type { ManualRestart, OutdatedWorkload, UninjectedPod } from './outdated.ts';
import { outdatedPods, rulingGoal } from './outdated-pods.ts';
import type { Lot } from './outdated-pods.ts';
import { workloadKey, workloadRef } from './owners.ts';
import { isInEffect, planRestarts, unfinished } from './plan.ts';
import type { RestartPlan } from './plan.ts';
import { restartRefusals } from './refusals.ts';
import type { RestartRefusals } from './refusals.ts';
import { DisruptionBudgets, podOwner, Pods, workloadTable, workloadTables } from './tables.ts';

/** How far restarts are: for the status, for the annotation of what was applied, and for an uninstall. */
export interface RestartProgress {
  /** What must be there before anything is restarted. */
  readonly waiting?: string;
  /** None while something is waited for. */
  readonly lots: readonly LotProgress[];
  /** All lots together; nothing while something is waited for. */
  readonly plan?: RestartPlan;
  /** Pods that only a person can replace. */
  readonly manual: readonly ManualRestart[];
  /** Pods that should have a sidecar and are left alone, because nobody asked for their restart. */
  readonly uninjected: readonly UninjectedPod[];
  /** Gateways run with the settings of the resource, or a person keeps them from that. */
  readonly gatewaysDone: boolean;
  /** The same of sidecars; some settings are for both, so that these are not done before gateways are. */
  readonly sidecarsDone: boolean;
  /** Of an uninstall: workloads that still have to be restarted in order to lose their sidecars. */
  readonly injected: number;
  /** What the server has refused. */
  readonly failures: readonly Failure[];
}

export interface LotProgress {
  readonly lot: Lot;
  /** Of the desired state. */
  readonly hash: string;
  readonly plan: RestartPlan;
  /** When a filter that it is restarted for was last changed. */
  readonly changedAt?: number;
}

/** What restarts know beside what is in the cluster. */
export interface RestartModels {
  readonly settings: MeshSettings;
  readonly outdated: ReturnType<typeof outdatedPods>;
  readonly refusals: RestartRefusals;
}

export function restartModels(settings: MeshSettings): RestartModels {
  return { settings, outdated: outdatedPods(settings.restartUninjected), refusals: restartRefusals() };
}

type Now = Facts & Pick<View, 'now'>;

/** How far the restarts are that the ruling resource asks for; undefined where none rules. */
export function restartProgress(view: Now, models: RestartModels): RestartProgress | undefined {
  const { goal } = rulingGoal(view) ?? {};
  if (goal === undefined) return undefined;
  if (goal.is === 'pending') {
    // How many still have a sidecar is not known yet, and it must not count as none.
    const unknown = { gatewaysDone: false, sidecarsDone: false, injected: 1 };
    return { waiting: goal.waiting, lots: [], manual: [], uninjected: [], failures: [], ...unknown };
  }
  const byLot = Map.groupBy(view.read.list(view.model(models.outdated)), ({ lot }) => lot);
  const outdated = new Map(hashesOf(goal).map(([lot]) => [lot, byWorkload(byLot.get(lot) ?? [])]));
  const changedAt = goal.is === 'mesh' ? lastChange(goal.gateways) : undefined;
  const lots = hashesOf(goal).map(([lot, hash]): LotProgress => {
    const plan = planLot(view, lot, hash, outdated.get(lot)!.workloads, models);
    return { lot, hash, plan, ...(changedAt !== undefined && { changedAt }) };
  });
  const isDone = (lot: Lot, isEnough: (plan: RestartPlan) => boolean): boolean =>
    lots.every((each) => each.lot !== lot || isEnough(each.plan));
  // What a gateway was not restarted for must not be forgotten. Of many sidecars some are never healthy.
  const gatewaysDone = isDone('gateways', isInEffect);
  const plan = together(lots);
  return {
    lots,
    plan,
    manual: [...outdated.values()].flatMap(({ manual }) => manual),
    uninjected: (byLot.get(undefined) ?? []).map(({ namespace, name, why }) => ({ namespace, name, why })),
    gatewaysDone,
    sidecarsDone: gatewaysDone && isDone('sidecars', (each) => unfinished(each) === 0),
    injected: goal.is === 'no mesh' ? unfinished(plan) : 0,
    failures: lots.flatMap(({ lot, plan: { waiting, restarting } }) =>
      [...waiting, ...restarting].flatMap(({ workload }) => {
        const refusal = view.read.get(models.refusals, workloadKey(workload));
        const what = lot === 'gateways' ? 'gateway' : 'sidecars';
        return refusal === undefined ? [] : [failure(what, `${workloadKey(workload)}: ${refusal.message}`)];
      }),
    ),
  };
}

/** All restarts together, as the status counts them. */
function together(lots: readonly LotProgress[]): RestartPlan {
  const plans = lots.map(({ plan }) => plan);
  const wakes = plans.flatMap(({ wakeAt }) => wakeAt ?? []);
  return {
    restart: plans.flatMap(({ restart }) => restart),
    replace: plans.flatMap(({ replace }) => replace),
    restarting: plans.flatMap(({ restarting }) => restarting),
    waiting: plans.flatMap(({ waiting }) => waiting),
    unchanged: plans.flatMap(({ unchanged }) => unchanged),
    progress: {
      total: plans.reduce((sum, { progress }) => sum + progress.total, 0),
      done: plans.reduce((sum, { progress }) => sum + progress.done, 0),
    },
    ...(wakes.length > 0 && { wakeAt: Math.min(...wakes) }),
  };
}

function hashesOf(goal: Exclude<RestartGoal, { is: 'pending' }>): readonly (readonly [Lot, string])[] {
  if (goal.is === 'no mesh') return [['sidecars', removalHash(goal)]];
  return [
    ['gateways', gatewayHash(goal.gateways)],
    ['sidecars', sidecarHash(goal.sidecars)],
  ];
}

function lastChange({ filters }: GatewayState): number | undefined {
  const changes = filters.map(({ metadata }) => Date.parse(metadata.annotations?.[UPDATED_AT] ?? '') || 0);
  return changes.length === 0 ? undefined : Math.max(...changes);
}

function planLot(
  view: Now,
  lot: Lot,
  hash: string,
  outdated: ReadonlyMap<string, OutdatedWorkload>,
  { settings, refusals }: RestartModels,
): RestartPlan {
  const now = view.now();
  return planRestarts({
    workloads: workloadsOf(view, hash, outdated),
    outdated,
    hash,
    now,
    budgets: view.list(DisruptionBudgets),
    // Requests come in through gateways: one after the other.
    batchSize: lot === 'gateways' ? 1 : settings.batchSize,
    ...(settings.window && { window: settings.window }),
    refused: (workload) => {
      const refusal = view.read.get(refusals, workloadKey(workload));
      if (refusal === undefined || refusal.retryAt <= now) return undefined;
      return { message: `the API server rejects it: ${refusal.message}`, retryAt: refusal.retryAt };
    },
  });
}

/** Every outdated workload, and every one that was restarted for this state. */
function workloadsOf(facts: Facts, hash: string, outdated: ReadonlyMap<string, OutdatedWorkload>): Iterable<Workload> {
  const found = new Map<string, Workload>();
  const add = (live: Workload): void => {
    const key = workloadKey(workloadRef(live));
    if (!found.has(key)) found.set(key, withReadyPods(facts, live));
  };
  for (const { workload } of outdated.values()) {
    const live = facts.get(workloadTable(workload), workload);
    if (live !== undefined) add(live);
  }
  for (const table of workloadTables) for (const live of facts.index(table, 'restartedFor', hash)) add(live);
  return found.values();
}

/** Whose pods we delete: its status comes after its pods, and the next pod must not go before the last is back. */
function withReadyPods(facts: Facts, workload: Workload): Workload {
  if (!needsDeletion(workload)) return workload;
  const ready = facts.index(Pods, 'owner', podOwner(workload.kind, workload.metadata)).filter(isReady).length;
  const readyReplicas = Math.min(workload.status?.readyReplicas ?? 0, ready);
  return { ...workload, status: { ...workload.status, readyReplicas } };
}

function isReady({ metadata, status }: Pod): boolean {
  const { conditions = [] } = status ?? {};
  return (
    metadata.deletionTimestamp === undefined &&
    conditions.some((each) => each.type === 'Ready' && each.status === 'True')
  );
}
