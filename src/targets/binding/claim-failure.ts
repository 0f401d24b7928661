// Writes of the binder that the server refused, in the words that its users know.
import { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import type { Failure } from '../../controller/index.ts';
import type { Edit } from '../../kube/index.ts';
import { claimNameOf } from '../claim-ref.ts';
import { BIND_COMPLETE, CLAIM_FINALIZER, PROVISIONER } from '../names.ts';

/** What to say about a failure on the claim that it befell. */
export function claimFailure(claim: DeploymentTargetClaim, { step, cause }: Failure): string {
  const { name, namespace, deletionTimestamp, finalizers = [], annotations } = claim.metadata;
  const edited = step?.do === 'edit' ? step : undefined;
  if (deletionTimestamp !== undefined) {
    return (edited && releaseFailure(edited, cause)) ?? 'unexpected internal error occurred in DTC controller';
  }
  if (!finalizers.includes(CLAIM_FINALIZER)) {
    return `failed to add finalizer ${CLAIM_FINALIZER} to DeploymentTargetClaim ${name} in namespace ${namespace}: ${cause}`;
  }
  if (annotations?.[BIND_COMPLETE] !== undefined) return `failed to process bound DeploymentTargetClaim: ${cause}`;
  const isMarking =
    edited?.kind === DeploymentTargetClaim &&
    edited.to.metadata.annotations?.[PROVISIONER] !== annotations?.[PROVISIONER];
  if (isMarking) return `failed to handle DeploymentTargetClaim for dynamic provisioning: ${cause}`;
  return 'unexpected internal error occurred in DTC controller';
}

function releaseFailure({ kind, to, subresource }: Edit, cause: string): string | undefined {
  if (kind !== DeploymentTarget) return undefined;
  const { name, namespace } = to.metadata;
  if (subresource) return `failed to update DeploymentTarget ${name} in namespace ${namespace} to Released status`;
  return claimNameOf(to as DeploymentTarget) === '' ? `failed to update the claimRef: ${cause}` : undefined;
}
