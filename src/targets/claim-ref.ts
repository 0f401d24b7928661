// The reference from a target to its claim: the lock that makes binding one to one. It may be a name, or an object with
// a name; what is there keeps its shape.
import { withAnnotations } from '../kube/index.ts';
import type { DeploymentTarget, DeploymentTargetClaim } from '../api/targets.ts';
import { CLAIM_UID, LAST_CLAIM } from './names.ts';
import type { Settings } from './settings.ts';

type ClaimRef = DeploymentTarget['spec']['claimRef'];

/** The name of the claim that a target refers to; empty when there is none. */
export function claimNameOf(target: DeploymentTarget): string {
  const { claimRef } = target.spec;
  if (typeof claimRef === 'string') return claimRef;
  return typeof claimRef?.name === 'string' ? claimRef.name : '';
}

/** The uid of the claim that a target is bound to. */
export function claimUidOf({ metadata }: DeploymentTarget): string | undefined {
  return metadata.annotations?.[CLAIM_UID];
}

/**
 * Whether a target refers to this very claim. One that was bound to an earlier claim of the name does not. One whose
 * reference somebody cleared still does, by the uid, unless the claim names another.
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

/** A reference to a claim, in the shape that new ones have. */
export function claimRefTo(name: string, shape: Settings['claimRefShape']): NonNullable<ClaimRef> {
  return shape === 'object' ? { name } : name;
}

/** The target referring to a claim and to its uid. A reference that is there keeps its shape. */
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

/** The target referring to no claim, and remembering that there was one. */
export function withoutClaim(target: DeploymentTarget): DeploymentTarget {
  const uid = target.metadata.annotations?.[CLAIM_UID];
  const annotations = uid === undefined ? {} : { [CLAIM_UID]: undefined, [LAST_CLAIM]: uid };
  const { claimRef: before } = target.spec;
  const claimRef = typeof before === 'object' ? { ...before, name: '' } : '';
  return { ...withAnnotations(target, annotations), spec: { ...target.spec, claimRef } };
}
