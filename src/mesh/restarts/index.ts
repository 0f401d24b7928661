// Restarts of workloads and gateways, for the rest of the mesh part. So far nothing is restarted.
import type { ControllerDefinition, Facts, View } from '../../controller/index.ts';
import type { MeshSettings } from '../settings.ts';
import type { ManualRestart } from './outdated.ts';
import type { RestartPlan } from './plan.ts';

/** What is known of the restarts of a mesh. */
export interface RestartProgress {
  /** What must be there before anything is restarted. */
  readonly waiting?: string;
  /** In the order in which they matter; none while something is waited for. */
  readonly lots: readonly LotProgress[];
  /** Pods that only a person can replace. */
  readonly manual: readonly ManualRestart[];
}

interface LotProgress {
  readonly lot: 'gateways' | 'sidecars';
  readonly plan: RestartPlan;
  /** Nothing of it is left to do, but what people have excluded. */
  readonly isSettled: boolean;
}

export function restartControllers(_settings: MeshSettings): readonly ControllerDefinition[] {
  return [];
}

/** How far the restarts are that a resource asks for; undefined for a resource that does not rule. */
export function restartProgress(
  _view: Facts & Pick<View, 'now'>,
  _istio: string,
  _settings: MeshSettings,
): RestartProgress | undefined {
  const plan = allRestarts({ lots: [], manual: [] });
  const settled = { plan, isSettled: true };
  return {
    lots: [
      { lot: 'gateways', ...settled },
      { lot: 'sidecars', ...settled },
    ],
    manual: [],
  };
}

/** All restarts together, as the status counts them. */
export function allRestarts({ lots }: RestartProgress): RestartPlan {
  const plans = lots.map(({ plan }) => plan);
  return {
    restart: plans.flatMap(({ restart }) => restart),
    replace: plans.flatMap(({ replace }) => replace),
    restarting: plans.flatMap(({ restarting }) => restarting),
    waiting: plans.flatMap(({ waiting }) => waiting),
    unchanged: plans.flatMap(({ unchanged }) => unchanged),
    progress: { total: 0, done: 0 },
  };
}
