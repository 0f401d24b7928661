// Deployments: they roll out from the old replica sets to the new one, according to their strategy.
import { withAnnotations } from '../../../../kube/annotations.ts';
import {
  currentSet,
  setsBeyondHistory,
  newSet,
  nextRevision,
  replicasOf,
  resized,
  revisionAnnotation,
  revisionOf,
  setName,
  synced,
} from './revision.ts';
import { growNew, isScaling, rescale, shrinkOld, sizeOfNew } from './scale.ts';
import type { Sizes } from './scale.ts';
import { hasDeadline, isComplete, observedStatus, rolloutStatus, hasStatus, setCondition } from './status.ts';
import { deployments, pods, replicaSets } from '../../../kinds/types.ts';
import type { Deployment, DeploymentCondition, ReplicaSet } from '../../../kinds/types.ts';
import type { Controller } from '../../loop.ts';
import type { PlannedEvent } from '../../planned-events.ts';
import { claim } from '../../pods/pods.ts';
import { conditionOf, ownersOrSelectors, safeSelector, self } from '../../values.ts';
import { controllerOf } from '../../world.ts';
import type { World } from '../../world.ts';
import { controllerManager, createOf, deleteOf, nothing, statusOf, updateOf } from '../../writes.ts';
import type { Plan, Write } from '../../writes.ts';

type Conditions = readonly DeploymentCondition[];

/** The replica sets of a deployment; `current` has its pod template. */
interface Sets {
  readonly current: ReplicaSet | undefined;
  readonly old: readonly ReplicaSet[];
  readonly all: readonly ReplicaSet[];
}

export function planDeployment(world: World, deployment: Deployment): Plan {
  const now = world.now();
  const { owned, writes } = claim(world, deployment, replicaSets, safeSelector(deployment.spec.selector));
  if (writes.length > 0) return { writes };
  const found = currentSet(deployment, owned);
  const sets: Sets = { current: found, old: owned.filter((one) => one !== found), all: owned };
  if (deployment.metadata.deletionTimestamp !== undefined)
    return withStatus(deployment, observedStatus(deployment, found, owned, now));
  const conditions = pauseConditions(deployment, now);
  if (deployment.spec.paused === true || isScaling(deployment, owned)) return scale(deployment, sets, conditions, now);
  return deployment.spec.strategy?.type === 'Recreate'
    ? recreate(world, deployment, sets, conditions)
    : roll(deployment, sets, conditions, now);
}

/** Sets Progressing to Unknown while a deployment is paused, and when it is resumed. */
function pauseConditions(deployment: Deployment, now: number): Conditions {
  const conditions = deployment.status?.conditions ?? [];
  const reason = conditionOf(conditions, 'Progressing')?.reason;
  if (!hasDeadline(deployment) || reason === 'ProgressDeadlineExceeded') return conditions;
  if (deployment.spec.paused === true) {
    return setCondition(conditions, now, 'Progressing', 'Unknown', 'DeploymentPaused', 'Deployment is paused');
  }
  if (reason !== 'DeploymentPaused') return conditions;
  return setCondition(conditions, now, 'Progressing', 'Unknown', 'DeploymentResumed', 'Deployment is resumed');
}

/** Scales the replica sets without a rollout. */
function scale(deployment: Deployment, sets: Sets, conditions: Conditions, now: number): Plan {
  const writes = resizes(deployment, rescale(deployment, sets.current, sets.old));
  if (writes.length > 0) return { writes };
  if (deployment.spec.paused === true)
    writes.push(...setsBeyondHistory(deployment, sets.old).map((one) => deleteOf(one)));
  const { writes: status } = withStatus(
    deployment,
    observedStatus(deployment, sets.current, sets.all, now, conditions),
  );
  return { writes: [...writes, ...status] };
}

/** One step of a rolling update: first scales up the new replica set, then scales down the old ones. */
function roll(deployment: Deployment, sets: Sets, conditions: Conditions, now: number): Plan {
  const { current, old, all } = sets;
  if (current === undefined) return createNewSet(deployment, sets, conditions, now);
  const revisionPlan = syncRevision(deployment, current, old);
  if (revisionPlan !== undefined) return revisionPlan;
  const known = withFoundSet(deployment, current, conditions, now);
  const grown = growNew(deployment, current, all);
  const sizes = grown.size > 0 ? grown : shrinkOld(deployment, current, old);
  return resizeAndReport(deployment, sets, known, now, sizes);
}

