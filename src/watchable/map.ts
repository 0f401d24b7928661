// The watchable map: the publisher's side of the room. Components own maps and hand them to others as ReadonlyWatchable.
import { jsonEqual } from './equal.ts';
import { ClosedError } from './errors.ts';
import { deepFreeze, frozenCopy } from './freeze.ts';
import type { Id } from './hash.ts';
import { MutationLog } from './log.ts';
import { share } from './share.ts';
import { Shards } from './shards.ts';
import { MapSubscription } from './subscription.ts';
import type { Source } from './subscription.ts';
import type {
  ReadonlyWatchable,
  StateView,
  SubscribeOptions,
  Subscription,
  Update,
  WatchableOptions,
} from './types.ts';

const DEFAULT_MAX_LAG = 65_536;

/** A typed in-process map that can be subscribed to. Nobody ever waits for a slow subscriber. */
export class WatchableMap<K, V> implements ReadonlyWatchable<K, V>, Disposable {
  readonly #options: WatchableOptions<K, V>;
  readonly #equals: (a: V, b: V) => boolean;
  readonly #log = new MutationLog<K, V>();
  readonly #entries: Shards<K, V>;
  readonly #source: Source<K, V>;
  #closed = false;

  constructor(options: WatchableOptions<K, V> = {}) {
    const { maxLag = DEFAULT_MAX_LAG } = options;
    if (!(maxLag >= 1)) throw new RangeError(`maxLag is ${maxLag}: it must be at least 1 (or Infinity)`);
    this.#options = options;
    this.#equals = options.equals ?? jsonEqual;
    const identify = (key: K): Id => this.#identify(key);
    this.#entries = new Shards(identify);
    this.#source = {
      label: this.#label,
      maxLag,
      log: this.#log,
      identify,
      state: () => this.#entries.view(),
      isClosed: () => this.#closed,
    };
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Grows by one with every effective mutation. */
  get version(): number {
    return this.#log.version;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** How many subscriptions are live; for finding those that were never ended. */
  get subscriptions(): number {
    return this.#log.readers;
  }

  load(key: K): V | undefined {
    return this.#entries.get(this.#identify(key))?.value;
  }

  has(key: K): boolean {
    return this.#entries.get(this.#identify(key)) !== undefined;
  }

  /** The whole state at this moment; free, however large the map. */
  loadAll(): StateView<K, V> {
    return this.#entries.view();
  }

  loadAllMatching(matches: (key: K, value: V) => boolean): Map<K, V> {
    const matching = new Map<K, V>();
    for (const [key, value] of this.#entries.view()) {
      if (matches(key, value)) matching.set(key, value);
    }
    return matching;
  }

  keys(): Iterable<K> {
    return this.#entries.view().keys();
  }

  /**
   * Stores a value and returns whether that changed anything; storing an equal value does not.
   * The given object itself becomes deeply frozen, so it cannot be reused as a scratch object: for that, create the map
   * with `isolate: 'clone'`.
   */
  store(key: K, value: V): boolean {
    this.#refuseIfClosed('store');
    const change = this.#changeFor(key, value);
    return change !== undefined && this.#apply(change);
  }

  /** Deletes a key and returns whether it was there. */
  delete(key: K): boolean {
    this.#refuseIfClosed('delete');
    const id = this.#identify(key);
    const entry = this.#entries.get(id);
    if (entry === undefined) return false;
    this.#remove(id, entry);
    return true;
  }

  /** The stored value, or, if there was none, the given one after storing it. */
  loadOrStore(key: K, value: V): { value: V; loaded: boolean } {
    const entry = this.#entries.get(this.#identify(key));
    if (entry !== undefined) return { value: entry.value, loaded: true };
    this.store(key, value);
    return { value: this.load(key)!, loaded: false };
  }

  /** Deletes a key and returns the value that it had. */
  loadAndDelete(key: K): { value: V | undefined; loaded: boolean } {
    const id = this.#identify(key);
    const entry = this.#entries.get(id);
    if (entry === undefined) return { value: undefined, loaded: false };
    this.#refuseIfClosed('loadAndDelete');
    this.#remove(id, entry);
    return { value: entry.value, loaded: true };
  }

  /** Stores `next` if the key is present with a value equal to `old`; returns whether it was. */
  compareAndSwap(key: K, old: V, next: V): boolean {
    this.#refuseUndefined(key, next);
    const entry = this.#entries.get(this.#identify(key));
    if (entry === undefined || old === undefined) return false;
    if (entry.value !== old && !this.#equals(entry.value, old)) return false;
    this.#refuseIfClosed('compareAndSwap');
    this.store(key, next);
    return true;
  }

  /**
   * Makes the map hold exactly these entries: stores what is given, deletes everything else, leaves alone what is equal.
   * Readers see it as one step. If a value is refused, the map stays as it was. Of a repeated key, the last entry counts.
   */
  replaceAll(entries: Iterable<readonly [K, V]>): { stored: number; deleted: number; unchanged: number } {
    this.#refuseIfClosed('replaceAll');
    const wanted = new Map<Id, readonly [K, V]>();
    for (const entry of entries) wanted.set(this.#identify(entry[0]), entry);
    const changes: Change<K, V>[] = [];
    for (const [key, value] of wanted.values()) {
      const change = this.#changeFor(key, value);
      if (change !== undefined) changes.push(change);
    }
    const stored = changes.filter((change) => this.#apply(change)).length;
    const swept = [...this.keys()].filter((key) => !wanted.has(this.#identify(key)));
    for (const key of swept) this.delete(key);
    return { stored, deleted: swept.length, unchanged: wanted.size - stored };
  }

  /** Registers at once: the first snapshot is the state now, and no later mutation is missed. */
  subscribe(options: SubscribeOptions<K, V> = {}): Subscription<K, V> {
    return new MapSubscription(this.#source, options);
  }

  /** Ends every subscription, dropping what they have not read, and refuses changes from now on. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#log.end();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  get #label(): string {
    return this.#options.name === undefined ? 'the watchable map' : `watchable map "${this.#options.name}"`;
  }

  #identify(key: K): Id {
    if (this.#options.key !== undefined) return this.#options.key(key);
    if ((typeof key === 'object' && key !== null) || typeof key === 'function') {
      throw new TypeError(`${this.#label} was given an object as key: create it with the option "key", a key codec`);
    }
    return key;
  }

  // What storing would do; undefined when nothing. Refuses bad values before anything has changed.
  #changeFor(key: K, value: V): Change<K, V> | undefined {
    const id = this.#identify(key);
    const previous = this.#entries.get(id);
    if (previous !== undefined && previous.value === value) return undefined;
    this.#refuseUndefined(key, value);
    if (previous === undefined)
      return { id, entry: this.#entry(key, this.#isolate(value)), created: true, equal: false };
    if (this.#equals(previous.value, value)) {
      if (this.#options.onEqual !== 'replace') return undefined;
      return { id, entry: this.#entry(key, this.#isolate(value)), created: false, equal: true };
    }
    return { id, entry: this.#entry(key, this.#isolate(value, previous.value)), created: false, equal: false };
  }

  #apply({ id, entry, created, equal }: Change<K, V>): boolean {
    this.#entries.set(id, entry);
    if (equal) return false;
    this.#publish(id, entry, created);
    return true;
  }

  #remove(id: Id, { key, value }: Update<K, V>): void {
    this.#entries.delete(id);
    this.#publish(id, Object.freeze({ key, delete: true, value }), false);
  }

  #publish(id: Id, update: Update<K, V>, created: boolean): void {
    this.#log.append(id, update, created);
    this.#options.metrics?.published({ message: this.#options.name ?? '' });
  }

  // The entry is the very update that subscribers get, which is why it is frozen.
  #entry(key: K, value: V): Update<K, V> {
    const isolated = this.#options.key === undefined ? key : this.#isolate(key);
    return Object.freeze({ key: isolated, delete: false, value });
  }

  #isolate<T>(value: T, previous?: T): T {
    const { isolate = 'freeze', share: sharing = false } = this.#options;
    const own = isolate === 'clone' ? frozenCopy(value) : value;
    const shared = sharing && previous !== undefined ? share(previous, own) : own;
    return isolate === 'none' ? shared : deepFreeze(shared);
  }

  #refuseUndefined(key: K, value: V): void {
    if (value !== undefined) return;
    throw new TypeError(
      `${this.#label} was given undefined for key ${String(this.#identify(key))}: delete the key instead`,
    );
  }

  #refuseIfClosed(operation: string): void {
    if (this.#closed) throw new ClosedError(this.#label, operation);
  }
}

/** A store that was checked and only needs to be carried out. */
interface Change<K, V> {
  readonly id: Id;
  readonly entry: Update<K, V>;
  readonly created: boolean;
  /** The stored reference is replaced, but subscribers are not told. */
  readonly equal: boolean;
}
