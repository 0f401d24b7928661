// The cache of one kind: a watchable map of its objects, with indexes. The reflector fills it from lists and watches;
// the writer adds the answers to its own writes, so that a plan made right after a write sees it.
//
// Both sources race, so nothing older ever replaces anything newer:
//  * messages at or below the version of the last list are ignored: the list already reflects them;
//  * objects that left the table are remembered for a while, so that a late message can't bring them back;
//  * a list replaces everything except what was written while it was being read.
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
  /** Applied to each object before it is stored; by default drops the managedFields of others, which nobody reads. */
  readonly transform?: (object: T) => T;
  /** Only objects of these namespaces, each listed and watched separately: for a process that may not read others. */
  readonly namespaces?: readonly string[];
  /** Store, and request, only the metadata of each object. */
  readonly metadataOnly?: boolean;
  /** An optional kind: if it may not be read, the table counts as empty. */
  readonly optional?: boolean;
  /** Called with the error of an index function; by default a process warning. */
  readonly onError?: (error: unknown) => void;
}

/** A list that is being read, page by page. Nothing is visible in the table until it is complete. */
export interface Listing<T> {
  add(items: readonly T[]): void;
  complete(resourceVersion: string): void;
}

/** Keys and uids that were written or removed while a list was being read. */
interface ConcurrentWrites {
  readonly keys: Set<string>;
  readonly uids: Set<string>;
}

/** The state of the lists of one namespace, or of all namespaces if they are listed together. */
interface ListState {
  /** What was written or removed since the current list began. */
  concurrentWrites: ConcurrentWrites | undefined;
  /** The version of the last complete list. */
  version: string | undefined;
  synced: boolean;
  served: boolean;
}

/** Whether the content of a table is known. */
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

/** An object reduced to its metadata, with the apiVersion and kind of its real kind. */
function metadataOf<T extends KubeObject>(kind: Kind<T>, { metadata }: T): T {
  const object: KubeObject = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata };
  return object as T;
}

function namespaceOf({ metadata: { namespace } }: KubeObject): readonly string[] {
  return [namespace ?? ''];
}

/** How many removed objects are remembered. Forgetting one too early can show it again until the watch catches up. */
const MAX_REMEMBERED = 10_000;

export class Table<T extends KubeObject> {
  readonly kind: Kind<T>;
  readonly selection: Selection;
  readonly #map: WatchableMap<string, T>;
  readonly #state = new WatchableMap<keyof TableState, boolean>();
  /** Whether the reflector may leave out managedFields of other managers. */
  readonly omitsForeignManagedFields: boolean;
  /** Whether the table counts as empty if the kind may not be read. */
  readonly optional: boolean;
  readonly metadataOnly: boolean;
  readonly #transform: (object: T) => T;
  readonly #onError: (error: unknown) => void;
  readonly #guards = new Map<IndexFunction<T>, IndexFunction<T>>();
  readonly #selects: (object: T) => boolean;
  /** For keys without an object: the version at which the last one was removed. Nothing older may be stored there. */
  readonly #removedVersions = new BoundedMap<string, string>(MAX_REMEMBERED);
  /** By uid: the keys of objects that the writer deleted, until the watch reports it too. */
  readonly #tombstones = new BoundedMap<string, string>(MAX_REMEMBERED);
  readonly #sync = Promise.withResolvers<void>();
  /** By namespace if they are listed separately, otherwise a single one. */
  readonly #lists: ReadonlyMap<string | undefined, ListState>;

