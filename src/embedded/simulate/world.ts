// What the simulated controllers read: the store, with indexes by owner, label and selector. Every event updates the
// indexes, so that no controller has to scan a whole collection.
import type { AnyObject, KubeObject } from '../../kube/objects.ts';
import { matches } from '../../kube/selector.ts';
import type { Selector } from '../../kube/selector.ts';
import { collectionOf, storedApiVersionOf, apiVersionOf } from '../registry.ts';
import type { Registry } from '../registry.ts';
import type { Resource } from '../resource.ts';
import type { Store } from '../store/store.ts';
import type { Stored, StoreEvent } from '../store/types.ts';
import type { Collection, Labels } from '../kinds/types.ts';
import { SelectorIndex } from './selector-index.ts';

export interface StoreKey {
  readonly collection: string;
  readonly key: string;
}

/** Reads the selector of an object; undefined when it selects nothing. */
export type SelectorReader = (object: AnyObject) => Selector | undefined;

/** Collections with an index by label. */
const indexedByLabel = new Set(['pods', 'replicasets.apps']);

export class World {
  readonly #store: Store;
  readonly #registry: Registry;
  readonly #now: () => number;
  readonly #dependents = new Map<string, Map<string, StoreKey>>();
  /** The uids of deleted objects that others still name as owners. */
  readonly #gone = new Set<string>();
  readonly #byLabel = new Map<string, Set<string>>();
  readonly #selectors = new Map<string, { readonly read: SelectorReader; readonly index: SelectorIndex }>();
  #resources: { readonly generation: number; readonly byCollection: ReadonlyMap<string, Resource> } | undefined;

  constructor(
    store: Store,
    registry: Registry,
    now: () => number,
    selectors: Readonly<Record<string, SelectorReader>>,
  ) {
    this.#store = store;
    this.#registry = registry;
    this.#now = now;
    for (const [collection, read] of Object.entries(selectors)) {
      this.#selectors.set(collection, { read, index: new SelectorIndex() });
    }
  }

  /** The time in milliseconds. */
  now(): number {
    return this.#now();
  }

  get<T extends KubeObject>(collection: Collection<T>, key: string): T | undefined {
    return this.#store.get(collection, key)?.object as unknown as T | undefined;
  }

  list<T extends KubeObject>(collection: Collection<T>, namespace?: string): T[] {
    const options = namespace === undefined ? {} : { namespace };
    return this.#store.list(collection, options).map((stored) => stored.object as unknown as T);
  }

  /** How many objects of a collection are in a namespace. */
  count(collection: string, namespace: string): number {
    return this.#store.list(collection, { namespace }).length;
  }

