// The objects that all new clusters have in common, as stored. Taken from a running cluster when the program is built,
// so that a start need not validate and default them again.
import { timestamp } from '../kube/times.ts';
import { randomUUID } from 'node:crypto';
import type { AnyObject } from '../kube/objects.ts';
import type { Store } from './store/store.ts';

/** Collections that are the same in every new cluster. Others hold ports, keys or node status. */
const collections = [
  'namespaces',
  'serviceaccounts',
  'clusterroles.rbac.authorization.k8s.io',
  'clusterrolebindings.rbac.authorization.k8s.io',
  'customresourcedefinitions.apiextensions.k8s.io',
];
const times = /"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"/g;

type SeedContent = Record<string, { key: string; object: AnyObject & { metadata: { uid: string } } }[]>;

/** Takes the seed of a new cluster. Clusters with the same objects give the same text. */
export function takeSeed(store: Store): string {
  const list = (collection: string) =>
    store.list(collection).map(({ key, object }) => ({ key, object: withoutUid(object) }));
  const seed = JSON.stringify(Object.fromEntries(collections.map((collection) => [collection, list(collection)])));
  return seed.replaceAll(times, '"1970-01-01T00:00:00Z"');
}

function withoutUid(object: AnyObject): AnyObject {
  const { uid: _uid, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Fills an empty store with the objects of a seed, with new UIDs and the current time. */
export async function loadSeed(store: Store, seed: string): Promise<void> {
  const now = `"${timestamp(Date.now())}"`;
  const content = JSON.parse(seed.replaceAll(times, now)) as SeedContent;
  const writes = Object.entries(content).flatMap(([collection, items]) =>
    items.map(({ key, object }) => {
      object.metadata.uid = randomUUID();
      return store.write({ collection, key, expect: 0, next: object });
    }),
  );
  await Promise.all(writes);
}
