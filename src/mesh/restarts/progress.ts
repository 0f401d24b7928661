// The progress of restarts: what to restart now, what waits and for what, and what only a person can do. The controller
// executes it; the status, the command line and the dashboard show it.
import type { Facts, View } from '../../controller/index.ts';
import { failure } from '../status/failures.ts';
import type { Failure } from '../status/failures.ts';
import { UPDATED_AT } from '../names.ts';
import type { MeshSettings } from '../settings.ts';
import type { Pod, Workload } from '../workloads/workloads.ts';
import { gatewayHash, removalHash, sidecarHash } from './desired-state.ts';
import type { GatewayState } from './desired-state.ts';
import type { RestartGoal } from './installed.ts';
import { needsDeletion } from './restart-annotations.ts';
import { byWorkload } from './outdated.ts';
import type { ManualRestart, OutdatedWorkload, UninjectedPod } from './outdated.ts';
import { outdatedPods, activeGoal } from './outdated-pods.ts';
import type { Lot } from './outdated-pods.ts';
import { workloadKey, workloadRef } from './owners.ts';
import { isInEffect, planRestarts, unfinished } from './plan.ts';
import type { RestartPlan } from './plan.ts';
import { restartRefusals } from './refusals.ts';
import type { RestartRefusals } from './refusals.ts';
import { DisruptionBudgets, podOwner, Pods, workloadTable, workloadTables } from './tables.ts';

/** The progress of restarts, for the status, for the record of the applied configuration, and for an uninstall. */
export interface RestartProgress {
  /** What restarts wait for as a whole. */
  readonly waiting?: string;
  /** Empty while restarts wait. */
  readonly lots: readonly LotProgress[];
  /** All lots together; absent while restarts wait. */
  readonly plan?: RestartPlan;
  /** Pods that only a person can replace. */
  readonly manual: readonly ManualRestart[];
  /** Pods that should have a sidecar but are left alone, as restarts for that are not enabled. */
  readonly uninjected: readonly UninjectedPod[];
  /** Whether gateways run with the settings of the resource, or need a person for that. */
  readonly gatewaysDone: boolean;
  /** The same for sidecars. Some settings affect both, so sidecars are not done before gateways. */
  readonly sidecarsDone: boolean;
  /** In an uninstall: the number of workloads that must still be restarted to lose their sidecars. */
  readonly injected: number;
  /** Restarts that the server refused. */
  readonly failures: readonly Failure[];
}

export interface LotProgress {
  readonly lot: Lot;
  /** The hash of the desired state. */
  readonly hash: string;
  readonly plan: RestartPlan;
  /** When an EnvoyFilter that affects it was last changed. */
  readonly changedAt?: number;
}

/** The settings and derived maps of restarts. */
export interface RestartModels {
  readonly settings: MeshSettings;
  readonly outdated: ReturnType<typeof outdatedPods>;
  readonly refusals: RestartRefusals;
}

export function restartModels(settings: MeshSettings): RestartModels {
  return { settings, outdated: outdatedPods(settings.restartUninjected), refusals: restartRefusals() };
}

type Now = Facts & Pick<View, 'now'>;

/** The progress of restarts for the active resource; undefined if none is active. */
export function restartProgress(view: Now, models: RestartModels): RestartProgress | undefined {
  const { goal } = activeGoal(view) ?? {};
  if (goal === undefined) return undefined;
  if (goal.is === 'pending') {
    // The number of workloads with sidecars is not known yet, and must not count as 0.
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
  // An unhealthy gateway must not be forgotten. For sidecars that is accepted, as some of many are never healthy.
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

/** All lots together, as the status counts them. */
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
    // Gateways serve all external requests, so they are restarted one at a time.
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

/** Counts the ready pods of a workload whose pods we delete, as its status lags behind: one pod at a time. */
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
