// PodDisruptionBudgets: their status says how many pods may be evicted now. Evictions reduce that number.
import { timestamp } from '../../../kube/times.ts';
import type { KubeObject } from '../../../kube/objects.ts';
import type { LabelSelector } from '../../../kube/selector.ts';
import { sameJson } from '../../patch/json.ts';
import type { StoreEvent } from '../../store/types.ts';
import { deployments, pods as podCollection, replicaSets, statefulSets } from '../../kinds/types.ts';
import type { Collection, Condition, Pod } from '../../kinds/types.ts';
import type { Controller } from '../loop.ts';
import { isActive, isReady } from '../pods/pods.ts';
import { defined, resolveCount, safeSelector, self, withCondition } from '../values.ts';
import { controllerOf } from '../world.ts';
import type { World } from '../world.ts';
import { controllerManager, nothing, statusOf } from '../writes.ts';
import type { Plan } from '../writes.ts';

interface PodDisruptionBudget extends KubeObject {
  readonly spec?: {
    readonly selector?: LabelSelector;
    readonly minAvailable?: number | string;
    readonly maxUnavailable?: number | string;
  };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

export const budgets: Collection<PodDisruptionBudget> = 'poddisruptionbudgets.policy';

/** The sum of the replica counts of the workloads that control these pods. */
function expectedPods(world: World, pods: readonly Pod[]): number {
  const replicasByOwner = new Map<string, number>();
  for (const pod of pods) {
    const owner = controllerOf(pod);
    if (owner === undefined) continue;
    const key = `${pod.metadata.namespace}/${owner.name}`;
    const set = owner.kind === 'StatefulSet' ? world.get(statefulSets, key) : world.get(replicaSets, key);
    const setOwner = set && controllerOf(set);
    const deployment =
      setOwner?.kind === 'Deployment'
        ? world.get(deployments, `${pod.metadata.namespace}/${setOwner.name}`)
        : undefined;
    replicasByOwner.set(deployment?.metadata.uid ?? owner.uid, (deployment ?? set)?.spec.replicas ?? 0);
  }
  return [...replicasByOwner.values()].reduce((total, count) => total + count, 0);
}

function planBudget(world: World, budget: PodDisruptionBudget): Plan {
  const selector = safeSelector(budget.spec?.selector);
  if (selector === undefined) return nothing;
  const pods = world.selected(podCollection, budget.metadata.namespace ?? '', selector).filter(isActive);
  const { minAvailable, maxUnavailable } = budget.spec ?? {};
  const relative = maxUnavailable !== undefined || typeof minAvailable === 'string';
  const expected = relative ? expectedPods(world, pods) : pods.length;
  const desired =
    maxUnavailable === undefined
      ? resolveCount(minAvailable ?? 1, expected, true)
      : Math.max(0, expected - resolveCount(maxUnavailable, expected, true));
  const healthy = pods.filter(isReady).length;
  const { generation } = budget.metadata;
  const allowed = expected > 0 ? Math.max(0, healthy - desired) : 0;
  const condition: Condition = {
    type: 'DisruptionAllowed',
    status: allowed > 0 ? 'True' : 'False',
    reason: allowed > 0 ? 'SufficientPods' : 'InsufficientPods',
    message: '',
    lastTransitionTime: timestamp(world.now()),
    ...defined({ observedGeneration: generation }),
  };
  const status = {
    conditions: withCondition(budget.status?.conditions, condition),
    currentHealthy: healthy,
    desiredHealthy: desired,
    disruptionsAllowed: allowed,
    expectedPods: expected,
    observedGeneration: generation,
  };
  return sameJson(status, budget.status ?? {}) ? nothing : { writes: [statusOf(budget, status)] };
}

function* budgetsOfPod({ stored, previous }: StoreEvent, world: World): Iterable<string> {
  for (const object of [stored.object, previous?.object]) {
    if (object !== undefined) yield* world.selecting(budgets, object.metadata.namespace ?? '', object.metadata.labels);
  }
}

/** A change of a workload's replica count changes the expected pods of its budgets. */
function budgetsOfWorkload({ stored }: StoreEvent, world: World): string[] {
  const { namespace } = stored.object.metadata;
  return world.list(budgets, namespace).map(({ metadata }) => `${namespace}/${metadata.name}`);
}

export const disruptionController: Controller = {
  name: 'disruption-controller',
  writer: controllerManager('disruption-controller'),
  on: { [budgets]: self, pods: budgetsOfPod, [deployments]: budgetsOfWorkload, [statefulSets]: budgetsOfWorkload },
  plan: (world, key) => {
    const budget = world.get(budgets, key);
    return budget === undefined ? nothing : planBudget(world, budget);
  },
};
