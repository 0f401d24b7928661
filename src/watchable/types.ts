// The public interface: what a map offers to publishers and subscribers. Everything else in this folder implements it.
import type { WatchableMetrics } from './metrics.ts';
import type { IndexFunction, Readable } from './reads/read.ts';

/** How a map treats its keys and values; every field has a default. */
export interface WatchableOptions<K, V> {
  /** Label for metrics and errors. */
  readonly name?: string;
  /**
   * Turns a key into a string; required when keys are objects. It must be injective: two different keys must never give
   * the same string. `JSON.stringify([key.namespace ?? null, key.name])` is; joining with a separator is not.
   */
  readonly key?: (key: K) => string;
  /** The index functions by name, for `list({ index })`. A value for which one throws is rejected. */
  readonly indexes?: Readonly<Record<string, IndexFunction<K, V>>>;
  /** Whether storing `b` over `a` changes nothing. Default: `jsonEqual`. */
  readonly equals?: (a: V, b: V) => boolean;
  /**
   * How values are protected from later mutation. `freeze` (default) freezes the given object itself; `clone` freezes a
   * copy and leaves the given object alone; `none` trusts everybody.
   */
  readonly isolate?: 'freeze' | 'clone' | 'none';
  /** Keep the references of equal sub-trees of the previous value, for consumers that memoise by reference. */
  readonly share?: boolean;
  /** What an equal store does to the stored reference. Subscribers are not notified in either case. Default: `keep`. */
  readonly onEqual?: 'keep' | 'replace';
  /** Undelivered mutations a subscription may lag behind before they are folded to the last one per key. */
  readonly maxLag?: number;
  /** Counts every effective mutation. */
  readonly metrics?: Pick<WatchableMetrics, 'published'>;
}

/** One effective mutation. A delete carries the value that was removed, as the subscriber last saw it. */
export interface Update<K, V> {
  readonly key: K;
  readonly delete: boolean;
  readonly value: V;
  /** The value that the key had before, as the subscriber last saw it; absent where there was none. */
  readonly before?: V;
}

/** An immutable view of a whole map at one moment; valid for as long as it is held. Its order is unspecified. */
export interface StateView<K, V> extends Iterable<readonly [K, V]> {
  readonly size: number;
  get(key: K): V | undefined;
  has(key: K): boolean;
  keys(): Iterable<K>;
  values(): Iterable<V>;
  forEach(visit: (value: V, key: K) => void): void;
  /** A detached native copy; costs time in proportion to the size. */
  toMap(): Map<K, V>;
}

/** The newest state and the mutations that led to it since the subscriber last asked. */
export interface Snapshot<K, V> {
  readonly state: StateView<K, V>;
  /** Every effective mutation since the last read, in order: a log, not a diff of states. */
  readonly updates: readonly Update<K, V>[];
  /** Whether this is the subscription's first snapshot. Its state already contains its updates. */
  readonly initial: boolean;
  /** Whether the subscriber lagged so far behind that only the last update of each key is left. */
  readonly coalesced: boolean;
  /** The map's version at this moment; it grows by one with every effective mutation. */
  readonly version: number;
}

/** A conflating stream of snapshots. Ending is lossy: what was not read when it ends is dropped. */
export interface Subscription<K, V> extends AsyncIterableIterator<Snapshot<K, V>>, AsyncDisposable {
  /** Mutations of the map that were not delivered yet (for a subset, including those outside it). */
  readonly lag: number;
}

/** How to subscribe; every field is optional. */
export interface SubscribeOptions<K, V> {
  /** Ends the subscription when aborted. */
  readonly signal?: AbortSignal;
  /**
   * Limits the subscription to a subset. Evaluated once per entry now and once per later store, on the new value only;
   * it must be pure. If it throws, the subscription ends with that error.
   */
  readonly include?: (key: K, value: V) => boolean;
  /** `false` leaves `state` empty in all snapshots but the first, for consumers that need only updates. */
  readonly state?: boolean;
}

/** The read-only side of a map, to hand to subscribers: only the owner of the map publishes. */
export interface ReadonlyWatchable<K, V> extends Readable<K, V> {
  readonly version: number;
  readonly closed: boolean;
  loadAll(): StateView<K, V>;
  loadAllMatching(matches: (key: K, value: V) => boolean): Map<K, V>;
  subscribe(options?: SubscribeOptions<K, V>): Subscription<K, V>;
}
