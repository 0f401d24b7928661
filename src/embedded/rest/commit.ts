// The last step of every write: into the store, or, in a dry run, not.
import type { AnyObject } from '../../kube/objects.ts';
import { collectionOf } from '../registry.ts';
import { storedFromObject } from '../store/stored.ts';
import type { Store } from '../store/store.ts';
import type { Stored } from '../store/types.ts';
import { keyOf } from './context.ts';
import type { Cluster, Target, WriteOptions } from './context.ts';
import { storedForm } from '../conversion/forms.ts';
import { Fault, invalid } from './fault.ts';
import { rulesOf } from './rules/index.ts';

const objectLimit = 1.5 * 1024 * 1024;

/** Replaces the old state by the next one; rejects with `VersionConflict` when the old state is not current any more. */
export function commit(
  cluster: Cluster,
  target: Target,
  old: Stored | undefined,
  next: AnyObject | undefined,
  options: WriteOptions,
): Promise<Stored> {
  const collection = collectionOf(target.resource);
  const key = keyOf(target);
  const write = (form: AnyObject | undefined): Promise<Stored> => {
    if (form !== undefined && roughSize(form) > objectLimit) {
      throw new Fault(413, 'RequestEntityTooLarge', `the object is too large: the limit is ${objectLimit} bytes`);
    }
    if (options.dryRun) return Promise.resolve(unwritten(collection, key, old, form ?? old!.object));
    return cluster.store.write({ collection, key, expect: old?.version ?? 0, next: form });
  };
  const form = next === undefined ? undefined : storedForm(cluster, next, target.resource);
  return form instanceof Promise ? form.then(write) : write(form);
}

/** Commits one after the other, and looks once more at what those before have taken in the meantime. */
const turns = new WeakMap<Store, Promise<unknown>>();

/** The same for an object that may take what only one can have, such as an address. */
export async function commitInTurn(
  cluster: Cluster,
  target: Target,
  old: Stored | undefined,
  next: AnyObject,
  options: WriteOptions,
): Promise<Stored> {
  const { exclusive, problems } = rulesOf(target.resource);
  if (exclusive !== true) return commit(cluster, target, old, next, options);
  const turn = afterwards(turns.get(cluster.store), () => {
    const found = problems?.(next, old?.object, cluster) ?? [];
    if (found.length > 0) throw invalid(target.resource, target.name, found);
    return commit(cluster, target, old, next, options);
  });
  // One that fails is nothing to those that come after it.
  turns.set(
    cluster.store,
    turn.catch(() => undefined),
  );
  return turn;
}

/** Works once the work before, if any, is done. */
export async function afterwards<T>(before: Promise<unknown> | undefined, work: () => Promise<T>): Promise<T> {
  await before;
  return work();
}

/** What the store would hold, without the version that only the store gives. */
function unwritten(collection: string, key: string, old: Stored | undefined, object: AnyObject): Stored {
  if (old !== undefined) return storedFromObject(collection, key, old.version, object);
  const { resourceVersion: _version, ...metadata } = object.metadata;
  const frozen = Object.freeze({ ...object, metadata });
  return { collection, key, version: 0, object: frozen, bytes: Buffer.from(JSON.stringify(frozen)) };
}

/** About how many bytes an object takes as JSON, without writing it down. */
function roughSize(value: unknown): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 5;
  let size = 2;
  if (Array.isArray(value)) for (const item of value) size += roughSize(item) + 1;
  else for (const [name, part] of Object.entries(value)) size += name.length + 4 + roughSize(part);
  return size;
}
