// The last step of every write: stores the object, except in a dry run.
import type { AnyObject } from '../../../kube/objects.ts';
import { collectionOf } from '../../registry.ts';
import { storedFromObject } from '../../store/stored.ts';
import type { Store } from '../../store/store.ts';
import type { Stored } from '../../store/types.ts';
import { keyOf } from '../context.ts';
import type { Cluster, Target, WriteOptions } from '../context.ts';
import { storedForm } from '../../conversion/forms.ts';
import { Fault, invalid } from '../fault.ts';
import { rulesOf } from '../rules/index.ts';

const objectLimit = 1.5 * 1024 * 1024;

/** Replaces the old state with the next one; rejects with `VersionConflict` when the old state is not current. */
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
    if (options.dryRun) return Promise.resolve(dryRunResult(collection, key, old, form ?? old!.object));
    return cluster.store.write({ collection, key, expect: old?.version ?? 0, next: form });
  };
  const form = next === undefined ? undefined : storedForm(cluster, next, target.resource);
  return form instanceof Promise ? form.then(write) : write(form);
}

/** The last exclusive commit of each store. */
const turns = new WeakMap<Store, Promise<unknown>>();

/**
 * Like `commit`. Objects of kinds that allocate unique values, such as addresses, are committed one after the other and
 * checked again for conflicts with the commits before.
 */
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
  // A failed commit does not affect the next ones.
  turns.set(
    cluster.store,
    turn.catch(() => undefined),
  );
  return turn;
}

/** Runs `work` after `before` is done. */
export async function afterwards<T>(before: Promise<unknown> | undefined, work: () => Promise<T>): Promise<T> {
  await before;
  return work();
}

/** The object as the store would hold it; a new one has no resource version. */
function dryRunResult(collection: string, key: string, old: Stored | undefined, object: AnyObject): Stored {
  if (old !== undefined) return storedFromObject(collection, key, old.version, object);
  const { resourceVersion: _version, ...metadata } = object.metadata;
  const frozen = Object.freeze({ ...object, metadata });
  return {
    collection,
    key,
    version: 0,
    apiVersion: frozen.apiVersion,
    object: frozen,
    bytes: Buffer.from(JSON.stringify(frozen)),
  };
}

/** Estimates the size of a value as JSON, without encoding it. */
function roughSize(value: unknown): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 5;
  let size = 2;
  if (Array.isArray(value)) for (const item of value) size += roughSize(item) + 1;
  else for (const [name, part] of Object.entries(value)) size += name.length + 4 + roughSize(part);
  return size;
}
