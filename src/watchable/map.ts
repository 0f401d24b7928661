// The watchable map. Components publish into maps of their own and hand them to others as ReadonlyWatchable.
import { Entries } from './entries.ts';
import { jsonEqual } from './equal.ts';
import { ClosedError } from './errors.ts';
import { deepFreeze, frozenCopy } from './freeze.ts';
import type { Id } from './hash.ts';
import { MutationLog } from './log.ts';
import { SOURCE } from './reads/read.ts';
import type { IndexFunction, Selection } from './reads/read.ts';
import type { Change, Upkeep } from './reads/topics.ts';
import { share } from './share.ts';
import { MapSubscription } from './subscription.ts';
import type { Source } from './subscription.ts';
import type { ReadonlyWatchable, StateView, SubscribeOptions, Subscription, WatchableOptions } from './types.ts';

const DEFAULT_MAX_LAG = 65_536;

/** A typed in-process map that can be subscribed to. Nobody ever waits for a slow subscriber. */
export class WatchableMap<K, V> implements ReadonlyWatchable<K, V>, Disposable {
  readonly #options: WatchableOptions<K, V>;
  readonly #equals: (a: V, b: V) => boolean;
  readonly #log: MutationLog<K, V>;
  readonly #identify: (key: K) => Id;
  readonly #entries: Entries<K, V>;
  readonly #source: Source<K, V>;
  #closed = false;

  /** `upkeep` is for maps with computed entries: it is called before a read, and when the last reader has left. */
  constructor(options: WatchableOptions<K, V> = {}, upkeep?: Upkeep) {
    const { maxLag = DEFAULT_MAX_LAG } = options;
    if (!(maxLag >= 1)) throw new RangeError(`maxLag is ${maxLag}: it must be at least 1 (or Infinity)`);
    this.#options = options;
    this.#equals = options.equals ?? jsonEqual;
    this.#identify = options.key ?? ((key) => this.#primitive(key));
    const keys = { coded: options.key !== undefined, identify: this.#identify };
    this.#entries = new Entries({ ...keys, label: this.#label, indexes: options.indexes ?? {}, upkeep });
    this.#log = new MutationLog(() => upkeep?.idle());
    this.#source = {
      label: this.#label,
      maxLag,
      log: this.#log,
      keys,
      state: () => this.#entries.view(),
      isClosed: () => this.#closed,
      refresh: () => upkeep?.refresh(),
    };
  }

  get size(): number {
    return this.#entries.count();
  }

