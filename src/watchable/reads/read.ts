// Tracked reads: how a map can be read, and the `read` that records what its reader has read.
import type { Listing } from '../entry-index.ts';
import type { Id } from '../hash.ts';
import type { Reads } from './subject.ts';
import type { ChangeListener } from './topics.ts';

/** Returns the values under which an index files an entry. It must depend on the entry alone. */
export type IndexFunction<K, V> = (value: V, key: K) => readonly string[];

/** Which entries to list; all of them by default. */
export interface Selection<K, V> {
  /** Only entries that a declared index files under this value. */
  readonly index?: readonly [index: string, under: string];
  /** Only entries for which this returns true. It must depend on the entry alone. */
  readonly matches?: (value: V, key: K) => boolean;
  /** Selections with the same id match alike (such as equal label selectors): a change is checked against one. */
  readonly id?: string;
}

/** The property of a map that answers tracked reads. */
export const SOURCE: unique symbol = Symbol('source');

/** A map that can be read by key. */
export interface Lookup<K, V> {
  load(key: K): V | undefined;
  readonly [SOURCE]: Pick<Source<K, V>, 'get' | 'inWorld'>;
}

/** A map that can also be listed: a watchable map, a derived one with keys, an overlaid one. */
export interface Readable<K, V> extends Lookup<K, V> {
  readonly size: number;
  has(key: K): boolean;
  keys(): Iterable<K>;
  /** The values of a selection, in the order of their keys. */
  list(selection?: Selection<K, V>): readonly V[];
  readonly [SOURCE]: Source<K, V>;
}

/** Which map to read in place of another: in an overlay, the overlaid one. */
export interface World {
  of<K, V>(map: Readable<K, V>): Readable<K, V>;
  of<K, V>(map: Lookup<K, V>): Lookup<K, V>;
}

/** Answers reads of a map. It adds what was read to `reads`, whose owner is marked when the answer changes. */
export interface Source<K, V> {
  identify(key: K): Id;
  get(key: K, reads?: Reads): V | undefined;
  has(key: K, reads?: Reads): boolean;
  keys(reads?: Reads): readonly K[];
  count(reads?: Reads): number;
  select(selection: Selection<K, V>, reads?: Reads): Listing<V>;
  /** The values under which an index files an entry. */
  filings(index: string, value: V, key: K): readonly string[];
  /** Calls back with each change. Returns a function that stops it. */
  listen(listener: ChangeListener<K, V>): () => void;
  /** Brings computed entries up to date. */
  refresh(): void;
  /** The map to read instead in an overlay. Only computed maps have it; stored ones are overlaid entry by entry. */
  inWorld?(world: World): Lookup<K, V>;
}

/** Reads maps and records what was read, including keys that were not found. */
export interface Read {
  get<K, V>(map: Lookup<K, V>, key: K): V | undefined;
  has<K, V>(map: Readable<K, V>, key: K): boolean;
  /** The values of a selection, in the order of their keys. */
  list<K, V>(map: Readable<K, V>, selection?: Selection<K, V>): readonly V[];
  /** The values that a declared index files under `under`, in the order of their keys. */
  index<K, V>(map: Readable<K, V>, index: string, under: string): readonly V[];
  /** The keys, in order. */
  keys<K, V>(map: Readable<K, V>): readonly K[];
  size<K, V>(map: Readable<K, V>): number;
}

/** Creates a `read` that records into `reads` and reads maps as they are in `world`. */
export function readFor(reads: Reads | undefined, world: World | undefined): Read {
  return new RecordedRead(reads, world);
}

/** A class, because one is created for every run of every reader: closures would cost more. */
class RecordedRead implements Read {
  readonly #reads: Reads | undefined;
  readonly #world: World | undefined;

  constructor(reads: Reads | undefined, world: World | undefined) {
    this.#reads = reads;
    this.#world = world;
  }

  get<K, V>(map: Lookup<K, V>, key: K): V | undefined {
    return (this.#world === undefined ? map : this.#world.of(map))[SOURCE].get(key, this.#reads);
  }

  has<K, V>(map: Readable<K, V>, key: K): boolean {
    return this.#source(map).has(key, this.#reads);
  }

  list<K, V>(map: Readable<K, V>, selection: Selection<K, V> = {}): readonly V[] {
    return this.#source(map).select(selection, this.#reads).values;
  }

  index<K, V>(map: Readable<K, V>, index: string, under: string): readonly V[] {
    return this.#source(map).select({ index: [index, under] }, this.#reads).values;
  }

  keys<K, V>(map: Readable<K, V>): readonly K[] {
    return this.#source(map).keys(this.#reads);
  }

  size<K, V>(map: Readable<K, V>): number {
    return this.#source(map).count(this.#reads);
  }

  #source<K, V>(map: Readable<K, V>): Source<K, V> {
    return (this.#world === undefined ? map : this.#world.of(map))[SOURCE];
  }
}

/** Reads maps as they are and records nothing. */
export const untracked: Read = readFor(undefined, undefined);
