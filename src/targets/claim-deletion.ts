// The end of a claim: its target goes with it or is released, as the class says.
import { SpaceRequest } from '../api/spaces.ts';
import { DeploymentTarget } from '../api/targets.ts';
import type { DeploymentTargetClaim } from '../api/targets.ts';
import type { Plan, View } from '../controller/index.ts';
import { edit, editStatus, remove } from '../kube/index.ts';
import type { Step } from '../kube/index.ts';
import { claimNameOf, refersTo, withClaim } from './claim-ref.ts';
import { BIND_COMPLETE, RECLAIM_POLICY, TARGET_FINALIZER } from './names.ts';
import type { Settings } from './settings.ts';
import { classOf, reclaimPolicyOf, requestsFor, targetNamed, targetsReferringTo } from './world.ts';

/** Plans the deletion of a claim. */
export function planClaimDeletion(view: View, claim: DeploymentTargetClaim, settings: Settings): Plan {
  const target = targetToReclaim(view, claim);
  const policy = reclaimPolicyOf(
    classOf(view, claim.spec.deploymentTargetClassName)?.spec.reclaimPolicy,
    target && classOf(view, target.spec.deploymentTargetClassName)?.spec.reclaimPolicy,
    target?.metadata.annotations?.[RECLAIM_POLICY],
  );
  if (target === undefined) return withoutTarget(view, claim, policy);
  if (policy === 'Retain') {
    const steps = releaseSteps(target);
    return { steps, finished: steps.length === 0 };
  }
  const steps = deleteSteps(target);
  if (settings.claimDeletion === 'wait') return { steps, finished: false };
  return { steps, finished: steps.length === 0 };
}

/** The target that the claim has: never one that belongs to somebody else. */
function targetToReclaim(view: View, claim: DeploymentTargetClaim): DeploymentTarget | undefined {
  const named = targetNamed(view, claim);
  const wasBound = claim.metadata.annotations?.[BIND_COMPLETE] !== undefined;
  // Other binders leave the reference of a bound target empty. Without having been bound, the name is only a wish.
  if (named !== undefined && (refersTo(named, claim) || (wasBound && claimNameOf(named) === ''))) return named;
  return targetsReferringTo(view, claim)[0];
}

/** Nothing was bound: what was asked for on the way goes too. */
function withoutTarget(view: View, claim: DeploymentTargetClaim, policy: 'Delete' | 'Retain'): Plan {
  if (policy === 'Retain') return { finished: true };
  const requests = requestsFor(view, { name: claim.metadata.name, namespace: claim.metadata.namespace! });
  const alive = requests.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return { steps: alive.map((request) => remove(SpaceRequest, request)), finished: alive.length === 0 };
}

/** The target is released: its phase first, for with the reference goes the last trace of the claim. */
function releaseSteps(target: DeploymentTarget): Step[] {
  if (target.metadata.deletionTimestamp !== undefined) return [];
  if (target.status?.phase !== 'Released') {
    return [editStatus(DeploymentTarget, target, { ...target.status, phase: 'Released' })];
  }
  return claimNameOf(target) === '' ? [] : [edit(DeploymentTarget, target, withClaim(target, undefined))];
}

/** The target goes, held by its finalizer until what it stands for is gone. */
function deleteSteps(target: DeploymentTarget): Step[] {
  if (target.metadata.deletionTimestamp !== undefined) return [];
  const finalizers = target.metadata.finalizers ?? [];
  if (!finalizers.includes(TARGET_FINALIZER)) {
    const metadata = { ...target.metadata, finalizers: [...finalizers, TARGET_FINALIZER] };
    return [edit(DeploymentTarget, target, { ...target, metadata })];
  }
  return [remove(DeploymentTarget, target)];
}
