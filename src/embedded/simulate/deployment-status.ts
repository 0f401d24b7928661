// What a deployment says about itself: counts, and the conditions Available, Progressing and ReplicaFailure.
import { timestamp } from '../../kube/times.ts';
import { sameJson } from '../patch/json.ts';
import { limitsOf, replicasOf } from './deployment-revision.ts';
import type { Condition, Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet } from '../kinds/types.ts';
import { conditionOf, withoutCondition, withoutZeros } from './values.ts';

/** The reason that says that a rollout is done. */
const done = 'NewReplicaSetAvailable';
const timedOut = 'ProgressDeadlineExceeded';
/** The deadline that means "none". */
const noDeadline = 2 ** 31 - 1;

type Conditions = readonly DeploymentCondition[];

export function hasDeadline(deployment: Deployment): boolean {
  return (deployment.spec.progressDeadlineSeconds ?? 600) !== noDeadline;
}

/** Sets a condition. One that says the same for the same reason stays as it is, down to its message. */
export function set(
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

/** Counts and availability; progress is as it was. */
export function observed(
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
      ? set(conditions, now, 'Available', 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.')
      : set(
          conditions,
          now,
          'Available',
          'False',
          'MinimumReplicasUnavailable',
          'Deployment does not have minimum availability.',
        ),
  };
}

/** The whole status of a deployment that rolls out, and when its deadline must be looked at. */
export function rolloutStatus(
  deployment: Deployment,
  current: ReplicaSet | undefined,
  all: readonly ReplicaSet[],
  now: number,
  conditions?: Conditions,
): { readonly status: DeploymentStatus; readonly againInMs?: number } {
  const counted = observed(deployment, current, all, now, conditions);
  const before = conditionOf(counted.conditions, 'Progressing');
  const settled = (counted.replicas ?? 0) === (counted.updatedReplicas ?? 0) && before?.reason === done;
  let next = counted.conditions ?? [];
  if (!hasDeadline(deployment)) next = withoutCondition(next, 'Progressing');
  else if (!settled) next = progress(deployment, current, counted, next, now);
  next = replicaFailure(next, current, all, now);
  const status = { ...counted, conditions: next };
  const againInMs = deadlineInMs(deployment, status, now);
  return { status, ...(againInMs !== undefined && { againInMs }) };
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
    return set(conditions, now, 'Progressing', 'True', done, `${subject} has successfully progressed.`);
  }
  if (moved(deployment.status ?? {}, status)) {
    // Every step forward starts the deadline again, also under the same reason.
    const before = conditionOf(conditions, 'Progressing');
    const fresh = set(
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
  return isLate(deployment, conditions, now)
    ? set(conditions, now, 'Progressing', 'False', timedOut, `${subject} has timed out progressing.`)
    : conditions;
}

/** Every pod is of the current template, and available. */
export function isComplete(deployment: Deployment, status: DeploymentStatus): boolean {
  const wanted = replicasOf(deployment);
  return (
    (status.updatedReplicas ?? 0) === wanted &&
    (status.replicas ?? 0) === wanted &&
    (status.availableReplicas ?? 0) === wanted &&
    (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
  );
}

function moved(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const old = (status: DeploymentStatus): number => (status.replicas ?? 0) - (status.updatedReplicas ?? 0);
  return (
    (after.updatedReplicas ?? 0) !== (before.updatedReplicas ?? 0) ||
    old(after) < old(before) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
}

function isLate(deployment: Deployment, conditions: Conditions, now: number): boolean {
  const condition = conditionOf(conditions, 'Progressing');
  if (condition === undefined || condition.reason === done) return false;
  if (condition.reason === timedOut) return true;
  return deadlineOf(deployment, condition) <= now;
}

/** When a rollout that has not moved since is late. Times are written in whole seconds, so one more is given. */
function deadlineOf(deployment: Deployment, condition: DeploymentCondition): number {
  const seconds = (deployment.spec.progressDeadlineSeconds ?? 600) + 1;
  return Date.parse(condition.lastUpdateTime ?? '') + seconds * 1000;
}

/** How long until a rollout that has not moved must be called late. */
function deadlineInMs(deployment: Deployment, status: DeploymentStatus, now: number): number | undefined {
  const condition = conditionOf(status.conditions, 'Progressing');
  if (condition === undefined || !hasDeadline(deployment)) return undefined;
  if (condition.reason === timedOut || condition.reason === done || isComplete(deployment, status)) return undefined;
  return Math.max(0, deadlineOf(deployment, condition) - now);
}

/** A replica set that cannot make its pods speaks through its deployment; the current one first. */
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
  return set(conditions, now, 'ReplicaFailure', failure.status, failure.reason ?? '', failure.message ?? '');
}

/** True when a deployment already says so. */
export function says(deployment: Deployment, status: DeploymentStatus): boolean {
  return sameJson(deployment.status ?? {}, status);
}
