// The end of a claim: its target goes with it or is released, as the class says.
import { SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget } from '../../api/targets.ts';
import type { DeploymentTargetClaim } from '../../api/targets.ts';
import type { Plan, View } from '../../controller/index.ts';
import { edit, editStatus, remove } from '../../kube/index.ts';
import type { Step } from '../../kube/index.ts';
import { claimNameOf, claimUidOf, refersTo, withoutClaim } from '../claim-ref.ts';
import { BIND_COMPLETE, TARGET_FINALIZER } from '../names.ts';
import type { Settings } from '../settings.ts';
import { besideOthers, condition, errorCondition } from '../status.ts';
import { classOf, policyFor, reclaimPolicyOf, ownRequests, targetNamed, targetsReferringTo } from '../world.ts';

/** How often to look whether a target is gone, should nobody tell. */
const LOOK_AGAIN_MS = 30_000;

/** Plans the deletion of a claim. */
export function planClaimDeletion(view: View, claim: DeploymentTargetClaim, settings: Settings): Plan {
  const target = targetToReclaim(view, claim);
  const ofClass = classOf(view, claim.spec.deploymentTargetClassName);
  const policy = target === undefined ? reclaimPolicyOf(ofClass?.spec.reclaimPolicy) : policyFor(view, target, claim);
  if (target === undefined) return withoutTarget(view, claim, policy);
  const steps = policy === 'Retain' ? releaseSteps(target) : deleteSteps(target);
  const isDone = steps.length === 0 && (policy === 'Retain' || settings.claimDeletion === 'eager');
  if (isDone) return { finished: true };
  const { name } = target.metadata;
  const message =
    policy === 'Retain'
      ? `releasing DeploymentTarget ${name}`
      : `waiting for DeploymentTarget ${name} to be deleted${saidBy(target)}`;
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

function saidBy({ status }: DeploymentTarget): string {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'False' && ready.message !== '' ? `: ${ready.message}` : '';
}

/** The target that the claim has: never one that belongs to somebody else, nor a second one that was reserved for it. */
function targetToReclaim(view: View, claim: DeploymentTargetClaim): DeploymentTarget | undefined {
  const referring = targetsReferringTo(view, claim);
  const isLocked = (target: DeploymentTarget): boolean => claimUidOf(target) === claim.metadata.uid;
  const own = referring.find(({ status }) => status?.phase === 'Bound') ?? referring.find(isLocked);
  if (own !== undefined) return own;
  const named = targetNamed(view, claim);
  if (named !== undefined && refersTo(named, claim)) return named;
  const wasBound = claim.metadata.annotations?.[BIND_COMPLETE] !== undefined;
  // Other binders leave the reference of a bound target empty. Without having been bound, the name is only a wish.
  if (wasBound && named?.status?.phase === 'Bound' && claimNameOf(named) === '') return named;
  return wasBound && (claim.spec.targetName ?? '') !== '' ? undefined : referring[0];
}

/** Nothing was bound: what was asked for on the way goes too. */
function withoutTarget(view: View, claim: DeploymentTargetClaim, policy: 'Delete' | 'Retain'): Plan {
  if (policy === 'Retain') return { finished: true };
  const alive = ownRequests(view, claim).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return { steps: alive.map((request) => remove(SpaceRequest, request)), finished: alive.length === 0 };
}

/** The target is released: its phase first, for with the reference goes the last trace of the claim. */
function releaseSteps(target: DeploymentTarget): Step[] {
  if (target.metadata.deletionTimestamp !== undefined) return [];
  if (target.status?.phase !== 'Released') {
    return [editStatus(DeploymentTarget, target, { ...target.status, phase: 'Released' })];
  }
  const isFree = claimNameOf(target) === '' && claimUidOf(target) === undefined;
  return isFree ? [] : [edit(DeploymentTarget, target, withoutClaim(target))];
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
