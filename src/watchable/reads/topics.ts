// What can be read of one map, found again from a change of it: that is how a change finds exactly its readers.
import type { Id } from '../hash.ts';
import type { Selection } from './read.ts';
import { STALE, Subject } from './subject.ts';

/** One entry came (`after` alone), changed (both) or went (`before` alone). */
export interface Change<K, V> {
  readonly id: Id;
  readonly key: K;
  readonly before: V | undefined;
  readonly after: V | undefined;
}

/** Under what an entry was found before a change, and under what after it. */
export type Filings = readonly [before: readonly string[], after: readonly string[]];

/** What keeps the map of the topics up to date; a stored map needs nothing. */
export interface Upkeep {
  /** Brings the map up to date before it is read. */
  refresh(): void;
  /** Nobody reads the map any more. */
  idle(): void;
}

type Lists<K, V> = Map<unknown, ListTopic<K, V>>;

export class Topics<K, V> {
  readonly #upkeep: Upkeep | undefined;
  readonly #entries = new Map<Id, Topic>();
  readonly #presences = new Map<Id, Topic>();
  readonly #lists: Lists<K, V> = new Map();
  readonly #indexes = new Map<string, Map<string, Lists<K, V>>>();
  readonly #listeners = new Set<(change: Change<K, V>) => void>();
  #keys: Topic | undefined;
  #count = 0;

  constructor(upkeep?: Upkeep) {
    this.#upkeep = upkeep;
  }

  get isRead(): boolean {
    return this.#count > 0;
  }

  /** The value of one entry, be it there or not. */
  entry(id: Id): Subject {
    return this.#entries.get(id) ?? this.#add(this.#entries, id, (drop) => new Topic(drop, this.#upkeep));
  }

  /** Whether an entry is there. */
  presence(id: Id): Subject {
    return this.#presences.get(id) ?? this.#add(this.#presences, id, (drop) => new Topic(drop, this.#upkeep));
  }

  /** Which entries there are, and how many. */
  keys(): Subject {
    if (this.#keys === undefined) {
      this.#count++;
      this.#keys = new Topic(() => {
        this.#keys = undefined;
        this.#dropped();
      }, this.#upkeep);
    }
    return this.#keys;
  }

  /** The entries of a selection. Selections that say that they are the same share a topic. */
  list({ index, matches, id }: Selection<K, V>): Subject {
    const name = id ?? matches;
    const make = (drop: () => void): ListTopic<K, V> => new ListTopic(drop, this.#upkeep, matches);
    if (index === undefined) return this.#lists.get(name) ?? this.#add(this.#lists, name, make);
    const [indexName, under] = index;
    const entries = inner(this.#indexes, indexName);
    const lists = inner(entries, under);
    return (
      lists.get(name) ??
      this.#add(lists, name, make, () => {
        if (lists.size === 0) entries.delete(under);
      })
    );
  }

  /** Calls back with each change, while it is made. Returns what ends that. */
  listen(listener: (change: Change<K, V>) => void): () => void {
    this.#count++;
    this.#listeners.add(listener);
    return () => {
      if (this.#listeners.delete(listener)) this.#dropped();
    };
  }

  /** Marks the readers of what changed. `filings` says under what an index files the entry. */
  changed(change: Change<K, V>, filings: (index: string) => Filings): void {
    if (this.#count === 0) return;
    const { id, before, after } = change;
    this.#entries.get(id)?.mark(STALE, change);
    if (before === undefined || after === undefined) {
      this.#presences.get(id)?.mark(STALE, change);
      this.#keys?.mark(STALE, change);
    }
    for (const topic of this.#lists.values()) {
      topic.changed(before, change);
      topic.changed(after, change);
    }
    for (const [index, entries] of this.#indexes) {
      const [under, underNow] = filings(index);
      for (const name of under) for (const topic of entries.get(name)?.values() ?? []) topic.changed(before, change);
      for (const name of underNow) for (const topic of entries.get(name)?.values() ?? []) topic.changed(after, change);
    }
    for (const listener of this.#listeners) listener(change);
  }

  /** Marks everybody who asked for more than single values. */
  allChanged(): void {
    this.#keys?.mark(STALE);
    for (const topic of this.#presences.values()) topic.mark(STALE);
    for (const topic of this.#lists.values()) topic.mark(STALE);
    for (const entries of this.#indexes.values()) {
      for (const lists of entries.values()) for (const topic of lists.values()) topic.mark(STALE);
    }
  }

  #add<N, T extends Topic>(topics: Map<N, T>, name: N, make: (drop: () => void) => T, tidy?: () => void): T {
    const topic = make(() => {
      topics.delete(name);
      tidy?.();
      this.#dropped();
    });
    topics.set(name, topic);
    this.#count++;
    return topic;
  }

  #dropped(): void {
    if (--this.#count === 0) this.#upkeep?.idle();
  }
}

function inner<K, A, B>(maps: Map<K, Map<A, B>>, name: K): Map<A, B> {
  let map = maps.get(name);
  if (map === undefined) maps.set(name, (map = new Map()));
  return map;
}

class Topic extends Subject {
  readonly #drop: () => void;
  readonly #upkeep: Upkeep | undefined;

  constructor(drop: () => void, upkeep: Upkeep | undefined) {
    super();
    this.#drop = drop;
    this.#upkeep = upkeep;
  }

  refresh(): void {
    this.#upkeep?.refresh();
  }

  protected unread(): void {
    this.#drop();
  }
}

class ListTopic<K, V> extends Topic {
  readonly #matches: ((value: V, key: K) => boolean) | undefined;

  constructor(drop: () => void, upkeep: Upkeep | undefined, matches: ((value: V, key: K) => boolean) | undefined) {
    super(drop, upkeep);
    this.#matches = matches;
  }

  /** An entry that has this value, or had it, is no longer what it was. */
  changed(value: V | undefined, change: Change<K, V>): void {
    if (value !== undefined && this.#isIn(change.key, value)) this.mark(STALE, change);
  }

  // Of a predicate that throws its reader shall know, and a publisher shall not.
  #isIn(key: K, value: V): boolean {
    try {
      return this.#matches?.(value, key) ?? true;
    } catch {
      return true;
    }
  }
}
