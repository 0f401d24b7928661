// What belongs to a claim or a target: space requests, namespaces, Secrets and their Events. What may not be read is
// left out, or marked as hidden where it would otherwise look missing.
import { eventsAbout, latestLast } from '../../api/description/events.ts';
import { visible } from '../../api/description/reader.ts';
import type { ObjectReader } from '../../api/description/reader.ts';
import { SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from '../../api/targets.ts';
import type { Event } from '../../kube/events.ts';
import { keyOf } from '../../kube/objects.ts';
import type { Kind, KubeObject, Ref } from '../../kube/objects.ts';
import { claimNameOf, refersTo } from '../claim-ref.ts';
import {
  CLAIM_LABEL,
  CLAIM_UID,
  fitsLabel,
  NAMESPACE_PROVISIONER,
  OF_CLAIM,
  PROVISIONED_BY,
  TARGET_LABEL,
} from '../names.ts';
import { MADE_BY, MADE_BY_LABEL } from '../namespaces/names.ts';
import { Namespace, Secret } from '../objects.ts';
import { targetNameOn } from '../target-name.ts';

/** A target and what stands behind it, as far as it exists. */
export interface TargetParts {
  readonly target: DeploymentTarget | undefined;
  readonly requests: readonly SpaceRequest[];
  /** Namespaces of this cluster, by name. */
  readonly namespaces: ReadonlyMap<string, Namespace | 'hidden'>;
  /** Secrets in the namespace of the target, by name. */
  readonly secrets: ReadonlyMap<string, Secret | 'hidden'>;
  /** Events about any part, latest last. */
  readonly events: readonly Event[];
}

export interface ClaimWorld extends TargetParts {
  readonly claim: DeploymentTargetClaim;
  readonly ofClass: DeploymentTargetClass | undefined;
}

export interface TargetWorld extends TargetParts {
  readonly target: DeploymentTarget;
  readonly claim: DeploymentTargetClaim | undefined;
}

/** Selects namespaces that were made for targets without a space request. */
export const MADE_NAMESPACES = `${MADE_BY_LABEL}=${MADE_BY}`;

/** Reads the world of a claim. */
export function claimWorld(read: ObjectReader, claim: DeploymentTargetClaim): ClaimWorld {
  const { name, namespace } = claim.metadata;
  const className = claim.spec.deploymentTargetClassName;
  const target = targetOf(read, claim);
  const requests = requestsLabelled(read, namespace!, CLAIM_LABEL, name).filter((each) => isMadeFor(claim, each));
  // A target names its namespace; until there is one, the namespace names the claim.
  const made = target === undefined ? namespacesOf(read, claim) : [];
  return {
    claim,
    ofClass: className === '' ? undefined : visible(read.get(DeploymentTargetClass, { name: className })),
    ...targetParts(read, claim, target, requests, made),
  };
}

/** The target that a claim names or, before it does, the one that refers to it. */
export function targetOf(read: ObjectReader, claim: DeploymentTargetClaim): DeploymentTarget | undefined {
  const { namespace } = claim.metadata;
  const { targetName = '' } = claim.spec;
  if (targetName !== '') return visible(read.get(DeploymentTarget, { name: targetName, namespace: namespace! }));
  return read.list(DeploymentTarget, { namespace: namespace! }).find((target) => refersTo(target, claim));
}

function namespacesOf(read: ObjectReader, claim: DeploymentTargetClaim): readonly string[] {
  const made = read.list(Namespace, { labelSelector: MADE_NAMESPACES });
  return made.filter((each) => isNamespaceOf(claim, each)).map(({ metadata }) => metadata.name);
}

/** Reads the world of a target. */
export function targetWorld(read: ObjectReader, target: DeploymentTarget): TargetWorld {
  const { namespace } = target.metadata;
  const claimName = claimNameOf(target);
  const claim =
    claimName === '' ? undefined : visible(read.get(DeploymentTargetClaim, { name: claimName, namespace: namespace! }));
  const requests = requestsOf(read, target);
  return {
    ...targetParts(read, target, target, requests, []),
    target,
    claim: claim !== undefined && refersTo(target, claim) ? claim : undefined,
  };
}

/** Whether a request was made for this very claim, not for an earlier one of the same name. */
export function isMadeFor(claim: DeploymentTargetClaim, { metadata }: SpaceRequest): boolean {
  const uid = metadata.annotations?.[CLAIM_UID];
  return uid === undefined || uid === claim.metadata.uid;
}

/** Whether a namespace was made for this very claim. */
export function isNamespaceOf(claim: DeploymentTargetClaim, { metadata }: Namespace): boolean {
  const { [OF_CLAIM]: key, [CLAIM_UID]: uid } = metadata.annotations ?? {};
  return key === keyOf(claim.metadata) && uid === claim.metadata.uid;
}

/** Whether the namespace of a target is one that was made for it in this cluster, without a space request. */
export function isNamespaceTarget({ metadata }: DeploymentTarget): boolean {
  return metadata.annotations?.[PROVISIONED_BY] === NAMESPACE_PROVISIONER;
}

function targetParts(
  read: ObjectReader,
  root: KubeObject,
  target: DeploymentTarget | undefined,
  requests: readonly SpaceRequest[],
  madeNamespaces: readonly string[],
): TargetParts {
  const namespace = root.metadata.namespace!;
  const access = requests.flatMap(({ status }) => status?.namespaceAccess ?? []);
  const credentials = target?.spec.kubernetesCredentials;
  const ofTarget = target !== undefined && isNamespaceTarget(target) ? [credentials!.defaultNamespace] : [];
  const about = [root, ...(target === undefined || target === root ? [] : [target]), ...requests];
  const namespaceNames = [...access.map(({ name }) => name), ...ofTarget, ...madeNamespaces];
  const secretNames = [...access.map(({ secretRef }) => secretRef), credentials?.clusterCredentialsSecret ?? ''];
  return {
    target,
    requests,
    namespaces: byName(
      read,
      Namespace,
      namespaceNames.map((name) => ({ name })),
    ),
    secrets: byName(
      read,
      Secret,
      secretNames.map((name) => ({ name, namespace })),
    ),
    events: latestLast(about.flatMap((each) => eventsAbout(read, each))),
  };
}

/** The space requests that name a target. */
function requestsOf(read: ObjectReader, { metadata: { name, namespace } }: DeploymentTarget): readonly SpaceRequest[] {
  if (fitsLabel(name)) return requestsLabelled(read, namespace!, TARGET_LABEL, name);
  return read.list(SpaceRequest, { namespace: namespace! }).filter((request) => targetNameOn(request) === name);
}

function requestsLabelled(
  read: ObjectReader,
  namespace: string,
  label: string,
  value: string,
): readonly SpaceRequest[] {
  // A value that does not fit into a label was never written into one.
  if (!fitsLabel(value)) return [];
  return read.list(SpaceRequest, { namespace, labelSelector: `${label}=${value}` });
}

function byName<T extends KubeObject>(
  read: ObjectReader,
  kind: Kind<T>,
  refs: readonly Ref[],
): ReadonlyMap<string, T | 'hidden'> {
  const found = refs.filter(({ name }) => name !== '').map((ref) => [ref.name, read.get(kind, ref)] as const);
  return new Map(found.flatMap(([name, object]) => (object === undefined ? [] : [[name, object] as const])));
}
