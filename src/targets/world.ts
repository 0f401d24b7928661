// Lookups of the claim system, and the indexes for them.
import { SpaceRequest } from '../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from '../api/targets.ts';
import type { Facts, View } from '../controller/index.ts';
import { defineTable } from '../kube/index.ts';
import type { KubeObject } from '../kube/index.ts';
import { claimNameOf, claimUidOf, refersTo } from './claim-ref.ts';
import {
  BIND_COMPLETE,
  CLAIM_LABEL,
  CLAIM_UID,
  CLASS_NAME,
  DEVSANDBOX,
  LAST_CLAIM,
  MADE_FROM,
  OF_CLAIM,
  PROVISIONED_BY,
  RECLAIM_POLICY,
  RECYCLED,
  SANDBOX_TIER,
  sandboxTarget,
} from './names.ts';
import { Namespace } from './objects.ts';
import { targetNameOn } from './target-name.ts';

function inNamespace({ metadata }: { metadata: { namespace?: string } }, name: string | undefined): readonly string[] {
  return name === undefined || name === '' ? [] : [`${metadata.namespace}/${name}`];
}

function annotated({ metadata }: KubeObject, name: string): readonly string[] {
  const value = metadata.annotations?.[name];
  return value === undefined ? [] : [value];
}

function freeKey({ metadata }: KubeObject, className: string): string {
  return `${metadata.namespace}/${className}`;
}

/**
 * Targets by the claim that they refer to; claims by the target that they name and by their class; space requests by
 * both.
 */
const Targets = defineTable(DeploymentTarget, {
  indexes: {
    claim: (target) => inNamespace(target, claimNameOf(target)),
    // If the claimRef was cleared, only the uid is left.
    claimUid: (target) => inNamespace(target, claimNameOf(target) === '' ? claimUidOf(target) : ''),
    // An empty class is a class like any other.
    freeOfClass: (target) =>
      claimNameOf(target) === '' ? [freeKey(target, target.spec.deploymentTargetClassName)] : [],
  },
});

export const Claims = defineTable(DeploymentTargetClaim, {
  indexes: {
    target: (claim) => inNamespace(claim, claim.spec.targetName),
    class: (claim) => inNamespace(claim, claim.spec.deploymentTargetClassName),
    anyClass: (claim) => [claim.spec.deploymentTargetClassName],
    uid: (claim) => inNamespace(claim, claim.metadata.uid),
  },
});

const SpaceRequests = defineTable(SpaceRequest, {
  indexes: {
    claim: (request) => inNamespace(request, request.metadata.labels?.[CLAIM_LABEL]),
    target: (request) => inNamespace(request, targetNameOn(request)),
  },
});

const Namespaces = defineTable(Namespace, { indexes: { claim: (namespace) => annotated(namespace, OF_CLAIM) } });

export function classOf(facts: Facts, name: string): DeploymentTargetClass | undefined {
  return name === '' ? undefined : facts.get(DeploymentTargetClass, { name });
}

export function targetNamed(view: View, claim: DeploymentTargetClaim): DeploymentTarget | undefined {
  const { targetName = '' } = claim.spec;
  return targetName === ''
    ? undefined
    : view.get(DeploymentTarget, { name: targetName, namespace: claim.metadata.namespace });
}

/** Targets that refer to this very claim. */
export function targetsReferringTo(view: View, claim: DeploymentTargetClaim): readonly DeploymentTarget[] {
  const { name, namespace, uid } = claim.metadata;
  const byName = view.index(Targets, 'claim', `${namespace}/${name}`);
  const byUid = view.index(Targets, 'claimUid', `${namespace}/${uid}`);
  return [...byName, ...byUid].filter((target) => refersTo(target, claim));
}

/** Targets that a claim without a targetName may get: those that refer to it, and free ones of its class. */
export function targetsFor(view: View, claim: DeploymentTargetClaim): readonly DeploymentTarget[] {
  const free = view.index(Targets, 'freeOfClass', freeKey(claim, claim.spec.deploymentTargetClassName));
  return [...new Set([...targetsReferringTo(view, claim), ...free])];
}

