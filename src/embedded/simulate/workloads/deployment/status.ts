// The status of a deployment: replica counts, and the conditions Available, Progressing and ReplicaFailure.
import { timestamp } from '../../../../kube/times.ts';
import { sameJson } from '../../../patch/json.ts';
import { limitsOf, replicasOf } from './revision.ts';
import type { Condition, Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet } from '../../../kinds/types.ts';
import { conditionOf, withoutCondition, withoutZeros } from '../../values.ts';

const completeReason = 'NewReplicaSetAvailable';
const timedOutReason = 'ProgressDeadlineExceeded';
/** This value of progressDeadlineSeconds means that there is no deadline. */
const noDeadline = 2 ** 31 - 1;

type Conditions = readonly DeploymentCondition[];

export function hasDeadline(deployment: Deployment): boolean {
  return (deployment.spec.progressDeadlineSeconds ?? 600) !== noDeadline;
}

/** Sets a condition, unless it already has this status and reason: then its message stays, too. */
export function setCondition(
  conditions: Conditions,
  now: number,
  type: string,
  status: Condition['status'],
  reason: string,
  message: string,
): Conditions {
  const before = conditionOf(conditions, type);
  if (before?.status === status && before.reason === reason) return conditions;
  const time = timestamp(now);
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime! : time;
  const next = { type, status, lastUpdateTime: time, lastTransitionTime, reason, message };
  return [...withoutCondition(conditions, type), next];
}

function sum(
  sets: readonly ReplicaSet[],
  read: (status: NonNullable<ReplicaSet['status']>) => number | undefined,
): number {
  return sets.reduce((total, one) => total + (read(one.status ?? {}) ?? 0), 0);
}

/** The status with new counts and the condition Available; Progressing is unchanged. */
export function observedStatus(
  deployment: Deployment,
  current: ReplicaSet | undefined,
  all: readonly ReplicaSet[],
  now: number,
  conditions: Conditions = deployment.status?.conditions ?? [],
): DeploymentStatus {
  const replicas = sum(all, (status) => status.replicas);
  const availableReplicas = sum(all, (status) => status.availableReplicas);
  const enough = availableReplicas >= replicasOf(deployment) - limitsOf(deployment).unavailable;
  const { collisionCount } = deployment.status ?? {};
  return {
    ...withoutZeros({
      observedGeneration: deployment.metadata.generation,
      replicas,
      updatedReplicas: current?.status?.replicas,
      readyReplicas: sum(all, (status) => status.readyReplicas),
      availableReplicas,
      unavailableReplicas: Math.max(0, replicas - availableReplicas),
    }),
    terminatingReplicas: sum(all, (status) => status.terminatingReplicas),
    ...(collisionCount !== undefined && { collisionCount }),
    conditions: enough
      ? setCondition(
          conditions,
          now,
          'Available',
          'True',
          'MinimumReplicasAvailable',
          'Deployment has minimum availability.',
        )
      : setCondition(
          conditions,
          now,
          'Available',
          'False',
          'MinimumReplicasUnavailable',
          'Deployment does not have minimum availability.',
        ),
  };
}

/** The status during a rollout, and when to check the progress deadline. */
export function rolloutStatus(
  deployment: Deployment,
  current: ReplicaSet | undefined,
  all: readonly ReplicaSet[],
  now: number,
  conditions?: Conditions,
): { readonly status: DeploymentStatus; readonly requeueAfterMs?: number } {
  const counted = observedStatus(deployment, current, all, now, conditions);
  const before = conditionOf(counted.conditions, 'Progressing');
  const settled = (counted.replicas ?? 0) === (counted.updatedReplicas ?? 0) && before?.reason === completeReason;
  let next = counted.conditions ?? [];
  if (!hasDeadline(deployment)) next = withoutCondition(next, 'Progressing');
  else if (!settled) next = progress(deployment, current, counted, next, now);
  next = replicaFailure(next, current, all, now);
  const status = { ...counted, conditions: next };
  const requeueAfterMs = deadlineInMs(deployment, status, now);
  return { status, ...(requeueAfterMs !== undefined && { requeueAfterMs }) };
}