  constructor(kind: Kind<T>, options: TableOptions<T> = {}) {
    const { namespace, labelSelector, fieldSelector } = options;
    this.kind = kind;
    this.selection = { namespace, labelSelector, fieldSelector };
    const isSplit = options.namespaces !== undefined && kind.namespaced && namespace === undefined;
    const scopes = isSplit ? options.namespaces : [undefined];
    this.#lists = new Map(
      scopes.map((scope) => [scope, { concurrentWrites: undefined, version: undefined, synced: false, served: true }]),
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

  /** Whether the table is synced and served, for subscribers and tracked reads. */
  get state(): ReadonlyWatchable<keyof TableState, boolean> {
    return this.#state;
  }

  /** Adds indexes, for another reader of the same objects. An index of the same name must be the same. */
  addIndexes(indexes: TableOptions<T>['indexes'] = {}): void {
    for (const [name, of] of Object.entries(indexes)) this.#map.addIndex(name, this.#guarded(of));
  }

  /** Whether objects are complete except for the managedFields of others. */
  get holdsWholeObjects(): boolean {
    return this.omitsForeignManagedFields && !this.metadataOnly;
  }

  /** One entry per reflector: a namespace, or undefined for everything that the table selects. */
  get scopes(): readonly (string | undefined)[] {
    return [...this.#lists.keys()];
  }

  /** The state of one of the scopes. */
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

  /** Must be called before a list is requested: the table then knows which writes the list may not contain. */
  beginList(scope?: string): Listing<T> {
    const concurrentWrites: ConcurrentWrites = { keys: new Set(), uids: new Set() };
    this.#lists.get(scope)!.concurrentWrites = concurrentWrites;
    const items = new Map<string, T>();
    return {
      add: (page) => {
        // Frozen here, page by page, so that the replacement itself is fast.
        for (const item of page) items.set(keyOf(item.metadata), deepFreeze(this.#transform(item)));
      },
      complete: (resourceVersion) => this.#replace(items, resourceVersion, concurrentWrites, scope),
    };
  }

  /** Applies a whole list whose start is not known: everything newer than the list is kept. */
  replaceAll(items: readonly T[], resourceVersion: string): void {
    const byKey = new Map(items.map((item) => [keyOf(item.metadata), this.#transform(item)]));
    this.#replace(byKey, resourceVersion, undefined);
  }

  /** Records that the API does not serve the kind. */
  notServed(scope?: string): void {
    for (const key of this.#keysIn(scope)) this.#remove(key);
    this.#lists.get(scope)!.version = undefined;
    this.#listed(false, scope);
  }

  /** Applies an event of the watch. The server has applied the selectors. */
  event(event: WatchEvent<T>): void {
    if (event.type === 'BOOKMARK') return;
    if (event.type === 'DELETED') {
      this.#applyRemoval(event.object.metadata);
      this.#tombstones.delete(event.object.metadata.uid ?? '');
    } else {
      this.#put(event.object, false);
    }
  }

  /** An object as the table would hold it; undefined if it is outside the table's namespace or selectors. */
  form(object: T): T | undefined {
    return this.#isHere(object) && this.#selects(object) ? this.#transform(object) : undefined;
  }

  /** Applies the object that a write returned. Ignored if it is outside the table's namespace or selectors. */
  observe(object: T): void {
    if (!this.#isHere(object)) return;
    if (this.#selects(object)) this.#put(object, true);
    else this.#applyRemoval(object.metadata);
  }

  /** Records that an object was finally deleted. */
  observeDeleted(gone: KubeObject | (Ref & { readonly uid: string })): void {
    const meta = 'metadata' in gone ? gone.metadata : gone;
    const key = keyOf(meta);
    if (meta.uid !== undefined) {
      this.#tombstones.set(meta.uid, key);
      this.#listOf(key)?.concurrentWrites?.uids.add(meta.uid);
    }
    if (this.#map.load(key)?.metadata.uid === meta.uid) this.#remove(key);
    this.#applyRemoval(meta);
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

  /** Applies a message that an object was deleted, or is no longer selected. */
  #applyRemoval(meta: Ref & { readonly uid?: string; readonly resourceVersion?: string }): void {
    const { uid, resourceVersion } = meta;
    const key = keyOf(meta);
    const stored = this.#map.load(key);
    if (this.#inLastList(key, resourceVersion)) return;
    const order = compareVersions(resourceVersion, this.#versionAt(key, stored));
    if (order !== undefined && order < 0) return;
    // A newer object of the same name proves that the stored one is gone as well.
    if (stored && (stored.metadata.uid === uid || order !== undefined)) this.#remove(key);
    if (resourceVersion !== undefined && !this.#map.has(key)) this.#rememberRemoved(key, resourceVersion);
  }

  #replace(
    items: ReadonlyMap<string, T>,
    version: string,
    concurrentWrites: ConcurrentWrites | undefined,
    scope?: string,
  ): void {
    const list = this.#lists.get(scope)!;
    list.concurrentWrites = undefined;
    list.version = version;
    /** Whether the known state of a key is newer than the list. */
    const stays = (key: string): boolean =>
      (concurrentWrites === undefined || concurrentWrites.keys.has(key)) &&
      (compareVersions(this.#versionAt(key, this.#map.load(key)), version) ?? 0) > 0;

    for (const [uid, key] of this.#tombstones.entries()) {
      if (concurrentWrites && !concurrentWrites.uids.has(uid) && this.#listOf(key) === list)
        this.#tombstones.delete(uid);
    }
    for (const key of this.#keysIn(scope)) if (!items.has(key) && !stays(key)) this.#remove(key);
    for (const [key, item] of items) {
      const stored = this.#map.load(key);
      if (stays(key) || this.#tombstones.get(item.metadata.uid ?? '') !== undefined) continue;
      if (!stored || !sameVersion(stored, item)) this.#store(key, item, stored);
    }
    for (const key of this.#removedVersions.keys())
      if (!stays(key) && this.#listOf(key) === list) this.#removedVersions.delete(key);
    this.#listed(true, scope);
  }

  /** The list that an object belongs to, by its key; undefined if it is in none of the namespaces. */
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

  /** The last known version of a key, whether its object exists or was removed. */
  #versionAt(key: string, stored: T | undefined): string | undefined {
    return stored?.metadata.resourceVersion ?? this.#removedVersions.get(key);
  }

  #rememberRemoved(key: string, version: string): void {
    this.#removedVersions.set(key, version);
    this.#listOf(key)?.concurrentWrites?.keys.add(key);
  }

  #store(key: string, object: T, stored: T | undefined): void {
    const old = stored?.metadata.uid === object.metadata.uid ? stored : undefined;
    if (stored && !old) this.#remove(key);
    if (!old) this.#removedVersions.delete(key);
    this.#map.store(key, object);
    this.#listOf(key)?.concurrentWrites?.keys.add(key);
  }

  #remove(key: string): void {
    const { value: old } = this.#map.loadAndDelete(key);
    if (!old) return;
    if (old.metadata.resourceVersion !== undefined) this.#rememberRemoved(key, old.metadata.resourceVersion);
    this.#listOf(key)?.concurrentWrites?.keys.add(key);
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

  /** An index function that throws must not keep the object out of the table; only that index does not find it. */
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
