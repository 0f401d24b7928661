// Puts the sample shop into a cluster that holds nothing else, once: what people make of it afterwards stays as it is.
import { DynamicEnv } from '../api/dynamicenv.ts';
import { PLAYGROUND } from '../api/playground.ts';
import { apiVersionOf, isAlreadyExists, isNotFound } from '../kube/index.ts';
import type { AnyKind, AnyObject, Client, Kind } from '../kube/index.ts';
import { VirtualService } from '../traffic/istio/objects.ts';
import { DaemonSet, Deployment, Service, StatefulSet } from '../traffic/services.ts';
import { Namespace, NAMESPACE, shopObjects } from './shop.ts';

const FIELD_MANAGER = 'offshoot-playground';
/** Those that every cluster has. */
const SYSTEM = new Set(['default', 'kube-system', 'kube-public', 'kube-node-lease']);
/** What people put into the namespace that they are given. */
const OCCUPYING: readonly AnyKind[] = [Deployment, StatefulSet, DaemonSet, Service, VirtualService, DynamicEnv];

/**
 * `missing`: nothing is there, or not all of a shop. `complete`: it has been made before, and whatever became of it is to
 * be left alone. `occupied`: there is something else in the cluster.
 */
export async function findShop(client: Client): Promise<'missing' | 'complete' | 'occupied'> {
  const state = await stateOf(client);
  if (state === 'complete') return state;
  if (state === 'incomplete') return 'missing';
  return state === 'foreign' || (await isOccupied(client)) ? 'occupied' : 'missing';
}

/** Makes the shop, or what is missing of it: a start that was cut off is finished by the next. */
export async function makeShop(client: Client): Promise<void> {
  await create(client, Namespace, incompleteNamespace());
  await Promise.all(shopObjects().map(({ kind, object }) => create(client, kind as Kind, object)));
  const body = { metadata: { annotations: { [PLAYGROUND]: 'complete' } } };
  await client.patch(Namespace, { name: NAMESPACE }, { type: 'merge', body }, { fieldManager: FIELD_MANAGER });
}

/** How far the shop has come; undefined if there is none, and `foreign` where the namespace is somebody else's. */
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
  // Every cluster has the Service of its own API there.
  return found.some((page) => page.items.some(({ metadata }) => metadata.name !== 'kubernetes'));
}

/** Makes an object; one that is there already is left as it is. */
async function create(client: Client, kind: Kind, object: AnyObject): Promise<void> {
  try {
    await client.create(kind, object, { fieldManager: FIELD_MANAGER });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