function progress(
  deployment: Deployment,
  current: ReplicaSet | undefined,
  status: DeploymentStatus,
  conditions: Conditions,
  now: number,
): Conditions {
  const subject =
    current === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${current.metadata.name}"`;
  if (isComplete(deployment, status)) {
    return setCondition(
      conditions,
      now,
      'Progressing',
      'True',
      completeReason,
      `${subject} has successfully progressed.`,
    );
  }
  if (hasProgressed(deployment.status ?? {}, status)) {
    // Any progress restarts the deadline, even when the reason stays the same.
    const before = conditionOf(conditions, 'Progressing');
    const fresh = setCondition(
      withoutCondition(conditions, 'Progressing'),
      now,
      'Progressing',
      'True',
      'ReplicaSetUpdated',
      `${subject} is progressing.`,
    );
    if (before?.status !== 'True') return fresh;
    return fresh.map((one) =>
      one.type === 'Progressing' ? { ...one, lastTransitionTime: before.lastTransitionTime! } : one,
    );
  }
  return hasTimedOut(deployment, conditions, now)
    ? setCondition(conditions, now, 'Progressing', 'False', timedOutReason, `${subject} has timed out progressing.`)
    : conditions;
}

/** True when all replicas have the current template and are available. */
export function isComplete(deployment: Deployment, status: DeploymentStatus): boolean {
  const desired = replicasOf(deployment);
  return (
    (status.updatedReplicas ?? 0) === desired &&
    (status.replicas ?? 0) === desired &&
    (status.availableReplicas ?? 0) === desired &&
    (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
  );
}

function hasProgressed(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const old = (status: DeploymentStatus): number => (status.replicas ?? 0) - (status.updatedReplicas ?? 0);
  return (
    (after.updatedReplicas ?? 0) !== (before.updatedReplicas ?? 0) ||
    old(after) < old(before) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
}

function hasTimedOut(deployment: Deployment, conditions: Conditions, now: number): boolean {
  const condition = conditionOf(conditions, 'Progressing');
  if (condition === undefined || condition.reason === completeReason) return false;
  if (condition.reason === timedOutReason) return true;
  return deadlineOf(deployment, condition) <= now;
}

/** When a rollout without progress times out. Timestamps have whole seconds, so it gets one second more. */
function deadlineOf(deployment: Deployment, condition: DeploymentCondition): number {
  const seconds = (deployment.spec.progressDeadlineSeconds ?? 600) + 1;
  return Date.parse(condition.lastUpdateTime ?? '') + seconds * 1000;
}

/** The time until a rollout without progress times out. */
function deadlineInMs(deployment: Deployment, status: DeploymentStatus, now: number): number | undefined {
  const condition = conditionOf(status.conditions, 'Progressing');
  if (condition === undefined || !hasDeadline(deployment)) return undefined;
  if (condition.reason === timedOutReason || condition.reason === completeReason || isComplete(deployment, status))
    return undefined;
  return Math.max(0, deadlineOf(deployment, condition) - now);
}

/** Copies the condition ReplicaFailure from a replica set, preferably from the current one. */
function replicaFailure(
  conditions: Conditions,
  current: ReplicaSet | undefined,
  all: readonly ReplicaSet[],
  now: number,
): Conditions {
  const others = all.filter((one) => one !== current);
  const failure = [...(current === undefined ? [] : [current]), ...others]
    .map((one) => conditionOf(one.status?.conditions, 'ReplicaFailure'))
    .find((condition) => condition !== undefined);
  if (failure === undefined) return withoutCondition(conditions, 'ReplicaFailure');
  return setCondition(conditions, now, 'ReplicaFailure', failure.status, failure.reason ?? '', failure.message ?? '');
}

export function hasStatus(deployment: Deployment, status: DeploymentStatus): boolean {
  return sameJson(deployment.status ?? {}, status);
}
