// Whether the namespace or space request behind a target still exists. It is not recreated: a new one would be empty,
// and the users who deployed to the old one must know. Used by the binder and the reclaimer.
import type { DeploymentTarget } from '../../api/targets.ts';
import type { View } from '../../controller/index.ts';
import { CLAIM_UID, DEVSANDBOX, LABEL_LENGTH, NAMESPACE_PROVISIONER, PROVISIONED_BY, RECYCLED } from '../names.ts';
import { claimNameOf } from '../claim-ref.ts';
import { isTargetOf } from '../namespaces/world.ts';
import { Namespace } from '../objects.ts';
import { readyOf } from '../spaces/conditions.ts';
import { isSpaceDeleted } from '../spaces/deleted.ts';
import type { Problem } from '../provisioning/eligible.ts';
import type { PlaceReason } from '../reasons.ts';
import { requestOf } from '../world.ts';

/** Why what is behind a target can't be used. */
export interface BackingProblem extends Problem {
  readonly reason: PlaceReason;
  /** Whether it is gone for good, with everything in it. */
  readonly isGone: boolean;
}

/** The problem of what is behind a target; undefined if there is none, or none can be known. */
export function backingProblem(view: View, target: DeploymentTarget): BackingProblem | undefined {
  const provisioner = target.metadata.annotations?.[PROVISIONED_BY];
  if (provisioner === NAMESPACE_PROVISIONER) return namespaceProblem(view, target);
  return provisioner === DEVSANDBOX ? requestProblem(view, target) : undefined;
}

function namespaceProblem(view: View, target: DeploymentTarget): BackingProblem | undefined {
  const name = target.spec.kubernetesCredentials.defaultNamespace;
  const namespace = view.get(Namespace, { name });
  if (namespace === undefined) return gone('NamespaceNotFound', `namespace ${name} is gone, with all that was in it`);
  if (namespace.metadata.deletionTimestamp !== undefined) {
    return gone('NamespaceDeleting', `namespace ${name} is being deleted, with all that is in it`);
  }
  if (isTargetOf(target, namespace)) return undefined;
  return gone(
    'NamespaceNotFound',
    `namespace ${name} is not the one that was made for DeploymentTarget ${target.metadata.name}`,
  );
}

function requestProblem(view: View, target: DeploymentTarget): BackingProblem | undefined {
  const { name } = target.metadata;
  const request = requestOf(view, target);
  const all = 'with its namespace and all that was in it';
  if (request === undefined) {
    if (!isTraceable(target)) return undefined;
    return gone('SpaceRequestNotFound', `the SpaceRequest of DeploymentTarget ${name} is gone, ${all}`);
  }
  if (request.metadata.deletionTimestamp !== undefined) {
    return gone('SpaceRequestDeleting', `SpaceRequest ${request.metadata.name} is being deleted, ${all}`);
  }
  const { status, reason = '', message } = readyOf(request) ?? {};
  if (status === 'True' || !reason.startsWith('UnableTo')) return undefined;
  return {
    reason: 'SpaceFailed',
    message: `SpaceRequest ${request.metadata.name}: ${message || reason}`,
    isGone: isSpaceDeleted(request),
  };
}

/** Whether the request of a target can be found: the target was made for a claim, and its name fits into a label. */
function isTraceable(target: DeploymentTarget): boolean {
  const { name, annotations } = target.metadata;
  const wasMadeForClaim =
    claimNameOf(target) !== '' || [CLAIM_UID, RECYCLED].some((annotation) => annotations?.[annotation]);
  return name.length <= LABEL_LENGTH && wasMadeForClaim;
}

function gone(reason: PlaceReason, message: string): BackingProblem {
  return { reason, message, isGone: true };
}