  /** Grows by one with every effective mutation. */
  get version(): number {
    return this.#log.version;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** How many subscriptions are live; helps to find those that were never ended. */
  get subscriptions(): number {
    return this.#log.readers;
  }

  /** Answers tracked reads. */
  get [SOURCE](): Entries<K, V> {
    return this.#entries;
  }

  load(key: K): V | undefined {
    return this.#entries.get(key);
  }

  has(key: K): boolean {
    return this.#entries.has(key);
  }

  list(selection: Selection<K, V> = {}): readonly V[] {
    return this.#entries.select(selection).values;
  }

  /** The whole state at this moment; costs nothing, however large the map. */
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

  /** Deletes a key and returns whether it was present. */
  delete(key: K): boolean {
    this.#refuseIfClosed('delete');
    const id = this.#identify(key);
    const value = this.#entries.value(id);
    if (value === undefined) return false;
    this.#remove(id, value);
    return true;
  }

  /** The stored value, or, if there was none, the given one after storing it. */
  loadOrStore(key: K, value: V): { value: V; loaded: boolean } {
    const stored = this.load(key);
    if (stored !== undefined) return { value: stored, loaded: true };
    this.store(key, value);
    return { value: this.load(key)!, loaded: false };
  }

  /** Deletes a key and returns the value that it had. */
  loadAndDelete(key: K): { value: V | undefined; loaded: boolean } {
    const id = this.#identify(key);
    const value = this.#entries.value(id);
    if (value === undefined) return { value, loaded: false };
    this.#refuseIfClosed('loadAndDelete');
    this.#remove(id, value);
    return { value, loaded: true };
  }

  /** Stores `next` if the key is present with a value equal to `old`; returns whether it was. */
  compareAndSwap(key: K, old: V, next: V): boolean {
    if (next === undefined) throw this.#undefinedValue(key);
    const stored = this.load(key);
    if (stored === undefined || old === undefined) return false;
    if (stored !== old && !this.#equals(stored, old)) return false;
    this.#refuseIfClosed('compareAndSwap');
    this.store(key, next);
    return true;
  }

  /**
   * Makes the map hold exactly these entries: stores them, deletes everything else, leaves equal values alone. Readers
   * see it as one step. If a value is rejected, the map stays as it was. If a key is repeated, the last entry wins.
   */
  replaceAll(entries: Iterable<readonly [K, V]>): { stored: number; deleted: number; unchanged: number } {
    this.#refuseIfClosed('replaceAll');
    const given = new Map<Id, readonly [K, V]>();
    for (const entry of entries) given.set(this.#identify(entry[0]), entry);
    const changes: Store<K, V>[] = [];
    for (const [key, value] of given.values()) {
      const change = this.#changeFor(key, value);
      if (change !== undefined) changes.push(change);
    }
    const stored = changes.filter((change) => this.#apply(change)).length;
    const swept = [...this.keys()].filter((key) => !given.has(this.#identify(key)));
    for (const key of swept) this.delete(key);
    return { stored, deleted: swept.length, unchanged: given.size - stored };
  }

  /** Adds an index to those that the map was created with. An index of the same name must have the same function. */
  addIndex(name: string, of: IndexFunction<K, V>): void {
    this.#entries.addIndex(name, of);
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

  #primitive(key: K): K {
    if ((typeof key === 'object' && key !== null) || typeof key === 'function') {
      throw new TypeError(`${this.#label} was given an object as key: create it with the option "key", a key codec`);
    }
    return key;
  }

  // The change that storing would make; undefined if none. Rejects bad values before anything has changed.
  #changeFor(key: K, value: V): Store<K, V> | undefined {
    const id = this.#identify(key);
    const previous = this.#entries.value(id);
    if (previous !== undefined && previous === value) return undefined;
    if (value === undefined) throw this.#undefinedValue(key);
    if (previous === undefined) {
      const ownKey = this.#options.key === undefined ? key : this.#isolate(key);
      return { id, key: ownKey, before: previous, after: this.#isolate(value), isEqual: false };
    }
    const own = this.#entries.keyOf(id);
    if (!this.#equals(previous, value)) {
      return { id, key: own, before: previous, after: this.#isolate(value, previous), isEqual: false };
    }
    if (this.#options.onEqual !== 'replace') return undefined;
    return { id, key: own, before: previous, after: this.#isolate(value), isEqual: true };
  }

  #apply(change: Store<K, V>): boolean {
    const { id, key, after, isEqual } = change;
    if (isEqual) {
      this.#entries.replace(id, key, after);
      return false;
    }
    this.#entries.write(change);
    this.#publish(change);
    return true;
  }

  #remove(id: Id, value: V): void {
    const change = { id, key: this.#entries.keyOf(id), before: value, after: undefined };
    this.#entries.write(change);
    this.#publish(change);
  }

  #publish(change: Change<K, V>): void {
    this.#log.append(change);
    this.#options.metrics?.published({ message: this.#options.name ?? '' });
  }

  #isolate<T>(value: T, previous?: T): T {
    const { isolate = 'freeze', share: sharing = false } = this.#options;
    const own = isolate === 'clone' ? frozenCopy(value) : value;
    const shared = sharing && previous !== undefined ? share(previous, own) : own;
    return isolate === 'none' ? shared : deepFreeze(shared);
  }

  #undefinedValue(key: K): TypeError {
    const id = String(this.#identify(key));
    return new TypeError(`${this.#label} was given undefined as the value of key ${id}: delete the key instead`);
  }

  #refuseIfClosed(operation: string): void {
    if (this.#closed) throw new ClosedError(this.#label, operation);
  }
}

/** A store that was validated and only needs to be applied. An equal one notifies nobody. */
interface Store<K, V> {
  readonly id: Id;
  readonly key: K;
  readonly before: V | undefined;
  readonly after: V;
  readonly isEqual: boolean;
}