/** One step of the strategy Recreate: all old pods are deleted before the first new one is created. */
function recreate(world: World, deployment: Deployment, sets: Sets, conditions: Conditions): Plan {
  const now = world.now();
  const { current, old, all } = sets;
  const running = old.filter((one) => replicasOf(one) > 0);
  if (running.length > 0)
    return resizeAndReport(deployment, sets, conditions, now, new Map(running.map((one) => [one, 0])));
  const oldPodsRemain = old.some((one) =>
    world
      .controlled(pods, one.metadata.uid)
      .some(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed'),
  );
  if (oldPodsRemain) return resizeAndReport(deployment, sets, conditions, now, new Map());
  if (current === undefined) return createNewSet(deployment, sets, conditions, now);
  const revisionPlan = syncRevision(deployment, current, old);
  if (revisionPlan !== undefined) return revisionPlan;
  return resizeAndReport(
    deployment,
    sets,
    withFoundSet(deployment, current, conditions, now),
    now,
    growNew(deployment, current, all),
  );
}

/** Creates the replica set for the current template. */
function createNewSet(deployment: Deployment, sets: Sets, conditions: Conditions, now: number): Plan {
  const revision = nextRevision(sets.old);
  const size = sizeOfNew(deployment, sets.old, 0);
  const created = newSet(deployment, revision, size);
  const message = `Created new replica set "${created.metadata.name}"`;
  const reported = hasDeadline(deployment)
    ? setCondition(conditions, now, 'Progressing', 'True', 'NewReplicaSetCreated', message)
    : conditions;
  const status = observedStatus(deployment, undefined, sets.old, now, reported);
  const event = size > 0 ? scalingEvent(deployment, created.metadata.name!, 0, size) : undefined;
  return { writes: [createOf(created, event), statusOf(withRevision(deployment, revision), status)] };
}

/** Updates the revision and annotations of the current replica set; undefined when they are up to date. */
function syncRevision(deployment: Deployment, current: ReplicaSet, old: readonly ReplicaSet[]): Plan | undefined {
  const next = synced(deployment, current, nextRevision(old));
  return next === current ? undefined : { writes: [updateOf(next)] };
}

/** An adopted replica set counts as progress. */
function withFoundSet(deployment: Deployment, current: ReplicaSet, conditions: Conditions, now: number): Conditions {
  if (!hasDeadline(deployment) || conditionOf(conditions, 'Progressing') !== undefined) return conditions;
  const message = `Found new replica set "${current.metadata.name}"`;
  return setCondition(conditions, now, 'Progressing', 'True', 'FoundNewReplicaSet', message);
}

/** Writes the new replica counts and the status. Once the rollout is complete, also deletes old revisions. */
function resizeAndReport(deployment: Deployment, sets: Sets, conditions: Conditions, now: number, sizes: Sizes): Plan {
  const { current, old, all } = sets;
  const writes = resizes(deployment, sizes);
  if (writes.length === 0 && isComplete(deployment, deployment.status ?? {})) {
    writes.push(...setsBeyondHistory(deployment, old).map((one) => deleteOf(one)));
  }
  const numbered = current === undefined ? deployment : withRevision(deployment, revisionOf(current));
  const { status, requeueAfterMs } = rolloutStatus(deployment, current, all, now, conditions);
  if (numbered !== deployment || !hasStatus(deployment, status)) writes.push(statusOf(numbered, status));
  return { writes, ...(requeueAfterMs !== undefined && { requeueAfterMs }) };
}

function resizes(deployment: Deployment, sizes: Sizes): Write[] {
  return [...sizes].map(([one, size]) =>
    updateOf(resized(deployment, one, size), scalingEvent(deployment, one.metadata.name, replicasOf(one), size)),
  );
}

function scalingEvent(deployment: Deployment, name: string, from: number, to: number): PlannedEvent {
  const direction = to > from ? 'up' : 'down';
  const message = (): string => `Scaled ${direction} replica set ${name} from ${from} to ${to}`;
  return { about: deployment, type: 'Normal', reason: 'ScalingReplicaSet', message };
}

function withRevision(deployment: Deployment, revision: number): Deployment {
  const text = String(revision);
  if (deployment.metadata.annotations?.[revisionAnnotation] === text) return deployment;
  return withAnnotations(deployment, { [revisionAnnotation]: text });
}

function withStatus(deployment: Deployment, status: NonNullable<Deployment['status']>): Plan {
  return hasStatus(deployment, status) ? nothing : { writes: [statusOf(deployment, status)] };
}

/** Reports that the new replica set was refused: its name is taken, or admission denied it. */
function refused(world: World, key: string, message: string): Plan {
  const deployment = world.get(deployments, key);
  if (deployment === undefined) return nothing;
  const conditions = setCondition(
    deployment.status?.conditions ?? [],
    world.now(),
    'Progressing',
    'False',
    'ReplicaSetCreateError',
    message,
  );
  return withStatus(deployment, { ...deployment.status, conditions });
}

function planKey(world: World, key: string): Plan {
  const deployment = world.get(deployments, key);
  if (deployment === undefined) return nothing;
  const taken = world.get(replicaSets, `${deployment.metadata.namespace}/${setName(deployment)}`);
  if (
    taken !== undefined &&
    controllerOf(taken)?.uid !== deployment.metadata.uid &&
    controllerOf(taken) !== undefined
  ) {
    const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
    return { writes: [statusOf(deployment, { ...deployment.status, collisionCount })] };
  }
  return planDeployment(world, deployment);
}

/** The strategy Recreate waits until the pods of the old replica sets are deleted. */
function deploymentsOfPod(event: Parameters<Controller['on'][string]>[0], world: World): Iterable<string> {
  if (event.type !== 'DELETED') return [];
  const { namespace, ownerReferences } = event.stored.object.metadata;
  const owner = ownerReferences?.find((one) => one.controller === true && one.kind === 'ReplicaSet');
  const replicaSet = owner && world.get(replicaSets, `${namespace}/${owner.name}`);
  const deployment = replicaSet && controllerOf(replicaSet);
  return deployment?.kind === 'Deployment' ? [`${namespace}/${deployment.name}`] : [];
}

export const deploymentController: Controller = {
  name: 'deployment-controller',
  writer: controllerManager('deployment-controller'),
  on: { [deployments]: self, [replicaSets]: ownersOrSelectors('Deployment', deployments), pods: deploymentsOfPod },
  plan: planKey,
  refused,
};
