// Tracked reads: the questions that can be asked of a map, and the `read` that records them for whoever asks.
import type { Listing } from '../entry-index.ts';
import type { Id } from '../hash.ts';
import type { Reads } from './subject.ts';
import type { ChangeListener } from './topics.ts';

/** Under what an index finds an entry. It must depend on the entry alone. */
export type IndexFunction<K, V> = (value: V, key: K) => readonly string[];

/** Which entries to list; all of them if nothing is said. */
export interface Selection<K, V> {
  /** Those that a declared index files under a name. */
  readonly index?: readonly [index: string, under: string];
  /** Those of them for which this is true. It must depend on the entry alone. */
  readonly matches?: (value: V, key: K) => boolean;
  /** Says that selections match alike (a label selector, for instance), so that a change is held against one of them. */
  readonly id?: string;
}

/** Leads from a map to what answers tracked reads of it. */
export const SOURCE: unique symbol = Symbol('source');

/** A map that can be asked for single keys. */
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

/** Which map stands for another one: in an overlay, the overlaid one. */
export interface World {
  of<K, V>(map: Readable<K, V>): Readable<K, V>;
  of<K, V>(map: Lookup<K, V>): Lookup<K, V>;
}

/** What a map answers, and to whom it must say so when the answer changes. */
export interface Source<K, V> {
  identify(key: K): Id;
  get(key: K, reads?: Reads): V | undefined;
  has(key: K, reads?: Reads): boolean;
  keys(reads?: Reads): readonly K[];
  count(reads?: Reads): number;
  select(selection: Selection<K, V>, reads?: Reads): Listing<V>;
  /** Under what an index files an entry. */
  filings(index: string, value: V, key: K): readonly string[];
  /** Calls back with each change. Returns what ends that. */
  listen(listener: ChangeListener<K, V>): () => void;
  /** Brings up to date what is computed. */
  refresh(): void;
  /** The map to read instead of this one, for a source that knows; undefined for one that holds what it was given. */
  inWorld?(world: World): Lookup<K, V>;
}

/** Reads maps, and remembers for whoever it was made what was read, also what was not there. */
export interface Read {
  get<K, V>(map: Lookup<K, V>, key: K): V | undefined;
  has<K, V>(map: Readable<K, V>, key: K): boolean;
  /** The values of a selection, in the order of their keys. */
  list<K, V>(map: Readable<K, V>, selection?: Selection<K, V>): readonly V[];
  /** The values that a declared index files under a name, in the order of their keys. */
  index<K, V>(map: Readable<K, V>, index: string, under: string): readonly V[];
  /** The keys, in order. */
  keys<K, V>(map: Readable<K, V>): readonly K[];
  size<K, V>(map: Readable<K, V>): number;
}

/** A `read` that records into `reads` and looks at maps as they are in a world. */
export function readFor(reads: Reads | undefined, world: World | undefined): Read {
  return new RecordedRead(reads, world);
}

/** A class, because one is made for every run of every reader: methods cost nothing then. */
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

/** Reads maps as they are, and remembers nothing. */
export const untracked: Read = readFor(undefined, undefined);
