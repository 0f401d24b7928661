// What is deleted with a claim. `offshoot claim delete` waits for it.
import { removalOf } from '../../api/description/deletion.ts';
import type { Removal } from '../../api/description/deletion.ts';
import { visible } from '../../api/description/reader.ts';
import type { ObjectReader } from '../../api/description/reader.ts';
import { SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from '../../api/targets.ts';
import { conditionsOf } from '../../controller/conditions.ts';
import type { Condition } from '../../controller/conditions.ts';
import { keyOf } from '../../kube/objects.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { refersTo } from '../claim-ref.ts';
import { RECLAIM_POLICY } from '../names.ts';
import { isTargetOf } from '../namespaces/world.ts';
import { Namespace } from '../objects.ts';
import { reclaimPolicyOf } from '../world.ts';
import { namespaceProblems } from './state.ts';
import { isNamespaceOf } from './world.ts';
import type { ClaimWorld } from './world.ts';

export interface ClaimDeletion {
  /** The objects that are deleted, the claim itself last. */
  readonly removals: readonly Removal[];
  /** The target that is kept. */
  readonly kept: DeploymentTarget | undefined;
}

/** What the deletion of a claim deletes and keeps. */
export function claimDeletion(read: ObjectReader, world: ClaimWorld): ClaimDeletion {
  const { claim, requests } = world;
  const target = ownTarget(world);
  const itself = removalOf(DeploymentTargetClaim, claim, `Claim ${keyOf(claim.metadata)}`);
  if (policyOf(read, world) === 'Retain') return { removals: [itself], kept: target };
  const removals = [
    ...ownNamespaces(world).map((each) => removalOf(Namespace, each, `Namespace ${each.metadata.name}`)),
    ...requests.map((each) => removalOf(SpaceRequest, each, `SpaceRequest ${keyOf(each.metadata)}`)),
    ...(target === undefined ? [] : [removalOf(DeploymentTarget, target, `Target ${keyOf(target.metadata)}`)]),
    itself,
  ];
  return { removals, kept: undefined };
}

/**
 * Whether controllers, or the server in a namespace, report on the deletion: a condition of an object that is being
 * deleted was written after that began.
 */
export function isDeletionReported(world: ClaimWorld): boolean {
  const { claim, requests } = world;
  const ours = [claim, ownTarget(world), ...requests].filter((each) => each !== undefined);
  return ours.some(isReportedOn) || ownNamespaces(world).some((each) => namespaceProblems(each).length > 0);
}

/** Reasons of space requests, whose conditions have no generation, while they are deleted. */
const DELETION_REASONS: ReadonlySet<string> = new Set(['Terminating', 'UnableToTerminate']);

/** Whether a problem was reported since the deletion of an object began, which raises its generation. */
function isReportedOn(object: KubeObject): boolean {
  const { deletionTimestamp, generation } = object.metadata;
  const isProblem = ({ type, status }: Condition): boolean =>
    (type === 'Stalled' && status === 'True') || (type === 'Ready' && status === 'False');
  return (
    deletionTimestamp !== undefined &&
    conditionsOf(object).some(
      (each) => isProblem(each) && (each.observedGeneration === generation || DELETION_REASONS.has(each.reason)),
    )
  );
}

/** The reclaim policy: that of the claim's class, of the target's class, or of the target's annotation. */
function policyOf(read: ObjectReader, { ofClass, target }: ClaimWorld): 'Delete' | 'Retain' {
  const name = target?.spec.deploymentTargetClassName ?? '';
  const isOther = ofClass === undefined && name !== '';
  const ofTarget = isOther ? visible(read.get(DeploymentTargetClass, { name })) : undefined;
  return reclaimPolicyOf(
    ofClass?.spec.reclaimPolicy,
    ofTarget?.spec.reclaimPolicy,
    target?.metadata.annotations?.[RECLAIM_POLICY],
  );
}

/** The namespaces of the claim; not one that its target only names: it may have been changed, or replaced by another. */
function ownNamespaces(world: ClaimWorld): readonly Namespace[] {
  const { claim, requests, namespaces } = world;
  const target = ownTarget(world);
  const requested = new Set(requests.flatMap(({ status }) => status?.namespaceAccess ?? []).map(({ name }) => name));
  const found = [...namespaces.values()].filter((each) => each !== 'hidden');
  return found.filter(
    (each) =>
      requested.has(each.metadata.name) ||
      isNamespaceOf(claim, each) ||
      (target !== undefined && isTargetOf(target, each)),
  );
}

/** The target of the claim; not one that it only asked for. */
function ownTarget({ claim, target }: ClaimWorld): DeploymentTarget | undefined {
  return target !== undefined && refersTo(target, claim) ? target : undefined;
}
