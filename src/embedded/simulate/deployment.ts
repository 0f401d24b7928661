// Deployments: from one replica set to the next, by the deployment's strategy.
import { withAnnotations } from '../../kube/annotations.ts';
import {
  currentSet,
  forgotten,
  newSet,
  nextRevision,
  replicasOf,
  resized,
  revisionAnnotation,
  revisionOf,
  setName,
  synced,
} from './deployment-revision.ts';
import { growNew, isScaling, rescale, shrinkOld, sizeOfNew } from './deployment-scale.ts';
import type { Sizes } from './deployment-scale.ts';
import { hasDeadline, isComplete, observed, rolloutStatus, says, set } from './deployment-status.ts';
import { deployments, pods, replicaSets } from '../kinds/types.ts';
import type { Deployment, DeploymentCondition, ReplicaSet } from '../kinds/types.ts';
import type { Controller } from './loop.ts';
import type { PlannedEvent } from './planned-events.ts';
import { claim } from './pods.ts';
import { conditionOf, ownersOrSelectors, safeSelector, self } from './values.ts';
import { controllerOf } from './world.ts';
import type { World } from './world.ts';
import { controllerManager, createOf, deleteOf, nothing, statusOf, updateOf } from './writes.ts';
import type { Plan, Write } from './writes.ts';

type Conditions = readonly DeploymentCondition[];

/** The deployment's replica sets: the one with its template, and the others. */
interface Sets {
  readonly current: ReplicaSet | undefined;
  readonly old: readonly ReplicaSet[];
  readonly all: readonly ReplicaSet[];
}

/** What a deployment needs now. */
export function planDeployment(world: World, deployment: Deployment): Plan {
  const now = world.now();
  const { owned, writes } = claim(world, deployment, replicaSets, safeSelector(deployment.spec.selector));
  if (writes.length > 0) return { writes };
  const found = currentSet(deployment, owned);
  const sets: Sets = { current: found, old: owned.filter((one) => one !== found), all: owned };
  if (deployment.metadata.deletionTimestamp !== undefined)
    return withStatus(deployment, observed(deployment, found, owned, now));
  const conditions = pauseConditions(deployment, now);
  if (deployment.spec.paused === true || isScaling(deployment, owned)) return scale(deployment, sets, conditions, now);
  return deployment.spec.strategy?.type === 'Recreate'
    ? recreate(world, deployment, sets, conditions)
    : roll(deployment, sets, conditions, now);
}

/** Progress is unknown while a deployment is paused and when it goes on. */
function pauseConditions(deployment: Deployment, now: number): Conditions {
  const conditions = deployment.status?.conditions ?? [];
  const reason = conditionOf(conditions, 'Progressing')?.reason;
  if (!hasDeadline(deployment) || reason === 'ProgressDeadlineExceeded') return conditions;
  if (deployment.spec.paused === true) {
    return set(conditions, now, 'Progressing', 'Unknown', 'DeploymentPaused', 'Deployment is paused');
  }
  if (reason !== 'DeploymentPaused') return conditions;
  return set(conditions, now, 'Progressing', 'Unknown', 'DeploymentResumed', 'Deployment is resumed');
}

/** Keeps the sizes right without rolling anything out. */
function scale(deployment: Deployment, sets: Sets, conditions: Conditions, now: number): Plan {
  const writes = resizes(deployment, rescale(deployment, sets.current, sets.old));
  if (writes.length > 0) return { writes };
  if (deployment.spec.paused === true) writes.push(...forgotten(deployment, sets.old).map((one) => deleteOf(one)));
  const { writes: status } = withStatus(deployment, observed(deployment, sets.current, sets.all, now, conditions));
  return { writes: [...writes, ...status] };
}

/** One step of a rolling update: room for new pods first, then old ones go as new ones are available. */
function roll(deployment: Deployment, sets: Sets, conditions: Conditions, now: number): Plan {
  const { current, old, all } = sets;
  if (current === undefined) return introduce(deployment, sets, conditions, now);
  const revised = revise(deployment, current, old);
  if (revised !== undefined) return revised;
  const known = noticed(deployment, current, conditions, now);
  const grown = growNew(deployment, current, all);
  const sizes = grown.size > 0 ? grown : shrinkOld(deployment, current, old);
  return settle(deployment, sets, known, now, sizes);
}

