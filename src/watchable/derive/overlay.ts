// "What if": maps with entries added, changed or deleted. Derived maps are computed again on top of them; the original
// maps and their readers are not affected.
import { EntryIndex, listingOf } from '../entry-index.ts';
import type { Listing } from '../entry-index.ts';
import { deepFreeze } from '../freeze.ts';
import type { Id } from '../hash.ts';
import { readFor, SOURCE } from '../reads/read.ts';
import type { Lookup, Read, Readable, Selection, Source, World } from '../reads/read.ts';
import type { Reads } from '../reads/subject.ts';
import { Topics } from '../reads/topics.ts';
import type { ChangeListener } from '../reads/topics.ts';

type AnyLookup = Lookup<never, unknown>;

export class Overlay implements World {
  /** Reads maps as they are in the overlay, without tracking the reads. */
  readonly read: Read = readFor(undefined, this);
  readonly #maps = new WeakMap<AnyLookup, AnyLookup>();

  /** The map as it is in the overlay. It follows the original except for the entries that the overlay changes. */
  of<K, V>(map: Readable<K, V>): Readable<K, V>;
  of<K, V>(map: Lookup<K, V>): Lookup<K, V>;
  of<K, V>(map: Lookup<K, V>): Lookup<K, V> {
    let own = this.#maps.get(map);
    if (own === undefined) {
      own = map[SOURCE].inWorld?.(this) ?? new OverlaidMap(map as Readable<K, V>);
      this.#maps.set(map, own);
      // A map that already belongs to the overlay stands for itself.
      this.#maps.set(own, own);
    }
    return own as Lookup<K, V>;
  }

  /** Adds or replaces an entry. */
  store<K, V>(map: Readable<K, V>, key: K, value: V): void {
    this.#overlaid(map).patch(key, deepFreeze(value));
  }

  /** Deletes an entry. */
  delete<K, V>(map: Readable<K, V>, key: K): void {
    this.#overlaid(map).patch(key, undefined);
  }

  #overlaid<K, V>(map: Readable<K, V>): OverlaidMap<K, V> {
    const own = this.of(map);
    if (own instanceof OverlaidMap) return own;
    throw new TypeError('a derived map follows from others: overlay those');
  }
}

interface Patch<K, V> {
  readonly key: K;
  /** Undefined if the entry is deleted. */
  readonly value: V | undefined;
}

class OverlaidMap<K, V> implements Readable<K, V>, Source<K, V> {
  readonly #base: Source<K, V>;
  readonly #patches = new Map<Id, Patch<K, V>>();
  /** The patches by index, for the indexes read so far, so that reading a few does not scan all patches. */
  readonly #indexes = new Map<string, EntryIndex<Patch<K, V>>>();
  readonly #topics = new Topics<K, V>();

  constructor(map: Readable<K, V>) {
    this.#base = map[SOURCE];
  }

  get [SOURCE](): this {
    return this;
  }

  get size(): number {
    return this.count();
  }

  load(key: K): V | undefined {
    return this.get(key);
  }

  list(selection: Selection<K, V> = {}): readonly V[] {
    return this.select(selection).values;
  }

  patch(key: K, value: V | undefined): void {
    const id = this.identify(key);
    const before = this.get(key);
    const patch = { key, value };
    this.#patches.set(id, patch);
    for (const [name, index] of this.#indexes) this.#file(name, index, id, patch);
    if (before === undefined && value === undefined) return;
    const filed = (index: string, under: V | undefined): readonly string[] =>
      under === undefined ? [] : this.filings(index, under, key);
    this.#topics.changed({ id, key, before, after: value }, (index) => [filed(index, before), filed(index, value)]);
  }

  identify(key: K): Id {
    return this.#base.identify(key);
  }

  get(key: K, reads?: Reads): V | undefined {
    const id = this.identify(key);
    reads?.add(this.#topics.entry(id));
    const patch = this.#patches.get(id);
    return patch === undefined ? this.#base.get(key, reads) : patch.value;
  }

  has(key: K, reads?: Reads): boolean {
    const id = this.identify(key);
    reads?.add(this.#topics.presence(id));
    const patch = this.#patches.get(id);
    return patch === undefined ? this.#base.has(key, reads) : patch.value !== undefined;
  }

  keys(reads?: Reads): readonly K[] {
    reads?.add(this.#topics.keys());
    const keys = this.#base.keys(reads);
    if (this.#patches.size === 0) return keys;
    const own = keys.map((key) => [this.identify(key), key] as const).filter(([id]) => !this.#patches.has(id));
    const added = [...this.#patches].filter(([, { value }]) => value !== undefined);
    return listingOf([...own, ...added.map(([id, { key }]) => [id, key] as const)]).values;
  }

  count(reads?: Reads): number {
    reads?.add(this.#topics.keys());
    let count = this.#base.count(reads);
    for (const { key, value } of this.#patches.values()) {
      count += Number(value !== undefined) - Number(this.#base.has(key));
    }
    return count;
  }

  select(selection: Selection<K, V>, reads?: Reads): Listing<V> {
    const listing = this.#base.select(selection, reads);
    reads?.add(this.#topics.list(selection));
    if (this.#patches.size === 0) return listing;
    const { index, matches } = selection;
    const entries = listing.ids
      .map((id, at): readonly [Id, V] => [id, listing.values[at]!])
      .filter(([id]) => !this.#patches.has(id));
    for (const [id, { key, value }] of index === undefined ? this.#patches : this.#filed(...index)) {
      if (value !== undefined && matches?.(value, key) !== false) entries.push([id, value]);
    }
    return listingOf(entries);
  }

  /** The patches that an index files under a name. */
  #filed(name: string, under: string): readonly (readonly [Id, Patch<K, V>])[] {
    let index = this.#indexes.get(name);
    if (index === undefined) {
      this.#indexes.set(name, (index = new EntryIndex((id) => this.#patches.get(id)!)));
      for (const [id, patch] of this.#patches) this.#file(name, index, id, patch);
    }
    const { ids, values } = index.get(under);
    return ids.map((id, at) => [id, values[at]!]);
  }

  #file(name: string, index: EntryIndex<Patch<K, V>>, id: Id, patch: Patch<K, V>): void {
    const { key, value } = patch;
    index.file(id, value === undefined ? [] : this.filings(name, value, key));
  }

  filings(index: string, value: V, key: K): readonly string[] {
    return this.#base.filings(index, value, key);
  }

  listen(listener: ChangeListener<K, V>): () => void {
    const ends = [
      this.#topics.listen(listener),
      this.#base.listen((change) => {
        if (change === undefined || !this.#patches.has(change.id)) listener(change);
      }),
    ];
    return () => {
      for (const end of ends) end();
    };
  }

  refresh(): void {
    this.#base.refresh();
  }
}
