// Whether the namespace or space request behind a target still exists. It is not recreated: a new one would be empty,
// and the users who deployed to the old one must know. Used by the binder and the reclaimer.
import type { SpaceRequest } from '../../api/spaces.ts';
import type { DeploymentTarget } from '../../api/targets.ts';
import type { View } from '../../controller/index.ts';
import {
  CLAIM_UID,
  DEVSANDBOX,
  NAMESPACE_PROVISIONER,
  PROBLEM,
  PROVISIONED_BY,
  RECYCLED,
  SANDBOX_TIER,
} from '../names.ts';
import { claimNameOf } from '../claim-ref.ts';
import { TARGET_MADE } from '../namespaces/names.ts';
import { isOurs, namespaceOf, namespacesFor } from '../namespaces/world.ts';
import { Namespace } from '../objects.ts';
import { readyOf } from '../spaces/conditions.ts';
import { isSpaceDeleted } from '../spaces/deleted.ts';
import type { Problem } from '../provisioning/eligible.ts';
import type { PlaceReason } from '../reasons.ts';
import { requestOf, requestsNaming } from '../world.ts';

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

/** The problem that keeps a target from claims. What is refused in its namespace does not: there is access. */
export function bindingProblem(view: View, target: DeploymentTarget): BackingProblem | undefined {
  const problem = backingProblem(view, target);
  return problem?.reason === 'NamespaceFailed' ? undefined : problem;
}

function namespaceProblem(view: View, target: DeploymentTarget): BackingProblem | undefined {
  const namespace = namespaceOf(view, target);
  if (namespace === undefined) return changedNamespace(view, target) ?? noNamespace(view, target);
  const { name, deletionTimestamp } = namespace.metadata;
  if (deletionTimestamp !== undefined) {
    return gone('NamespaceDeleting', `namespace ${name} is being deleted, with all that is in it`);
  }
  // The provisioner sets the target back to it, but only if it is one that it keeps up.
  const isNamed = target.spec.kubernetesCredentials.defaultNamespace === name;
  return isNamed || isOurs(namespace) ? refusedIn(namespace) : changedNamespace(view, target);
}

/** Another namespace than that of a target says that it was made for it: what the claim deployed may be there. */
function changedNamespace(view: View, target: DeploymentTarget): BackingProblem | undefined {
  const made = namespacesFor(view, target).find(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (made === undefined) return undefined;
  const { name } = made.metadata;
  const { defaultNamespace } = target.spec.kubernetesCredentials;
  const message = `DeploymentTarget ${target.metadata.name} is for namespace ${defaultNamespace}, but namespace ${name} says that it was made for it: set spec.kubernetesCredentials.defaultNamespace of the target back to ${name}`;
  return { reason: 'NamespaceNotFound', message, isGone: false };
}

function noNamespace(view: View, target: DeploymentTarget): BackingProblem {
  const { defaultNamespace: name } = target.spec.kubernetesCredentials;
  const message =
    view.get(Namespace, { name }) === undefined
      ? `namespace ${name} is gone, with all that was in it`
      : `namespace ${name} is not the one that was made for DeploymentTarget ${target.metadata.name}`;
  return gone('NamespaceNotFound', message);
}

/** What the server refused in a namespace since its target was made; before, the claim reports it. */
function refusedIn({ metadata: { name, annotations } }: Namespace): BackingProblem | undefined {
  const { [PROBLEM]: problem, [TARGET_MADE]: wasMade } = annotations ?? {};
  if (problem === undefined || wasMade === undefined) return undefined;
  return { reason: 'NamespaceFailed', message: `namespace ${name}: ${problem}`, isGone: false };
}

function requestProblem(view: View, target: DeploymentTarget): BackingProblem | undefined {
  const { name } = target.metadata;
  const request = requestOf(view, target);
  const all = 'with its namespace and all that was in it';
  if (request === undefined) {
    if (!wasMadeForClaim(target)) return undefined;
    const [other] = requestsNaming(view, target);
    if (other !== undefined && other.spec.tierName !== SANDBOX_TIER) {
      const message = `SpaceRequest ${other.metadata.name} is of tier ${other.spec.tierName}, but DeploymentTarget ${name} is for one of tier ${SANDBOX_TIER}: somebody changed it, or the request of the target is gone`;
      return { reason: 'SpaceRequestNotFound', message, isGone: false };
    }
    const message =
      other === undefined ? `the SpaceRequest of DeploymentTarget ${name} is gone, ${all}` : isFor(other, target);
    return gone('SpaceRequestNotFound', message);
  }
  if (request.metadata.deletionTimestamp !== undefined) {
    return gone('SpaceRequestDeleting', `SpaceRequest ${request.metadata.name} is being deleted, ${all}`);
  }
  if (target.status?.phase === 'Bound' && (request.status?.namespaceAccess ?? []).length === 0) {
    const message = `SpaceRequest ${request.metadata.name} has no namespace: somebody changed its status, or DeploymentTarget ${name} was made from another one`;
    return { reason: 'SpaceRequestNotFound', message, isGone: false };
  }
  const { status, reason = '', message } = readyOf(request) ?? {};
  if (status === 'True' || !reason.startsWith('UnableTo')) return undefined;
  return {
    reason: 'SpaceFailed',
    message: `SpaceRequest ${request.metadata.name}: ${message || reason}`,
    isGone: isSpaceDeleted(request),
  };
}

/** A request that names a target of another namespace: moving the target to the new one would leave all behind. */
function isFor({ metadata, status }: SpaceRequest, target: DeploymentTarget): string {
  const names = (status?.namespaceAccess ?? []).map(({ name }) => name).join(', ');
  const { defaultNamespace } = target.spec.kubernetesCredentials;
  return `SpaceRequest ${metadata.name} is for namespace ${names}, but DeploymentTarget ${target.metadata.name} is for ${defaultNamespace}: its own request is gone or has another namespace now, or somebody changed the target`;
}

/** Whether a target was made for a claim: then there is or was a request that names it. */
function wasMadeForClaim(target: DeploymentTarget): boolean {
  const { annotations } = target.metadata;
  return claimNameOf(target) !== '' || [CLAIM_UID, RECYCLED].some((annotation) => annotations?.[annotation]);
}

function gone(reason: PlaceReason, message: string): BackingProblem {
  return { reason, message, isGone: true };
}
