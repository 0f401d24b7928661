// Garbage collection: deletes objects whose owners are all gone, and handles the finalizers of foreground deletion and
// orphaning. Keys are `collection key`.
import { keyOf } from '../../../kube/objects.ts';
import type { AnyObject, KubeObject, OwnerReference } from '../../../kube/objects.ts';
import { sameJson } from '../../patch/json.ts';
import { collectionOf } from '../../registry.ts';
import type { StoreEvent } from '../../store/types.ts';
import type { Collection } from '../../kinds/types.ts';
import type { Controller } from '../loop.ts';
import type { StoreKey, World } from '../world.ts';
import { controllerManager, deleteOf, nothing, updateOf } from '../writes.ts';
import type { Plan, Write } from '../writes.ts';

const orphan = 'orphan';
const foreground = 'foregroundDeletion';

/** An owner that exists, does not exist, or is in foreground deletion and waits for its dependents. */
type OwnerState = 'present' | 'absent' | 'waiting';

/** The key of an object's owner; undefined when its kind is not served or cannot own the object. */
function keyOfOwner(world: World, object: KubeObject, owner: OwnerReference): StoreKey | undefined {
  const resource = world.resourceOfKind(owner.apiVersion, owner.kind);
  if (resource === undefined) return undefined;
  const { namespace } = object.metadata;
  if (resource.namespaced && namespace === undefined) return undefined;
  const key = keyOf({ name: owner.name, ...(resource.namespaced && { namespace: namespace! }) });
  return { collection: collectionOf(resource), key };
}

function stateOf(world: World, object: KubeObject, owner: OwnerReference): OwnerState {
  if (world.isGone(owner.uid)) return 'absent';
  const ownerKey = keyOfOwner(world, object, owner);
  if (ownerKey === undefined) return 'present';
  const found = world.get<KubeObject>(ownerKey.collection, ownerKey.key);
  if (found?.metadata.uid !== owner.uid) return 'absent';
  return isWaitingForDependents(found) ? 'waiting' : 'present';
}

/** True for an owner in foreground deletion. */
function isWaitingForDependents({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(foreground) === true;
}

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

/** Deletes an object without a present owner; otherwise removes its references to absent and waiting owners. */
function collect(world: World, object: AnyObject): readonly Write[] {
  const owners = object.metadata.ownerReferences ?? [];
  if (owners.length === 0) return [];
  const states = owners.map((owner) => ({ owner, state: stateOf(world, object, owner) }));
  const removed = states.filter(({ state }) => state !== 'present');
  if (removed.length === 0) return [];
  if (removed.length < owners.length) {
    return [updateOf(withoutOwners(object, new Set(removed.map(({ owner }) => owner.uid))))];
  }
  const foregroundNeeded =
    states.some(({ state }) => state === 'waiting') && world.dependents(object.metadata.uid).length > 0;
  return [deleteOf(object, { propagationPolicy: foregroundNeeded ? 'Foreground' : policyOf(object) })];
}

/** The propagation policy that the finalizers of an object ask for. */
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
    const ownerKey = keyOfOwner(world, stored.object, owner);
    const found = ownerKey && world.get<KubeObject>(ownerKey.collection, ownerKey.key);
    if (found !== undefined && isWaitingForDependents(found)) yield `${ownerKey!.collection} ${ownerKey!.key}`;
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
