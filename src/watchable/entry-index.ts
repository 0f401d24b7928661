// One index of a map: finds the entries that are filed under a value, in the order of their ids, without a scan.
import type { Id } from './hash.ts';

/** Some entries of a map in the order of their ids; the two lists are parallel. */
export interface Listing<V> {
  readonly ids: readonly Id[];
  readonly values: readonly V[];
}

const NONE: Listing<never> = { ids: [], values: [] };

/** Sorts entries by their ids. */
export function listingOf<V>(entries: (readonly [Id, V])[]): Listing<V> {
  entries.sort(([a], [b]) => (precedes(a, b) ? -1 : 1));
  return {
    ids: entries.map(([id]) => id),
    values: Object.freeze(entries.map(([, value]) => value)),
  };
}

export class EntryIndex<V> {
  readonly #valueOf: (id: Id) => V;
  readonly #buckets = new Map<string, Bucket<V>>();
  /** What each id is filed under now: an index function that is not pure must not leave stale entries behind. */
  readonly #filed = new Map<Id, readonly string[]>();

  /** `valueOf` returns the current value of an entry: the index itself only knows ids. */
  constructor(valueOf: (id: Id) => V) {
    this.#valueOf = valueOf;
  }

  /** The entries under a value. */
  get(under: string): Listing<V> {
    return this.#buckets.get(under)?.listing(this.#valueOf) ?? NONE;
  }

  /** What an id is filed under. */
  filed(id: Id): readonly string[] {
    return this.#filed.get(id) ?? [];
  }

  /** All values that have entries, sorted. */
  filings(): string[] {
    return [...this.#buckets.keys()].sort();
  }

  /**
   * Files an entry, whose value may have changed, under exactly these values; an empty list removes it. `before`: what
   * it is filed under now.
   */
  file(id: Id, under: readonly string[], before = this.filed(id)): void {
    const after = under.length < 2 ? under : [...new Set(under)];
    for (const name of before) {
      if (after.includes(name)) continue;
      const bucket = this.#buckets.get(name)!;
      bucket.delete(id);
      if (bucket.isEmpty) this.#buckets.delete(name);
    }
    for (const name of after) {
      let bucket = this.#buckets.get(name);
      if (bucket === undefined) this.#buckets.set(name, (bucket = new Bucket()));
      bucket.set(id);
    }
    if (after.length === 0) this.#filed.delete(id);
    else if (before.length !== after.length || !before.every((name, at) => name === after[at])) {
      this.#filed.set(id, after);
    }
  }
}

/** No id: any other value may be one. */
const NOBODY: unique symbol = Symbol('nobody');

class Bucket<V> {
  readonly #ids = new Set<Id>();
  /** Built on first read and shared until the next change. */
  #listing: Listing<V> | undefined;
  /** The one entry whose value has changed since then. After a second one, everything is sorted again. */
  #replaced: Id = NOBODY;

  get isEmpty(): boolean {
    return this.#ids.size === 0;
  }

  /** Adds an entry, or records that its value has changed. */
  set(id: Id): void {
    if (this.#listing === undefined) {
      this.#ids.add(id);
      return;
    }
    const isPatchable = this.#ids.has(id) && (this.#replaced === NOBODY || this.#replaced === id);
    if (isPatchable) this.#replaced = id;
    else {
      this.#ids.add(id);
      this.#forgetListing();
    }
  }

  delete(id: Id): void {
    this.#ids.delete(id);
    this.#forgetListing();
  }

  listing(valueOf: (id: Id) => V): Listing<V> {
    const listing = this.#listing;
    const replaced = this.#replaced;
    if (listing !== undefined && replaced === NOBODY) return listing;
    this.#replaced = NOBODY;
    this.#listing = listing
      ? withValue(listing, replaced, valueOf(replaced))
      : listingOf(Array.from(this.#ids, (id) => [id, valueOf(id)]));
    return this.#listing;
  }

  #forgetListing(): void {
    this.#listing = undefined;
    this.#replaced = NOBODY;
  }
}

/** Above this many changes, sorting everything again is faster than inserting them one by one. */
const MAX_PATCHED = 64;

/** Entries sorted by id. The listing is built on first read and shared until the next change. */
export class SortedEntries<V> {
  readonly #entries: () => (readonly [Id, V])[];
  readonly #changes = new Map<Id, V | undefined>();
  #listing: Listing<V> | undefined;

  constructor(entries: () => (readonly [Id, V])[]) {
    this.#entries = entries;
  }

  /** Records the new value of an entry; undefined if it was deleted. */
  note(id: Id, value: V | undefined): void {
    if (this.#listing === undefined) return;
    this.#changes.set(id, value);
    if (this.#changes.size <= MAX_PATCHED) return;
    this.#listing = undefined;
    this.#changes.clear();
  }

  listing(): Listing<V> {
    if (this.#listing === undefined) this.#listing = listingOf(this.#entries());
    else if (this.#changes.size > 0) this.#listing = patched(this.#listing, this.#changes);
    this.#changes.clear();
    return this.#listing;
  }
}

/** The listing with another value of one entry. */
function withValue<V>({ ids, values }: Listing<V>, id: Id, value: V): Listing<V> {
  return { ids, values: Object.freeze(values.with(positionOf(id, ids), value)) };
}

function patched<V>(listing: Listing<V>, changes: ReadonlyMap<Id, V | undefined>): Listing<V> {
  const ids = listing.ids.slice();
  const values = listing.values.slice();
  for (const [id, value] of changes) {
    const at = positionOf(id, ids);
    const present = at < ids.length && isSame(ids[at], id) ? 1 : 0;
    if (value === undefined) {
      ids.splice(at, present);
      values.splice(at, present);
    } else if (present === 1) {
      values[at] = value;
    } else {
      ids.splice(at, 0, id);
      values.splice(at, 0, value);
    }
  }
  return { ids, values: Object.freeze(values) };
}

/** The position of an id among sorted ones, or the one to insert it at. */
function positionOf(id: Id, ids: readonly Id[]): number {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (precedes(ids[middle], id)) low = middle + 1;
    else high = middle;
  }
  // Different symbols can look alike.
  while (low < ids.length && !isSame(ids[low], id) && !precedes(id, ids[low])) low++;
  return low;
}

/** The order of ids: by type, then as the language orders values of the type. */
function precedes(a: Id, b: Id): boolean {
  if (typeof a === 'string' && typeof b === 'string') return a < b;
  if (typeof a !== typeof b) return typeof a < typeof b;
  if (typeof a === 'number') return a < (b as number) || (!Number.isNaN(a) && Number.isNaN(b));
  return typeof a === 'bigint' ? a < (b as bigint) : String(a) < String(b);
}

/** Whether two ids are the same key of a native map. */
function isSame(a: Id, b: Id): boolean {
  return a === b || (Number.isNaN(a) && Number.isNaN(b));
}