/** The claim that a target refers to, if it exists. */
export function claimOf(view: View, target: DeploymentTarget): DeploymentTargetClaim | undefined {
  const { namespace } = target.metadata;
  const name = claimNameOf(target);
  const claim =
    name === ''
      ? view.index(Claims, 'uid', `${namespace}/${claimUidOf(target)}`)[0]
      : view.get(DeploymentTargetClaim, { name, namespace });
  return claim !== undefined && refersTo(target, claim) ? claim : undefined;
}

/** Claims that name a target in their spec. */
export function claimsNaming(view: View, { metadata }: DeploymentTarget): readonly DeploymentTargetClaim[] {
  return view.index(Claims, 'target', `${metadata.namespace}/${metadata.name}`);
}

/** The table of claims, or the view of a controller on it. */
type ReadClaims = (index: 'target' | 'uid', key: string) => readonly DeploymentTargetClaim[];

/**
 * The claim that is bound to a target, whatever the target refers to: somebody may have changed its claimRef. If the
 * uid of the claim is recorded on the target, a later claim that names the target does not count.
 */
export function holderIn(read: ReadClaims, target: DeploymentTarget): DeploymentTargetClaim | undefined {
  const { name, namespace } = target.metadata;
  const uid = claimUidOf(target);
  const claims = uid === undefined ? read('target', `${namespace}/${name}`) : read('uid', `${namespace}/${uid}`);
  return claims.find((claim) => wasBound(claim) && (claim.spec.targetName || name) === name);
}

export function holderOf(view: View, target: DeploymentTarget): DeploymentTargetClaim | undefined {
  return holderIn((index, key) => view.index(Claims, index, key), target);
}

/** Space requests made for a claim. */
function requestsFor(view: View, claim: { name: string; namespace?: string }): readonly SpaceRequest[] {
  return view
    .index(SpaceRequests, 'claim', `${claim.namespace}/${claim.name}`)
    .filter(({ spec }) => spec.tierName === SANDBOX_TIER);
}

/** Requests made for this very claim, not for an earlier one of the same name. */
export function ownRequests(view: View, claim: DeploymentTargetClaim): readonly SpaceRequest[] {
  return requestsFor(view, claim.metadata).filter(({ metadata }) => {
    const uid = metadata.annotations?.[CLAIM_UID];
    return uid === undefined || uid === claim.metadata.uid;
  });
}

/** The space request behind a target: the one that names it or, before any does, the one of its claim. */
export function requestOf(view: View, target: DeploymentTarget): SpaceRequest | undefined {
  const { namespace } = target.metadata;
  const naming = requestsNaming(view, target);
  const requests = naming.length > 0 ? naming : requestsFor(view, { name: claimNameOf(target), namespace });
  const possible = requests.filter(({ spec }) => spec.tierName === SANDBOX_TIER);
  return (
    possible.find((request) => offersPlaceOf(request, target)) ??
    possible.find((request) => mayStandFor(request, target)) ??
    unnamedRequestOf(view, target)
  );
}

/** Earlier versions named no target on a request if its name is too long for a label. */
function unnamedRequestOf(view: View, target: DeploymentTarget): SpaceRequest | undefined {
  const { name, namespace } = target.metadata;
  const made = requestsFor(view, { name: name.slice(0, -sandboxTarget('').length), namespace });
  return made.find((request) => targetNameOn(request) === undefined && isUnnamedRequestOf(request, target));
}

/** Whether a request without the name of its target is behind this one. */
export function isUnnamedRequestOf(request: SpaceRequest, target: DeploymentTarget): boolean {
  const isMadeFor = sandboxTarget(request.metadata.labels?.[CLAIM_LABEL] ?? '') === target.metadata.name;
  return isMadeFor && target.metadata.annotations?.[PROVISIONED_BY] === DEVSANDBOX && offersPlaceOf(request, target);
}

/** Space requests that name a target, whether or not it was made from them. */
export function requestsNaming(view: View, { metadata }: DeploymentTarget): readonly SpaceRequest[] {
  return view.index(SpaceRequests, 'target', `${metadata.namespace}/${metadata.name}`);
}