  /** Every object that names this one as an owner. */
  dependents(uid: string | undefined): AnyObject[] {
    const storeKeys = [...(this.#dependents.get(uid ?? '')?.values() ?? [])];
    return storeKeys.flatMap(({ collection, key }) => this.get<AnyObject>(collection, key) ?? []);
  }

  /** True for an owner that was deleted, even if its kind is no longer served. */
  isGone(uid: string): boolean {
    return this.#gone.has(uid);
  }

  /** The objects of a collection that this one controls. */
  controlled<T extends KubeObject>(collection: Collection<T>, uid: string | undefined): T[] {
    const found: T[] = [];
    for (const storeKey of this.#dependents.get(uid ?? '')?.values() ?? []) {
      if (storeKey.collection !== collection) continue;
      const object = this.get(collection, storeKey.key);
      if (object !== undefined && controllerOf(object)?.uid === uid) found.push(object);
    }
    return found;
  }

  /** The objects of a namespace that a selector matches; only for pods and replica sets. */
  selected<T extends KubeObject>(collection: Collection<T>, namespace: string, selector: Selector): T[] {
    const found: T[] = [];
    for (const key of this.#candidates(collection, namespace, selector)) {
      const object = this.get(collection, key);
      if (object !== undefined && matches(selector, object.metadata.labels)) found.push(object);
    }
    return found;
  }

  /** The keys of the objects of a collection whose selectors match these labels. */
  selecting(collection: string, namespace: string, labels: Labels | undefined): string[] {
    return this.#selectors.get(collection)?.index.matching(namespace, labels) ?? [];
  }

  /** The resource of a collection, in its storage version. */
  resource(collection: string): Resource | undefined {
    return this.#collections().get(collection);
  }

  /** The resource of an object's kind. */
  resourceOfKind(apiVersion: string, kind: string): Resource | undefined {
    const slash = apiVersion.indexOf('/');
    const group = slash < 0 ? '' : apiVersion.slice(0, slash);
    return this.#registry.findKind(group, apiVersion.slice(slash + 1), kind);
  }

  /** The collection that an object is in. */
  collectionOfObject({ apiVersion, kind }: KubeObject): string | undefined {
    const resource = this.resourceOfKind(apiVersion, kind);
    return resource && collectionOf(resource);
  }

  /** All collections that are served. */
  collections(): readonly string[] {
    return [...this.#collections().keys()];
  }

  /** Indexes an object that existed before the simulation started. */
  add(stored: Stored): void {
    this.#index(stored);
  }

  /** Updates the indexes after a change of the store. */
  observe(event: StoreEvent): void {
    if (event.previous !== undefined) this.#unindex(event.previous);
    if (event.type !== 'DELETED') return this.#index(event.stored);
    const { uid = '' } = event.stored.object.metadata;
    if (this.#dependents.has(uid)) this.#gone.add(uid);
    this.#selectors.get(event.stored.collection)?.index.set(event.stored.key, '', undefined);
  }

  #index(stored: Stored): void {
    const { collection, key, object } = stored;
    const storeKey = { collection, key };
    for (const { uid } of object.metadata.ownerReferences ?? []) {
      const storeKeys = this.#dependents.get(uid) ?? new Map<string, StoreKey>();
      this.#dependents.set(uid, storeKeys.set(`${collection} ${key}`, storeKey));
    }
    const namespace = object.metadata.namespace ?? '';
    if (indexedByLabel.has(collection)) {
      for (const [name, value] of Object.entries(object.metadata.labels ?? {})) {
        const label = `${collection} ${namespace} ${name}=${value}`;
        const keys = this.#byLabel.get(label) ?? new Set();
        this.#byLabel.set(label, keys.add(key));
      }
    }
    const selecting = this.#selectors.get(collection);
    selecting?.index.set(key, namespace, selecting.read(object));
  }

  #unindex({ collection, key, object }: Stored): void {
    for (const { uid } of object.metadata.ownerReferences ?? []) {
      const storeKeys = this.#dependents.get(uid);
      storeKeys?.delete(`${collection} ${key}`);
      if (storeKeys?.size !== 0) continue;
      this.#dependents.delete(uid);
      this.#gone.delete(uid);
    }
    if (!indexedByLabel.has(collection)) return;
    for (const [name, value] of Object.entries(object.metadata.labels ?? {})) {
      const label = `${collection} ${object.metadata.namespace ?? ''} ${name}=${value}`;
      const keys = this.#byLabel.get(label);
      keys?.delete(key);
      if (keys?.size === 0) this.#byLabel.delete(label);
    }
  }

  /** Keys that may match: those with the rarest label that the selector requires. */
  #candidates(collection: string, namespace: string, selector: Selector): Iterable<string> {
    let rarest: ReadonlySet<string> | undefined;
    for (const { key, operator, values } of selector) {
      if (operator !== 'In' || values.length !== 1) continue;
      const keys = this.#byLabel.get(`${collection} ${namespace} ${key}=${values[0]}`);
      if (keys === undefined) return [];
      if (rarest === undefined || keys.size < rarest.size) rarest = keys;
    }
    return rarest ?? this.#store.list(collection, { namespace }).map((stored) => stored.key);
  }

  #collections(): ReadonlyMap<string, Resource> {
    const { generation } = this.#registry;
    if (this.#resources?.generation !== generation) {
      const byCollection = new Map<string, Resource>();
      for (const resource of this.#registry.all()) {
        const isStored = apiVersionOf(resource) === storedApiVersionOf(resource);
        if (isStored && resource.verbs.includes('list')) byCollection.set(collectionOf(resource), resource);
      }
      this.#resources = { generation, byCollection };
    }
    return this.#resources.byCollection;
  }
}

/** The owner that controls an object. */
export function controllerOf(
  object: KubeObject,
): { readonly kind: string; readonly name: string; readonly uid: string } | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller === true);
}
