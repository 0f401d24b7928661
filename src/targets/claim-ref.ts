// The reference from a target to its claim: the lock that makes binding one to one. It may be a name, or an object with
// a name; an existing reference keeps its shape.
import { withAnnotations } from '../kube/index.ts';
import type { DeploymentTarget, DeploymentTargetClaim } from '../api/targets.ts';
import { CLAIM_UID, LAST_CLAIM, PROVISIONED_BY } from './names.ts';
import type { Settings } from './settings.ts';

type ClaimRef = DeploymentTarget['spec']['claimRef'];

/** The name of the claim that a target refers to; empty when there is none. */
export function claimNameOf(target: DeploymentTarget): string {
  const { claimRef } = target.spec;
  if (typeof claimRef === 'string') return claimRef;
  return typeof claimRef?.name === 'string' ? claimRef.name : '';
}

/** Whether a provisioner made a target. */
export function isProvisioned({ metadata }: DeploymentTarget): boolean {
  return metadata.annotations?.[PROVISIONED_BY] !== undefined;
}

/** The uid of the claim that a target is bound to. */
export function claimUidOf({ metadata }: DeploymentTarget): string | undefined {
  return metadata.annotations?.[CLAIM_UID];
}

/** Whether a target refers to any claim. Other binders leave no trace of the claim on a target that they bind. */
export function isTraced(target: DeploymentTarget): boolean {
  return claimNameOf(target) !== '' || claimUidOf(target) !== undefined;
}

/**
 * Whether a target refers to this very claim. A target that was bound to an earlier claim of the same name does not. If
 * its claimRef was cleared, it still does by the uid, unless the claim names another target.
 */
export function refersTo(target: DeploymentTarget, claim: DeploymentTargetClaim): boolean {
  const [name, uid] = [claimNameOf(target), claimUidOf(target)];
  if (name !== '') return name === claim.metadata.name && (uid === undefined || uid === claim.metadata.uid);
  return (
    uid !== undefined &&
    uid === claim.metadata.uid &&
    (claim.spec.targetName || target.metadata.name) === target.metadata.name
  );
}

/** A reference to a claim, in the given shape. */
export function claimRefTo(name: string, shape: Settings['claimRefShape']): NonNullable<ClaimRef> {
  return shape === 'object' ? { name } : name;
}

/** The target with a reference to a claim and its uid. An existing reference keeps its shape. */
export function withClaim(
  target: DeploymentTarget,
  { metadata }: DeploymentTargetClaim,
  shape: Settings['claimRefShape'],
): DeploymentTarget {
  const { claimRef: before } = target.spec;
  const claimRef =
    typeof before === 'object'
      ? { ...before, name: metadata.name }
      : claimRefTo(metadata.name, before ? 'string' : shape);
  const annotations = metadata.uid === undefined ? {} : { [CLAIM_UID]: metadata.uid };
  return { ...withAnnotations(target, annotations), spec: { ...target.spec, claimRef } };
}

/** The target without its claim, and with a mark of it. */
export function withoutClaim(target: DeploymentTarget, claim?: DeploymentTargetClaim): DeploymentTarget {
  // Other binders record no uid, and the claim may be gone: then its name must do.
  const last = claimUidOf(target) ?? claim?.metadata.uid ?? claimNameOf(target);
  const annotations = last === '' ? {} : { [CLAIM_UID]: undefined, [LAST_CLAIM]: markOf(target, last) };
  const { claimRef: before } = target.spec;
  const claimRef = typeof before === 'object' ? { ...before, name: '' } : '';
  return { ...withAnnotations(target, annotations), spec: { ...target.spec, claimRef } };
}

/** A mark that differs from that of the release before, which may have been by the same claim. */
function markOf({ metadata }: DeploymentTarget, last: string): string {
  return metadata.annotations?.[LAST_CLAIM] === last ? `${last}-again` : last;
}
