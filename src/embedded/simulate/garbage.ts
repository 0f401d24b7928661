// Garbage collection: objects go with their last owner; a deletion that asked for it waits for dependents or lets them
// stay. Keys are `collection key`.
import { keyOf } from '../../kube/objects.ts';
import type { AnyObject, KubeObject, OwnerReference } from '../../kube/objects.ts';
import { sameJson } from '../patch/json.ts';
import { collectionOf } from '../registry.ts';
import type { StoreEvent } from '../store/types.ts';
import type { Collection } from '../kinds/types.ts';
import type { Controller } from './loop.ts';
import type { StoreKey, World } from './world.ts';
import { controllerManager, deleteOf, nothing, updateOf } from './writes.ts';
import type { Plan, Write } from './writes.ts';

const orphan = 'orphan';
const foreground = 'foregroundDeletion';

/** What an owner reference points to: an owner to stay for, one that is gone, or one that waits for this very object. */
type Owner = 'present' | 'absent' | 'waiting';

/** Where the owner of an object is; undefined when its kind is not served or cannot own the object. */
function placeOf(world: World, object: KubeObject, owner: OwnerReference): StoreKey | undefined {
  const resource = world.resourceOfKind(owner.apiVersion, owner.kind);
  if (resource === undefined) return undefined;
  const { namespace } = object.metadata;
  if (resource.namespaced && namespace === undefined) return undefined;
  const key = keyOf({ name: owner.name, ...(resource.namespaced && { namespace: namespace! }) });
  return { collection: collectionOf(resource), key };
}

function judge(world: World, object: KubeObject, owner: OwnerReference): Owner {
  if (world.isGone(owner.uid)) return 'absent';
  const place = placeOf(world, object, owner);
  if (place === undefined) return 'present';
  const found = world.get<KubeObject>(place.collection, place.key);
  if (found?.metadata.uid !== owner.uid) return 'absent';
  return isWaiting(found) ? 'waiting' : 'present';
}

/** True of an owner that is deleted once its dependents are. */
function isWaiting({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(foreground) === true;
}

/** What garbage collection wants of one object now. */
export function planGarbage(world: World, object: AnyObject): Plan {
  const { deletionTimestamp, finalizers = [], uid } = object.metadata;
  if (deletionTimestamp === undefined) return { writes: collect(world, object) };
  const dependents = world.dependents(uid);
  if (finalizers.includes(orphan)) {
    const freed = dependents.map((dependent) => updateOf(withoutOwners(dependent, new Set([uid!]))));
    return { writes: [...freed, updateOf(withoutFinalizer(object, orphan))] };
  }
  if (!finalizers.includes(foreground)) return nothing;
  const blocking = dependents.filter((dependent) =>
    dependent.metadata.ownerReferences?.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true),
  );
  const writes = dependents
    .filter((dependent) => dependent.metadata.deletionTimestamp === undefined)
    .flatMap((dependent) => collect(world, dependent));
  return { writes: blocking.length > 0 ? writes : [...writes, updateOf(withoutFinalizer(object, foreground))] };
}

/** Deletes an object whose owners are all gone or waiting, or takes those off its list while others stay. */
function collect(world: World, object: AnyObject): readonly Write[] {
  const owners = object.metadata.ownerReferences ?? [];
  if (owners.length === 0) return [];
  const judged = owners.map((owner) => ({ owner, is: judge(world, object, owner) }));
  const leaving = judged.filter(({ is }) => is !== 'present');
  if (leaving.length === 0) return [];
  if (leaving.length < owners.length) {
    return [updateOf(withoutOwners(object, new Set(leaving.map(({ owner }) => owner.uid))))];
  }
  const waited = judged.some(({ is }) => is === 'waiting') && world.dependents(object.metadata.uid).length > 0;
  return [deleteOf(object, { propagationPolicy: waited ? 'Foreground' : policyOf(object) })];
}

/** How an object wants its own dependents treated. */
function policyOf({ metadata }: KubeObject): 'Orphan' | 'Foreground' | 'Background' {
  if (metadata.finalizers?.includes(orphan) === true) return 'Orphan';
  return metadata.finalizers?.includes(foreground) === true ? 'Foreground' : 'Background';
}

function withoutOwners(object: AnyObject, uids: ReadonlySet<string>): AnyObject {
  const ownerReferences = object.metadata.ownerReferences?.filter((owner) => !uids.has(owner.uid)) ?? [];
  return { ...object, metadata: { ...object.metadata, ownerReferences } };
}

function withoutFinalizer(object: AnyObject, finalizer: string): AnyObject {
  const finalizers = object.metadata.finalizers?.filter((one) => one !== finalizer) ?? [];
  return { ...object, metadata: { ...object.metadata, finalizers } };
}

function* wake({ type, stored, previous }: StoreEvent, world: World): Iterable<string> {
  const { metadata } = stored.object;
  const owners = metadata.ownerReferences ?? [];
  const ownersChanged = !sameJson(previous?.object.metadata.ownerReferences ?? [], owners);
  if (type === 'DELETED') {
    for (const dependent of world.dependents(metadata.uid)) {
      const collection = world.collectionOfObject(dependent);
      if (collection !== undefined) yield `${collection} ${keyOf(dependent.metadata)}`;
    }
  } else if (metadata.deletionTimestamp !== undefined ? (metadata.finalizers ?? []).length > 0 : ownersChanged) {
    yield `${stored.collection} ${stored.key}`;
  }
  if (type !== 'DELETED' && !ownersChanged) return;
  for (const owner of [...owners, ...(previous?.object.metadata.ownerReferences ?? [])]) {
    const place = placeOf(world, stored.object, owner);
    const found = place && world.get<KubeObject>(place.collection, place.key);
    if (found !== undefined && isWaiting(found)) yield `${place!.collection} ${place!.key}`;
  }
}

export const garbageCollector: Controller = {
  name: 'generic-garbage-collector',
  writer: controllerManager('generic-garbage-collector'),
  on: { '*': wake },
  plan: (world, key) => {
    const space = key.indexOf(' ');
    const collection: Collection = key.slice(0, space);
    const object = world.get(collection, key.slice(space + 1));
    return object === undefined ? nothing : planGarbage(world, object);
  },
};
