// What we know of one kind: a watchable map of its objects, with indexes. The reflector fills it from lists and watches;
// the writer adds what its own writes returned, so that a plan made right after a write sees it.
//
// Both sources race, so nothing older ever replaces anything newer:
//  * what is at or below the version of the last list is in that list already, or gone by then;
//  * what left the table is remembered for a while, so that a late message can't bring it back;
//  * a list decides about everything except what was written while it was under way.
import { deepFreeze, freezeParsed, WatchableMap } from '../../watchable/index.ts';
import type { ReadonlyWatchable, Selection as Selected } from '../../watchable/index.ts';
import { BoundedMap } from '../bounded-map.ts';
import type { Selection, WatchEvent } from '../client/client.ts';
import type { IndexFunction } from './object-index.ts';
import { apiVersionOf, keyOf, refOf } from '../objects.ts';
import type { Kind, KubeObject, Ref } from '../objects.ts';
import { withoutForeignManagedFields } from '../managed-fields.ts';
import { matches, parseFieldSelector, parseSelector } from '../selector.ts';
import { compareVersions, sameVersion, supersedes } from '../versions.ts';

export interface TableOptions<T> extends Selection {
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /** Applied to each object before it is kept; by default drops the managedFields of others, which nobody here reads. */
  readonly transform?: (object: T) => T;
  /** Only objects of these namespaces, each of which is listed and watched by itself: for who may see no others. */
  readonly namespaces?: readonly string[];
  /** Keep nothing but the metadata of each object, and ask the server for no more. */
  readonly metadataOnly?: boolean;
  /** A kind that is good to know: where it may not be read, the table counts as empty. */
  readonly optional?: boolean;
  /** Told what an index function threw; a process warning otherwise. */
  readonly onError?: (error: unknown) => void;
}

/** A list that is being read, page by page. Nothing shows in the table until it is complete. */
export interface Listing<T> {
  add(items: readonly T[]): void;
  complete(resourceVersion: string): void;
}

/** Keys and uids that were written or removed while a list was under way. */
interface Meanwhile {
  readonly keys: Set<string>;
  readonly uids: Set<string>;
}

/** What is known from the lists of one namespace, or of all of them where these are listed together. */
interface ListState {
  /** What was written or removed while a list is under way. */
  meanwhile: Meanwhile | undefined;
  /** Of the last complete list. */
  version: string | undefined;
  synced: boolean;
  served: boolean;
}

/** How far a table can be believed. */
export interface TableState {
  /** One complete list has been seen. */
  readonly synced: boolean;
  /** The API knows the kind. */
  readonly served: boolean;
}

const NAMESPACE = 'metadata.namespace';

/** Selects the objects of one namespace in the map of a table, or all of them. */
export function inNamespace<T>(namespace: string | undefined): Selected<string, T> {
  return namespace === undefined ? {} : { index: [NAMESPACE, namespace] };
}

/** An object as it is in a list of metadata; those call themselves something else. */
function metadataOf<T extends KubeObject>(kind: Kind<T>, { metadata }: T): T {
  const object: KubeObject = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata };
  return object as T;
}

function namespaceOf({ metadata: { namespace } }: KubeObject): readonly string[] {
  return [namespace ?? ''];
}

/** How many objects that left are remembered. Forgetting one too early can show it again until the watch catches up. */
const DEPARTED_LIMIT = 10_000;

export class Table<T extends KubeObject> {
  readonly kind: Kind<T>;
  readonly selection: Selection;
  readonly #map: WatchableMap<string, T>;
  readonly #state = new WatchableMap<keyof TableState, boolean>();
  /** Whether whoever fills the table may leave out managedFields that are not ours. */
  readonly omitsForeignManagedFields: boolean;
  /** Whether the kind may as well not be readable. */
  readonly optional: boolean;
  readonly metadataOnly: boolean;
  readonly #transform: (object: T) => T;
  readonly #onError: (error: unknown) => void;
  readonly #guards = new Map<IndexFunction<T>, IndexFunction<T>>();
  readonly #selects: (object: T) => boolean;
  /** By key, where no object is: the version at which the last one left. Nothing older may take its place. */
  readonly #floors = new BoundedMap<string, string>(DEPARTED_LIMIT);
  /** Uids of objects that the writer saw deleted, while the watch has not said so yet, with their keys. */
  readonly #tombstones = new BoundedMap<string, string>(DEPARTED_LIMIT);
  readonly #sync = Promise.withResolvers<void>();
  /** By namespace where these are listed one by one, else a single one. */
  readonly #lists: ReadonlyMap<string | undefined, ListState>;

