// Installs the sample shop into an empty cluster, once: later changes by users are kept.
import { DynamicEnv } from '../api/dynamicenv.ts';
import { PLAYGROUND } from '../api/playground.ts';
import { apiVersionOf, isAlreadyExists, isNotFound } from '../kube/index.ts';
import type { AnyKind, AnyObject, Client, Kind } from '../kube/index.ts';
import { VirtualService } from '../traffic/istio/objects.ts';
import { DaemonSet, Deployment, Service, StatefulSet } from '../traffic/services.ts';
import { Namespace, NAMESPACE, shopObjects } from './shop.ts';

const FIELD_MANAGER = 'offshoot-playground';
/** Namespaces that every cluster has. */
const SYSTEM = new Set(['default', 'kube-system', 'kube-public', 'kube-node-lease']);
/** Kinds that mean that the namespace `default` is in use. */
const OCCUPYING: readonly AnyKind[] = [Deployment, StatefulSet, DaemonSet, Service, VirtualService, DynamicEnv];

/**
 * `missing`: there is no shop, or only part of one. `complete`: it was created before, and is left alone whatever has
 * changed since. `occupied`: the cluster holds something else.
 */
export async function findShop(client: Client): Promise<'missing' | 'complete' | 'occupied'> {
  const state = await stateOf(client);
  if (state === 'complete') return state;
  if (state === 'incomplete') return 'missing';
  return state === 'foreign' || (await isOccupied(client)) ? 'occupied' : 'missing';
}

/** Creates the shop, or the missing part of it after an interrupted start. */
export async function makeShop(client: Client): Promise<void> {
  await create(client, Namespace, incompleteNamespace());
  await Promise.all(shopObjects().map(({ kind, object }) => create(client, kind as Kind, object)));
  const body = { metadata: { annotations: { [PLAYGROUND]: 'complete' } } };
  await client.patch(Namespace, { name: NAMESPACE }, { type: 'merge', body }, { fieldManager: FIELD_MANAGER });
}

/** The state of the shop's namespace; undefined if it does not exist, `foreign` if we did not create it. */
async function stateOf(client: Client): Promise<'complete' | 'incomplete' | 'foreign' | undefined> {
  try {
    const { metadata } = await client.get(Namespace, { name: NAMESPACE });
    const state = metadata.annotations?.[PLAYGROUND];
    const isOurs = metadata.deletionTimestamp === undefined && (state === 'complete' || state === 'incomplete');
    return isOurs ? state : 'foreign';
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function incompleteNamespace(): AnyObject {
  const annotations = { [PLAYGROUND]: 'incomplete' };
  return { apiVersion: apiVersionOf(Namespace), kind: Namespace.kind, metadata: { name: NAMESPACE, annotations } };
}

async function isOccupied(client: Client): Promise<boolean> {
  const { items } = await client.list(Namespace, {});
  if (items.some(({ metadata }) => !SYSTEM.has(metadata.name))) return true;
  const found = await Promise.all(OCCUPYING.map((kind) => client.list(kind, { namespace: 'default' })));
  // Every cluster has the Service of its own API in `default`.
  return found.some((page) => page.items.some(({ metadata }) => metadata.name !== 'kubernetes'));
}

/** Creates an object, unless it exists. */
async function create(client: Client, kind: Kind, object: AnyObject): Promise<void> {
  try {
    await client.create(kind, object, { fieldManager: FIELD_MANAGER });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
