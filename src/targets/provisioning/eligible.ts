// Whether a provisioner should make a target for a claim: the first half of the contract between binder and
// provisioners.
import type { DeploymentTargetClaim, DeploymentTargetClass } from '../../api/targets.ts';
import type { View } from '../../controller/index.ts';
import { claimUidOf } from '../claim-ref.ts';
import { PROVISIONER } from '../names.ts';
import { Namespace } from '../objects.ts';
import type { ClaimReason } from '../reasons.ts';
import { classOf, targetNamed, targetsReferringTo } from '../world.ts';

/**
 * The class of the target that this provisioner should make for the claim; undefined if it should not. The provisioner
 * annotation of the claim is the name of the provisioner or, from other binders, of the class.
 */
export function classToProvision(
  view: View,
  claim: DeploymentTargetClaim,
  provisioner: string,
): DeploymentTargetClass | undefined {
  if (claim.metadata.deletionTimestamp !== undefined || claim.status?.phase !== 'Pending') return undefined;
  const mark = claim.metadata.annotations?.[PROVISIONER];
  const ofClass = classOf(view, claim.spec.deploymentTargetClassName);
  if (ofClass?.spec.provisioner !== provisioner) return undefined;
  if (mark !== provisioner && mark !== ofClass.metadata.name) return undefined;
  if (isEnding(view, claim.metadata.namespace)) return undefined;
  // A target that is locked for the claim is about to be bound to it.
  const isLocked = targetsReferringTo(view, claim).some((target) => claimUidOf(target) === claim.metadata.uid);
  return isLocked || targetNamed(view, claim) !== undefined ? undefined : ofClass;
}

/** Whether a namespace is being deleted: nothing can be created in it. */
export function isEnding(view: View, name = ''): boolean {
  return view.get(Namespace, { name })?.metadata.deletionTimestamp !== undefined;
}

/** Why nothing is made for a claim, for its status. */
export interface Problem {
  readonly reason: ClaimReason;
  readonly message: string;
}
