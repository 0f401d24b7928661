// Converts objects between API versions, on every read from and write to the store.
//
// Only webhooks are asynchronous. `ensureConverted` calls them in advance, so that `servedObject` can be synchronous.
import { stringifyJson } from '../../kube/json.ts';
import type { AnyObject } from '../../kube/objects.ts';
import { deepFreeze } from '../../watchable/index.ts';
import { convertObject, decodeObject, pruneObject } from '../kinds/index.ts';
import { apiVersionOf, storedApiVersionOf } from '../registry.ts';
import type { Resource } from '../resource.ts';
import type { Cluster } from '../rest/context.ts';
import type { Stored } from '../store/types.ts';
import { convertByWebhook } from './review.ts';

interface Form {
  readonly object: AnyObject;
  bytes?: Buffer;
}

/** By resource, not by version: a changed definition may convert differently. */
const forms = new WeakMap<Stored, WeakMap<Resource, Form>>();
/** Conversions in progress, shared by all who wait for them. */
const pending = new WeakMap<Stored, WeakMap<Resource, Promise<void>>>();

/** A stored object in the API version of the resource. */
export function servedObject(stored: Stored, resource: Resource): AnyObject {
  return isServedAsStored(stored, resource) ? stored.object : formOf(stored, resource).object;
}

/** The JSON of a stored object in the API version of the resource, cached. */
export function servedBytes(stored: Stored, resource: Resource): Buffer {
  if (isServedAsStored(stored, resource)) return stored.bytes;
  const form = formOf(stored, resource);
  return (form.bytes ??= Buffer.from(stringifyJson(form.object)));
}

function isServedAsStored(stored: Stored, resource: Resource): boolean {
  return isInVersion(stored, resource) && stored.version >= (resource.conversion?.since ?? 0);
}

function isInVersion(stored: Stored, resource: Resource): boolean {
  return stored.apiVersion === apiVersionOf(resource);
}

/** A stored object, pruned and defaulted by the current schema of its version if the schema is newer. */
function withCurrentSchema(stored: Stored, resource: Resource): AnyObject {
  const { object } = stored;
  const { schemas, since = 0 } = resource.conversion ?? {};
  const schema = stored.version < since ? schemas?.get(object.apiVersion) : undefined;
  return schema === undefined ? object : (decodeObject({ ...resource, schema }, object).value as AnyObject);
}

function formOf(stored: Stored, resource: Resource): Form {
  const known = forms.get(stored)?.get(resource);
  if (known !== undefined) return known;
  if (resource.conversion?.webhook !== undefined && !isInVersion(stored, resource)) {
    throw new Error(`${stored.collection} "${stored.key}" is read before its webhook has converted it`);
  }
  return keep(stored, resource, inVersion(withCurrentSchema(stored, resource), resource, apiVersionOf(resource)));
}

function keep(stored: Stored, resource: Resource, object: AnyObject): Form {
  const form = { object: deepFreeze(object) };
  slot(forms, stored).set(resource, form);
  return form;
}

function slot<T>(map: WeakMap<Stored, WeakMap<Resource, T>>, stored: Stored): WeakMap<Resource, T> {
  let inner = map.get(stored);
  if (inner === undefined) map.set(stored, (inner = new WeakMap()));
  return inner;
}

/** Limits of one review. */
const reviewObjects = 100;
const reviewBytes = 1024 * 1024;

/**
 * Calls the conversion webhook for objects that the resource is about to serve; returns undefined when there is nothing
 * to wait for. `fresh` ignores the cache, because the webhook may have changed.
 */
export function ensureConverted(
  cluster: Pick<Cluster, 'hooks'>,
  items: readonly Stored[],
  resource: Resource,
  fresh = false,
): Promise<void> | undefined {
  if (resource.conversion?.webhook === undefined) return undefined;
  const waits: Promise<void>[] = [];
  let batch: Stored[] = [];
  let size = 0;
  const ask = (): void => {
    const wait = review(cluster, batch, resource);
    for (const stored of batch) slot(pending, stored).set(resource, wait);
    waits.push(wait);
    batch = [];
    size = 0;
  };
  // A set, because the state after one event is also the state before the next.
  for (const stored of new Set(items)) {
    if (isInVersion(stored, resource) || (!fresh && forms.get(stored)?.has(resource) === true)) continue;
    const wait = fresh ? undefined : pending.get(stored)?.get(resource);
    if (wait !== undefined) {
      waits.push(wait);
      continue;
    }
    batch.push(stored);
    size += stored.bytes.length;
    if (batch.length === reviewObjects || size >= reviewBytes) ask();
  }
  if (batch.length > 0) ask();
  return waits.length === 0 ? undefined : Promise.all(waits).then(() => undefined);
}

async function review(cluster: Pick<Cluster, 'hooks'>, batch: readonly Stored[], resource: Resource): Promise<void> {
  try {
    const objects = batch.map((stored) => withCurrentSchema(stored, resource));
    const converted = await byWebhook(cluster, objects, resource, apiVersionOf(resource));
    for (const [index, stored] of batch.entries()) keep(stored, resource, converted[index]!);
  } finally {
    for (const stored of batch) pending.get(stored)?.delete(resource);
  }
}

/** Converts an object to another version; returns a promise only when a webhook must be called. */
export function convert(
  cluster: Pick<Cluster, 'hooks'>,
  object: AnyObject,
  resource: Resource,
  apiVersion: string,
): AnyObject | Promise<AnyObject> {
  if (object.apiVersion === apiVersion) return object;
  if (resource.conversion?.webhook === undefined) return inVersion(object, resource, apiVersion);
  return byWebhook(cluster, [object], resource, apiVersion).then(([converted]) => converted!);
}

/** Converts an object to the storage version. */
export function storedForm(
  cluster: Pick<Cluster, 'hooks'>,
  object: AnyObject,
  resource: Resource,
): AnyObject | Promise<AnyObject> {
  const storedVersion = storedApiVersionOf(resource);
  const form = convert(cluster, object, resource, storedVersion);
  const schema = resource.conversion?.schemas.get(storedVersion);
  if (schema === undefined || form === object) return form;
  const complete = (value: AnyObject): AnyObject =>
    decodeObject({ ...resource, schema, version: resource.stored!.version }, value).value as AnyObject;
  return form instanceof Promise ? form.then(complete) : complete(form);
}

async function byWebhook(
  cluster: Pick<Cluster, 'hooks'>,
  objects: readonly AnyObject[],
  resource: Resource,
  apiVersion: string,
): Promise<AnyObject[]> {
  const resolve = cluster.hooks.resolveService ?? (() => undefined);
  const converted = await convertByWebhook(resource.conversion!.webhook!, objects, apiVersion, resolve);
  return converted.map((object) => pruned(object, resource, apiVersion));
}

function inVersion(object: AnyObject, resource: Resource, apiVersion: string): AnyObject {
  return pruned(convertObject(object, apiVersion) as AnyObject, resource, apiVersion);
}

/** Removes fields that the version does not have. */
function pruned(object: AnyObject, resource: Resource, apiVersion: string): AnyObject {
  const schema = resource.conversion?.schemas.get(apiVersion);
  return schema === undefined ? object : (pruneObject(schema, object) as AnyObject);
}
