// The writes that bind a claim and a target, one at a time and in this order: the reference from the target to the
// claim, which is the lock; the target's phase; the claim's reference to the target; its phase, which the binder writes
// as status; the annotation that says that binding is complete.
import { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import { edit, editStatus, withAnnotations } from '../../kube/index.ts';
import type { Step } from '../../kube/index.ts';
import { claimNameOf, claimUidOf, withClaim } from '../claim-ref.ts';
import { BOUND_BY_CONTROLLER } from '../names.ts';
import type { Settings } from '../settings.ts';

/** Writes the name of the found target into the claim. */
export function nameTarget(claim: DeploymentTargetClaim, target: DeploymentTarget): Step {
  const spec = { ...claim.spec, targetName: target.metadata.name };
  const marked = withAnnotations(claim, { [BOUND_BY_CONTROLLER]: 'true' });
  return edit(DeploymentTargetClaim, claim, { ...marked, spec });
}

/** Makes the target refer to the claim; no steps if it already does. */
export function lockSteps(claim: DeploymentTargetClaim, target: DeploymentTarget, { claimRefShape }: Settings): Step[] {
  const isLocked = claimNameOf(target) === claim.metadata.name && claimUidOf(target) === claim.metadata.uid;
  return isLocked ? [] : [edit(DeploymentTarget, target, withClaim(target, claim, claimRefShape))];
}

/** Sets the phase of a locked target to Bound; no steps if it is already. */
export function phaseSteps(claim: DeploymentTargetClaim, target: DeploymentTarget, settings: Settings): Step[] {
  if (target.status?.phase === 'Bound' || lockSteps(claim, target, settings).length > 0) return [];
  return [editStatus(DeploymentTarget, target, { ...target.status, phase: 'Bound' })];
}
