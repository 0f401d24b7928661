// The reference from a target to its claim: the lock that makes binding one to one. It may be a name, or an object with
// a name; what is there keeps its shape.
import type { DeploymentTarget, DeploymentTargetClaim } from '../api/targets.ts';
import { CLAIM_UID } from './names.ts';

/** The name of the claim that a target refers to; empty when there is none. */
export function claimNameOf(target: DeploymentTarget): string {
  const { claimRef } = target.spec;
  if (typeof claimRef === 'string') return claimRef;
  return typeof claimRef?.name === 'string' ? claimRef.name : '';
}

/** Whether a target refers to this very claim. One that was bound to an earlier claim of the name does not. */
export function refersTo(target: DeploymentTarget, claim: DeploymentTargetClaim): boolean {
  const uid = target.metadata.annotations?.[CLAIM_UID];
  return claimNameOf(target) === claim.metadata.name && (uid === undefined || uid === claim.metadata.uid);
}

/** The target referring to a claim and, for good measure, to its uid; or to none. */
export function withClaim(target: DeploymentTarget, claim: DeploymentTargetClaim | undefined): DeploymentTarget {
  const name = claim?.metadata.name ?? '';
  const { [CLAIM_UID]: _before, ...others } = target.metadata.annotations ?? {};
  const uid = claim?.metadata.uid;
  const claimRef = typeof target.spec.claimRef === 'object' ? { ...target.spec.claimRef, name } : name;
  return {
    ...target,
    metadata: { ...target.metadata, annotations: uid === undefined ? others : { ...others, [CLAIM_UID]: uid } },
    spec: { ...target.spec, claimRef },
  };
}
