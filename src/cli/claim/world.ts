// Reads what belongs to a claim or a target from the cluster: space requests, namespaces, Secrets, what happened to them.
// What may not be read is left out, or marked as hidden where people would otherwise take it for missing.
import { SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from '../../api/targets.ts';
import type { Client } from '../../kube/client/client.ts';
import type { Event } from '../../kube/events.ts';
import { keyOf } from '../../kube/objects.ts';
import type { Kind, KubeObject, Ref } from '../../kube/objects.ts';
import { claimNameOf, refersTo } from '../../targets/claim-ref.ts';
import {
  CLAIM_LABEL,
  CLAIM_UID,
  LABEL_LENGTH,
  NAMESPACE_PROVISIONER,
  OF_CLAIM,
  PROVISIONED_BY,
  TARGET_LABEL,
} from '../../targets/names.ts';
import { MADE_BY, MADE_BY_LABEL } from '../../targets/namespaces/names.ts';
import { Namespace, Secret } from '../../targets/objects.ts';
import { listAll } from '../objects/follow.ts';
import { readable, visible } from '../objects/readable.ts';
import { eventsAbout, inOrder } from '../objects/recent-events.ts';

/** A place to deploy to, or what there is of it so far. */
export interface Place {
  readonly target: DeploymentTarget | undefined;
  readonly requests: readonly SpaceRequest[];
  /** Those of this cluster, by name. */
  readonly namespaces: ReadonlyMap<string, Namespace | 'hidden'>;
  /** Those beside the target, by name. */
  readonly secrets: ReadonlyMap<string, Secret | 'hidden'>;
  /** About any part of it; the latest last. */
  readonly events: readonly Event[];
}

export interface ClaimWorld extends Place {
  readonly claim: DeploymentTargetClaim;
  readonly ofClass: DeploymentTargetClass | undefined;
}

export interface TargetWorld extends Place {
  readonly target: DeploymentTarget;
  readonly claim: DeploymentTargetClaim | undefined;
}

/** The labels of namespaces that were made into targets without a space request. */
export const MADE_NAMESPACES = `${MADE_BY_LABEL}=${MADE_BY}`;

/** Reads the world of a claim. */
export async function readClaim(client: Client, claim: DeploymentTargetClaim): Promise<ClaimWorld> {
  const { namespace } = claim.metadata;
  const className = claim.spec.deploymentTargetClassName;
  const [ofClass, target, requests] = await Promise.all([
    className === '' ? undefined : readable(client.get(DeploymentTargetClass, { name: className })),
    targetOf(client, claim),
    requestsLabelled(client, namespace!, CLAIM_LABEL, claim.metadata.name),
  ]);
  const own = requests.filter((request) => isMadeFor(claim, request));
  // A target names its namespace; until there is one, the namespace names the claim.
  const made = target === undefined ? await namespacesOf(client, claim) : [];
  return { claim, ofClass, ...(await readPlace(client, claim, target, own, made)) };
}

/** The target that a claim names or, before it does, the one that refers to it. */
export async function targetOf(client: Client, claim: DeploymentTargetClaim): Promise<DeploymentTarget | undefined> {
  const { namespace } = claim.metadata;
  const { targetName = '' } = claim.spec;
  if (targetName !== '') return readable(client.get(DeploymentTarget, { name: targetName, namespace }));
  const targets = await readable(listAll(client, DeploymentTarget, { namespace: namespace! }));
  return targets?.find((target) => refersTo(target, claim));
}

async function namespacesOf(client: Client, claim: DeploymentTargetClaim): Promise<readonly string[]> {
  const made = await readable(listAll(client, Namespace, { labelSelector: MADE_NAMESPACES }));
  return (made ?? []).filter((each) => isNamespaceOf(claim, each)).map(({ metadata }) => metadata.name);
}

/** Reads the world of a target. */
export async function readTarget(client: Client, target: DeploymentTarget): Promise<TargetWorld> {
  const { name, namespace } = target.metadata;
  const claimName = claimNameOf(target);
  const [claim, requests] = await Promise.all([
    claimName === '' ? undefined : readable(client.get(DeploymentTargetClaim, { name: claimName, namespace })),
    requestsLabelled(client, namespace!, TARGET_LABEL, name),
  ]);
  const place = await readPlace(client, target, target, requests, []);
  return { ...place, target, claim: claim !== undefined && refersTo(target, claim) ? claim : undefined };
}

/** Whether a request was made for this very claim, not for an earlier one of the name. */
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

async function readPlace(
  client: Client,
  root: KubeObject,
  target: DeploymentTarget | undefined,
  requests: readonly SpaceRequest[],
  madeNamespaces: readonly string[],
): Promise<Place> {
  const { namespace } = root.metadata;
  const access = requests.flatMap(({ status }) => status?.namespaceAccess ?? []);
  const credentials = target?.spec.kubernetesCredentials;
  const ofTarget = target !== undefined && isNamespaceTarget(target) ? [credentials!.defaultNamespace] : [];
  const about = [root, ...(target === undefined || target === root ? [] : [target]), ...requests];
  const [namespaces, secrets, events] = await Promise.all([
    getAll(
      client,
      Namespace,
      [...access.map(({ name }) => name), ...ofTarget, ...madeNamespaces].map((name) => ({ name })),
    ),
    getAll(
      client,
      Secret,
      [...access.map(({ secretRef }) => secretRef), credentials?.clusterCredentialsSecret ?? ''].map((name) => ({
        name,
        namespace,
      })),
    ),
    Promise.all(about.map((each) => eventsAbout(client, each))),
  ]);
  return { target, requests, namespaces, secrets, events: inOrder(events.flat()) };
}

async function requestsLabelled(
  client: Client,
  namespace: string,
  label: string,
  value: string,
): Promise<readonly SpaceRequest[]> {
  // What does not fit into a label was never written into one.
  if (value.length > LABEL_LENGTH) return [];
  return (await readable(listAll(client, SpaceRequest, { namespace, labelSelector: `${label}=${value}` }))) ?? [];
}

async function getAll<T extends KubeObject>(
  client: Client,
  kind: Kind<T>,
  refs: readonly Ref[],
): Promise<ReadonlyMap<string, T | 'hidden'>> {
  const unique = new Map(refs.filter(({ name }) => name !== '').map((ref) => [ref.name, ref]));
  const found = await Promise.all(
    [...unique].map(async ([name, ref]) => [name, await visible(client.get(kind, ref))] as const),
  );
  return new Map(found.flatMap(([name, object]) => (object === undefined ? [] : [[name, object] as const])));
}