  constructor(kind: Kind<T>, options: TableOptions<T> = {}) {
    const { namespace, labelSelector, fieldSelector } = options;
    this.kind = kind;
    this.selection = { namespace, labelSelector, fieldSelector };
    const isSplit = options.namespaces !== undefined && kind.namespaced && namespace === undefined;
    const scopes = isSplit ? options.namespaces : [undefined];
    this.#lists = new Map(
      scopes.map((scope) => [scope, { meanwhile: undefined, version: undefined, synced: false, served: true }]),
    );
    this.#map = new WatchableMap<string, T>({
      name: kind.plural,
      equals: sameVersion,
      indexes: { [NAMESPACE]: namespaceOf },
    });
    this.addIndexes(options.indexes);
    this.#state.store('served', true);
    this.#state.store('synced', false);
    this.optional = options.optional ?? false;
    this.metadataOnly = options.metadataOnly ?? false;
    this.omitsForeignManagedFields = options.transform === undefined;
    const transform = options.transform ?? ((object) => freezeParsed(withoutForeignManagedFields(object)));
    this.#transform = this.metadataOnly ? (object) => transform(metadataOf(kind, object)) : transform;
    this.#onError = options.onError ?? ((error) => process.emitWarning(error instanceof Error ? error : String(error)));
    const labels = parseSelector(labelSelector ?? '');
    const fields = parseFieldSelector(fieldSelector ?? '');
    this.#selects = (object) => matches(labels, object.metadata.labels) && fields(object);
  }

  /** The objects by key, for subscribers and tracked reads. */
  get map(): ReadonlyWatchable<string, T> {
    return this.#map;
  }

  /** How far the table can be believed, for subscribers and tracked reads. */
  get state(): ReadonlyWatchable<keyof TableState, boolean> {
    return this.#state;
  }

  /** Adds indexes, for another reader of the same objects. One of a name that is there must be the same. */
  addIndexes(indexes: TableOptions<T>['indexes'] = {}): void {
    for (const [name, of] of Object.entries(indexes)) this.#map.addIndex(name, this.#guarded(of));
  }

  /** Whether nothing of an object is left out but managedFields that are not ours. */
  get holdsWholeObjects(): boolean {
    return this.omitsForeignManagedFields && !this.metadataOnly;
  }

  /** What a reflector each keeps current: a namespace, or undefined for all that the table selects. */
  get scopes(): readonly (string | undefined)[] {
    return [...this.#lists.keys()];
  }

  /** How far one of the scopes can be believed. */
  stateOf(scope: string | undefined): TableState {
    return this.#lists.get(scope)!;
  }

  get size(): number {
    return this.#map.size;
  }

  /** Whether one complete list has been seen. */
  get synced(): boolean {
    return this.#state.load('synced')!;
  }

  /** False while the API does not know the kind: a CRD that is not installed. The table is then empty, and synced. */
  get served(): boolean {
    return this.#state.load('served')!;
  }

  /** Waits for the first complete list; rejects with the reason of the signal when that aborts first. */
  async whenSynced(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const aborted = Promise.withResolvers<never>();
    const abort = (): void => aborted.reject(signal?.reason);
    signal?.addEventListener('abort', abort);
    try {
      await Promise.race([this.#sync.promise, aborted.promise]);
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  get(key: string): T | undefined {
    return this.#map.load(key);
  }

  keys(): Iterable<string> {
    return this.#map.keys();
  }

  /** The objects of one namespace, or all of them; sorted by key. */
  list(namespace?: string): readonly T[] {
    return this.#map.list(inNamespace(namespace));
  }

  /** The objects for which a declared index has this value, sorted by key. */
  index(name: string, value: string): readonly T[] {
    return this.#map.list({ index: [name, value] });
  }

  /** To be called before a list is requested; the table then knows which of its writes the list can't contain. */
  beginList(scope?: string): Listing<T> {
    const meanwhile: Meanwhile = { keys: new Set(), uids: new Set() };
    this.#lists.get(scope)!.meanwhile = meanwhile;
    const items = new Map<string, T>();
    return {
      add: (page) => {
        // Frozen here, page by page, so that the replacement itself is quick.
        for (const item of page) items.set(keyOf(item.metadata), deepFreeze(this.#transform(item)));
      },
      complete: (resourceVersion) => this.#replace(items, resourceVersion, meanwhile, scope),
    };
  }

  /** Takes a whole list of which it is not known when it began: everything newer than it is kept. */
  replaceAll(items: readonly T[], resourceVersion: string): void {
    const byKey = new Map(items.map((item) => [keyOf(item.metadata), this.#transform(item)]));
    this.#replace(byKey, resourceVersion, undefined);
  }

  /** The API does not serve the kind. */
  notServed(scope?: string): void {
    for (const key of this.#keysIn(scope)) this.#remove(key);
    this.#lists.get(scope)!.version = undefined;
    this.#listed(false, scope);
  }

  /** Takes an event of the watch. The server has applied the selectors. */
  event(event: WatchEvent<T>): void {
    if (event.type === 'BOOKMARK') return;
    if (event.type === 'DELETED') {
      this.#leave(event.object.metadata);
      this.#tombstones.delete(event.object.metadata.uid ?? '');
    } else {
      this.#put(event.object, false);
    }
  }

  /** An object as the table would hold it; undefined if it is outside the table's namespace or selectors. */
  form(object: T): T | undefined {
    return this.#isHere(object) && this.#selects(object) ? this.#transform(object) : undefined;
  }

  /** Takes an object that a write returned. Ignored where it is outside the table's namespace or selectors. */
  observe(object: T): void {
    if (!this.#isHere(object)) return;
    if (this.#selects(object)) this.#put(object, true);
    else this.#leave(object.metadata);
  }

  /** Takes note that an object is deleted for good. */
  observeDeleted(gone: KubeObject | (Ref & { readonly uid: string })): void {
    const meta = 'metadata' in gone ? gone.metadata : gone;
    const key = keyOf(meta);
    if (meta.uid !== undefined) {
      this.#tombstones.set(meta.uid, key);
      this.#listOf(key)?.meanwhile?.uids.add(meta.uid);
    }
    if (this.#map.load(key)?.metadata.uid === meta.uid) this.#remove(key);
    this.#leave(meta);
  }

  #isHere({ metadata }: T): boolean {
    const { namespace } = this.selection;
    const isSelected = namespace === undefined || metadata.namespace === namespace;
    return isSelected && this.#listOf(keyOf(metadata)) !== undefined;
  }

  #put(object: T, observed: boolean): void {
    const { uid, resourceVersion } = object.metadata;
    const key = keyOf(object.metadata);
    const stored = this.#map.load(key);
    if (stored && sameVersion(stored, object)) return;
    if (this.#inLastList(key, resourceVersion) || this.#tombstones.get(uid ?? '') !== undefined) return;
    if (!supersedes(resourceVersion, this.#versionAt(key, stored), observed)) return;
    this.#store(key, this.#transform(object), stored);
  }

  /** The object left the table: deleted, or no longer selected. */
  #leave(meta: Ref & { readonly uid?: string; readonly resourceVersion?: string }): void {
    const { uid, resourceVersion } = meta;
    const key = keyOf(meta);
    const stored = this.#map.load(key);
    if (this.#inLastList(key, resourceVersion)) return;
    const order = compareVersions(resourceVersion, this.#versionAt(key, stored));
    if (order !== undefined && order < 0) return;
    // Another object of this name, if it is the newer one, proves that the stored one is gone as well.
    if (stored && (stored.metadata.uid === uid || order !== undefined)) this.#remove(key);
    if (resourceVersion !== undefined && !this.#map.has(key)) this.#floor(key, resourceVersion);
  }

  #replace(items: ReadonlyMap<string, T>, version: string, meanwhile: Meanwhile | undefined, scope?: string): void {
    const list = this.#lists.get(scope)!;
    list.meanwhile = undefined;
    list.version = version;
    /** Whether what is known of a key is newer than the list. */
    const stays = (key: string): boolean =>
      (meanwhile === undefined || meanwhile.keys.has(key)) &&
      (compareVersions(this.#versionAt(key, this.#map.load(key)), version) ?? 0) > 0;

    for (const [uid, key] of this.#tombstones.entries()) {
      if (meanwhile && !meanwhile.uids.has(uid) && this.#listOf(key) === list) this.#tombstones.delete(uid);
    }
    for (const key of this.#keysIn(scope)) if (!items.has(key) && !stays(key)) this.#remove(key);
    for (const [key, item] of items) {
      const stored = this.#map.load(key);
      if (stays(key) || this.#tombstones.get(item.metadata.uid ?? '') !== undefined) continue;
      if (!stored || !sameVersion(stored, item)) this.#store(key, item, stored);
    }
    for (const key of this.#floors.keys()) if (!stays(key) && this.#listOf(key) === list) this.#floors.delete(key);
    this.#listed(true, scope);
  }

  /** The list that an object belongs into, by its key; undefined if it is in none of the namespaces. */
  #listOf(key: string): ListState | undefined {
    return this.#lists.get(undefined) ?? this.#lists.get(refOf(key).namespace);
  }

  #keysIn(scope: string | undefined): readonly string[] {
    if (scope === undefined) return [...this.#map.keys()];
    return this.list(scope).map(({ metadata }) => keyOf(metadata));
  }

  #inLastList(key: string, version: string | undefined): boolean {
    const order = compareVersions(version, this.#listOf(key)?.version);
    return order !== undefined && order <= 0;
  }

  /** The version of what is known of a key, be it there or gone. */
  #versionAt(key: string, stored: T | undefined): string | undefined {
    return stored?.metadata.resourceVersion ?? this.#floors.get(key);
  }

  #floor(key: string, version: string): void {
    this.#floors.set(key, version);
    this.#listOf(key)?.meanwhile?.keys.add(key);
  }

  #store(key: string, object: T, stored: T | undefined): void {
    const old = stored?.metadata.uid === object.metadata.uid ? stored : undefined;
    if (stored && !old) this.#remove(key);
    if (!old) this.#floors.delete(key);
    this.#map.store(key, object);
    this.#listOf(key)?.meanwhile?.keys.add(key);
  }

  #remove(key: string): void {
    const { value: old } = this.#map.loadAndDelete(key);
    if (!old) return;
    if (old.metadata.resourceVersion !== undefined) this.#floor(key, old.metadata.resourceVersion);
    this.#listOf(key)?.meanwhile?.keys.add(key);
  }

  #listed(served: boolean, scope: string | undefined): void {
    Object.assign(this.#lists.get(scope)!, { served, synced: true });
    const lists = [...this.#lists.values()];
    if (!lists.every(({ synced }) => synced)) return;
    this.#state.store(
      'served',
      lists.every((list) => list.served),
    );
    this.#state.store('synced', true);
    this.#sync.resolve();
  }

  /** An index function that throws must not keep the object out of the table: that index does not find it. */
  #guarded(valuesOf: IndexFunction<T>): IndexFunction<T> {
    let guarded = this.#guards.get(valuesOf);
    if (guarded === undefined) {
      guarded = (object) => {
        try {
          return valuesOf(object);
        } catch (error) {
          this.#onError(error);
          return [];
        }
      };
      this.#guards.set(valuesOf, guarded);
    }
    return guarded;
  }
}
