// ReplicaSets: they keep the given number of pods running.
import { timestamp } from '../../../kube/times.ts';
import { sameJson } from '../../patch/json.ts';
import { pods as podCollection, replicaSets } from '../../kinds/types.ts';
import type { Condition, ReplicaSet, ReplicaSetStatus } from '../../kinds/types.ts';
import type { Controller } from '../loop.ts';
import {
  createPod,
  burst,
  inDeletionOrder,
  claim,
  deletePod,
  isActive,
  isAvailable,
  isReady,
  isTerminating,
  nextAvailableInMs,
  podFrom,
} from '../pods/pods.ts';
import {
  conditionOf,
  ownersOrSelectors,
  safeSelector,
  self,
  withCondition,
  withoutCondition,
  withoutZeros,
} from '../values.ts';
import type { World } from '../world.ts';
import { controllerManager, nothing, statusOf } from '../writes.ts';
import type { Plan, Write } from '../writes.ts';

/** After a refusal, reports it in the status instead of creating or deleting pods again. */
export function planReplicaSet(world: World, set: ReplicaSet, refusal?: string): Plan {
  const now = world.now();
  const { owned, writes: claims } = claim(world, set, podCollection, safeSelector(set.spec.selector), isActive);
  if (claims.length > 0) return { writes: claims };
  const pods = owned.filter(isActive);
  const writes: Write[] = [];
  const missing = (set.spec.replicas ?? 1) - pods.length;
  if (set.metadata.deletionTimestamp === undefined && refusal === undefined) {
    for (let index = 0; index < Math.min(missing, burst); index++)
      writes.push(createPod(podFrom(set.spec.template, set), set));
    if (missing < 0) {
      const surplus = inDeletionOrder(pods).slice(0, Math.min(-missing, burst));
      writes.push(...surplus.map((pod) => deletePod(pod, set)));
    }
  }
  const minReadySeconds = set.spec.minReadySeconds ?? 0;
  const labels = Object.entries(set.spec.template.metadata?.labels ?? {});
  const before = set.status ?? {};
  const conditions = failureConditions(before.conditions, refusal, missing > 0 ? 'FailedCreate' : 'FailedDelete', now);
  const status: ReplicaSetStatus = {
    replicas: pods.length,
    ...withoutZeros({
      fullyLabeledReplicas: pods.filter((pod) => labels.every(([name, value]) => pod.metadata.labels?.[name] === value))
        .length,
      readyReplicas: pods.filter(isReady).length,
      availableReplicas: pods.filter((pod) => isAvailable(pod, minReadySeconds, now)).length,
      observedGeneration: set.metadata.generation,
    }),
    terminatingReplicas: owned.filter(isTerminating).length,
    ...(conditions.length > 0 && { conditions }),
  };
  // Created and deleted pods enqueue this set again: the status is written once, after that.
  if (writes.length === 0 && !sameJson(status, before)) writes.push(statusOf(set, status));
  const requeueAfterMs = nextAvailableInMs(pods, minReadySeconds, now);
  return { writes, ...(requeueAfterMs !== undefined && { requeueAfterMs }) };
}

/** Reports a refusal once: later ones with the same reason differ only in the name of the pod. */
function failureConditions(
  before: readonly Condition[] | undefined,
  refusal: string | undefined,
  reason: string,
  now: number,
): readonly Condition[] {
  const type = 'ReplicaFailure';
  if (refusal === undefined) return withoutCondition(before, type);
  if (conditionOf(before, type)?.reason === reason) return before!;
  const failure = { type, status: 'True', reason, message: refusal, lastTransitionTime: timestamp(now) } as const;
  return withCondition(before, failure);
}

function planKey(world: World, key: string, refusal?: string): Plan {
  const set = world.get(replicaSets, key);
  return set === undefined ? nothing : planReplicaSet(world, set, refusal);
}

export const replicaSetController: Controller = {
  name: 'replicaset-controller',
  writer: controllerManager('replicaset-controller'),
  on: { [replicaSets]: self, pods: ownersOrSelectors('ReplicaSet', replicaSets) },
  plan: planKey,
  refused: planKey,
};