/** Whether a target was made from a request, which may also be left from an earlier target of the same name. */
export function mayStandFor(request: SpaceRequest, target: DeploymentTarget): boolean {
  const hasPlace = (request.status?.namespaceAccess ?? []).length > 0;
  const isMade = target.metadata.annotations?.[PROVISIONED_BY] === DEVSANDBOX && hasPlace;
  return !isMade || offersPlaceOf(request, target) || madePlaceOf(request, target) !== undefined;
}

/** Whether the namespace of a target is one of a request. */
function offersPlaceOf({ status }: SpaceRequest, { spec }: DeploymentTarget): boolean {
  const { defaultNamespace } = spec.kubernetesCredentials;
  return (status?.namespaceAccess ?? []).some(({ name }) => name === defaultNamespace);
}

/**
 * The namespace that a target was made from, if this very request still has it: if the target is for another one,
 * somebody changed it. Another namespace that the request has got since is empty.
 */
export function madePlaceOf(request: SpaceRequest, target: DeploymentTarget): string | undefined {
  const madeFrom = target.metadata.annotations?.[MADE_FROM];
  return request.status?.namespaceAccess?.find(({ name }) => madeFrom === madeFromMark(request, name))?.name;
}

/** What a target says about the request that it was made from, and the namespace of that. */
export function madeFromMark({ metadata }: SpaceRequest, place: string): string {
  return `${metadata.uid}/${place}`;
}

/** Whether a claim has or had a target: there may be workloads in its namespace. */
export function wasUsed({ metadata: { annotations }, status }: DeploymentTarget): boolean {
  const isMarked = [CLAIM_UID, LAST_CLAIM, RECYCLED].some((mark) => annotations?.[mark] !== undefined);
  return isMarked || status?.phase === 'Bound' || status?.phase === 'Released';
}

/** The reclaim policy of a target: of its claim's class, of its own class, or as recorded on it. */
export function policyFor(view: View, target: DeploymentTarget, claim = claimOf(view, target)): 'Delete' | 'Retain' {
  const policyOf = (className = ''): string | undefined => classOf(view, className)?.spec.reclaimPolicy;
  return reclaimPolicyOf(
    policyOf(claim?.spec.deploymentTargetClassName),
    policyOf(target.spec.deploymentTargetClassName),
    target.metadata.annotations?.[RECLAIM_POLICY],
  );
}

/** The reclaim policy of the class that a space request was made for; undefined if somebody else made it. */
export function policyOfRequest(view: View, request: SpaceRequest): 'Delete' | 'Retain' | undefined {
  const { [CLASS_NAME]: className, [RECLAIM_POLICY]: recorded } = request.metadata.annotations ?? {};
  return className === undefined ? undefined : reclaimPolicyOf(classOf(view, className)?.spec.reclaimPolicy, recorded);
}

/** The first valid policy; without any, nothing is deleted. */
export function reclaimPolicyOf(...sources: readonly (string | undefined)[]): 'Delete' | 'Retain' {
  return sources.find((source) => source === 'Delete' || source === 'Retain') === 'Delete' ? 'Delete' : 'Retain';
}

/** Whether a claim is or was bound. The phase is written before the annotation: a target deleted in between is lost. */
export function wasBound({ metadata, status }: DeploymentTargetClaim): boolean {
  return metadata.annotations?.[BIND_COMPLETE] !== undefined || ['Bound', 'Lost'].includes(status?.phase ?? '');
}

/** Whether a claim has a target, or one is being made for it. */
export function isProvidedFor(view: View, claim: DeploymentTargetClaim): boolean {
  const { name, namespace, uid } = claim.metadata;
  // An earlier claim of the same name may have left a namespace.
  const isOwn = ({ metadata }: Namespace): boolean => metadata.annotations?.[CLAIM_UID] === uid;
  return (
    claim.status?.phase === 'Bound' ||
    ownRequests(view, claim).length > 0 ||
    view.index(Namespaces, 'claim', `${namespace}/${name}`).some(isOwn)
  );
}