/** One step of a replacement: every old pod is gone before the first new one comes. */
function recreate(world: World, deployment: Deployment, sets: Sets, conditions: Conditions): Plan {
  const now = world.now();
  const { current, old, all } = sets;
  const running = old.filter((one) => replicasOf(one) > 0);
  if (running.length > 0) return settle(deployment, sets, conditions, now, new Map(running.map((one) => [one, 0])));
  const ending = old.some((one) =>
    world
      .controlled(pods, one.metadata.uid)
      .some(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed'),
  );
  if (ending) return settle(deployment, sets, conditions, now, new Map());
  if (current === undefined) return introduce(deployment, sets, conditions, now);
  const revised = revise(deployment, current, old);
  if (revised !== undefined) return revised;
  return settle(
    deployment,
    sets,
    noticed(deployment, current, conditions, now),
    now,
    growNew(deployment, current, all),
  );
}

/** Creates the replica set of a template that has none. */
function introduce(deployment: Deployment, sets: Sets, conditions: Conditions, now: number): Plan {
  const revision = nextRevision(sets.old);
  const size = sizeOfNew(deployment, sets.old, 0);
  const created = newSet(deployment, revision, size);
  const message = `Created new replica set "${created.metadata.name}"`;
  const told = hasDeadline(deployment)
    ? set(conditions, now, 'Progressing', 'True', 'NewReplicaSetCreated', message)
    : conditions;
  const status = observed(deployment, undefined, sets.old, now, told);
  const note = size > 0 ? scaled(deployment, created.metadata.name!, 0, size) : undefined;
  return { writes: [createOf(created, note), statusOf(withRevision(deployment, revision), status)] };
}

/** Gives the current replica set its number and what it takes over; undefined when it has all that. */
function revise(deployment: Deployment, current: ReplicaSet, old: readonly ReplicaSet[]): Plan | undefined {
  const next = synced(deployment, current, nextRevision(old));
  return next === current ? undefined : { writes: [updateOf(next)] };
}

/** A replica set that was there before its deployment counts as progress. */
function noticed(deployment: Deployment, current: ReplicaSet, conditions: Conditions, now: number): Conditions {
  if (!hasDeadline(deployment) || conditionOf(conditions, 'Progressing') !== undefined) return conditions;
  const message = `Found new replica set "${current.metadata.name}"`;
  return set(conditions, now, 'Progressing', 'True', 'FoundNewReplicaSet', message);
}

/** Writes the new sizes and the status; a rollout that is complete also forgets its oldest revisions. */
function settle(deployment: Deployment, sets: Sets, conditions: Conditions, now: number, sizes: Sizes): Plan {
  const { current, old, all } = sets;
  const writes = resizes(deployment, sizes);
  if (writes.length === 0 && isComplete(deployment, deployment.status ?? {})) {
    writes.push(...forgotten(deployment, old).map((one) => deleteOf(one)));
  }
  const numbered = current === undefined ? deployment : withRevision(deployment, revisionOf(current));
  const { status, againInMs } = rolloutStatus(deployment, current, all, now, conditions);
  if (numbered !== deployment || !says(deployment, status)) writes.push(statusOf(numbered, status));
  return { writes, ...(againInMs !== undefined && { againInMs }) };
}

function resizes(deployment: Deployment, sizes: Sizes): Write[] {
  return [...sizes].map(([one, size]) =>
    updateOf(resized(deployment, one, size), scaled(deployment, one.metadata.name, replicasOf(one), size)),
  );
}

function scaled(deployment: Deployment, name: string, from: number, to: number): PlannedEvent {
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
  return says(deployment, status) ? nothing : { writes: [statusOf(deployment, status)] };
}

/** The new replica set could not be made: its name is taken, or the server refuses it. */
function refused(world: World, key: string, message: string): Plan {
  const deployment = world.get(deployments, key);
  if (deployment === undefined) return nothing;
  const conditions = set(
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

/** A Recreate deployment waits for the pods of its old replica sets to be gone. */
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
