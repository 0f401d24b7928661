// The deletion of a claim: its target is deleted or released, as the class says.
import { SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget } from '../../api/targets.ts';
import type { DeploymentTargetClaim } from '../../api/targets.ts';
import type { Plan, View } from '../../controller/index.ts';
import { edit, editStatus, remove } from '../../kube/index.ts';
import type { Step } from '../../kube/index.ts';
import { claimUidOf, isProvisioned, isTraced, refersTo, withClaim, withoutClaim } from '../claim-ref.ts';
import { BIND_COMPLETE, TARGET_FINALIZER } from '../names.ts';
import type { Settings } from '../settings.ts';
import { besideOthers, condition, errorCondition } from '../status.ts';
import { classOf, policyFor, reclaimPolicyOf, ownRequests, targetNamed, targetsReferringTo } from '../world.ts';

/** How often to check whether a target is gone, in case no event arrives. */
const LOOK_AGAIN_MS = 30_000;

/** Plans the deletion of a claim. */
export function planClaimDeletion(view: View, claim: DeploymentTargetClaim, settings: Settings): Plan {
  const target = targetToReclaim(view, claim);
  const ofClass = classOf(view, claim.spec.deploymentTargetClassName);
  const policy = target === undefined ? reclaimPolicyOf(ofClass?.spec.reclaimPolicy) : policyFor(view, target, claim);
  if (target === undefined) return withoutTarget(view, claim, policy);
  const steps = policy === 'Retain' ? releaseSteps(target, claim, settings) : deleteSteps(target);
  const isDone = steps.length === 0 && (policy === 'Retain' || settings.claimDeletion === 'eager');
  if (isDone) return { finished: true };
  const { name } = target.metadata;
  const message =
    policy === 'Retain'
      ? `releasing DeploymentTarget ${name}`
      : `waiting for DeploymentTarget ${name} to be deleted${readyMessageOf(target)}`;
  return {
    steps,
    status: {
      ...claim.status,
      conditions: besideOthers(claim.status?.conditions, [
        errorCondition(claim.status?.conditions, undefined, view.now()),
        condition('Ready', false, 'Terminating', message),
      ]),
    },
    requeueAfterMs: LOOK_AGAIN_MS,
  };
}

function readyMessageOf({ status }: DeploymentTarget): string {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'False' && ready.message !== '' ? `: ${ready.message}` : '';
}

/** The target that the claim has: never one of another claim, nor a second one that was reserved for it. */
function targetToReclaim(view: View, claim: DeploymentTargetClaim): DeploymentTarget | undefined {
  const referring = targetsReferringTo(view, claim);
  const isLocked = (target: DeploymentTarget): boolean => claimUidOf(target) === claim.metadata.uid;
  const own = referring.find(({ status }) => status?.phase === 'Bound') ?? referring.find(isLocked);
  if (own !== undefined) return own;
  const named = targetNamed(view, claim);
  if (named !== undefined && refersTo(named, claim)) return named;
  const wasBound = claim.metadata.annotations?.[BIND_COMPLETE] !== undefined;
  // If the claim was never bound, its name is only a request.
  if (wasBound && named?.status?.phase === 'Bound' && !isTraced(named)) return named;
  return wasBound && (claim.spec.targetName ?? '') !== '' ? undefined : referring[0];
}

/** No target was bound: deletes the space requests of the claim. */
function withoutTarget(view: View, claim: DeploymentTargetClaim, policy: 'Delete' | 'Retain'): Plan {
  if (policy === 'Retain') return { finished: true };
  const alive = ownRequests(view, claim).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return { steps: alive.map((request) => remove(SpaceRequest, request)), finished: alive.length === 0 };
}

/** Releases the target: its phase first, because the reference is the last trace of the claim. */
function releaseSteps(target: DeploymentTarget, claim: DeploymentTargetClaim, { claimRefShape }: Settings): Step[] {
  if (target.metadata.deletionTimestamp !== undefined) return [];
  if (target.status?.phase !== 'Released') {
    // Without a trace of the claim its users would keep their access.
    if (!isTraced(target) && isProvisioned(target)) {
      return [edit(DeploymentTarget, target, withClaim(target, claim, claimRefShape))];
    }
    return [editStatus(DeploymentTarget, target, { ...target.status, phase: 'Released' })];
  }
  return isTraced(target) ? [edit(DeploymentTarget, target, withoutClaim(target, claim))] : [];
}

/** Deletes the target; its finalizer holds it until what it stands for is gone. */
function deleteSteps(target: DeploymentTarget): Step[] {
  if (target.metadata.deletionTimestamp !== undefined) return [];
  const finalizers = target.metadata.finalizers ?? [];
  if (!finalizers.includes(TARGET_FINALIZER)) {
    const metadata = { ...target.metadata, finalizers: [...finalizers, TARGET_FINALIZER] };
    return [edit(DeploymentTarget, target, { ...target, metadata })];
  }
  return [remove(DeploymentTarget, target)];
}
