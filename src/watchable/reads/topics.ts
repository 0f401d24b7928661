// The topics of one map: everything that somebody reads of it. A change finds exactly the readers that it affects.
import type { Id } from '../hash.ts';
import type { Selection } from './read.ts';
import { STALE, Subject } from './subject.ts';

/** One entry was added (only `after`), changed (both) or deleted (only `before`). */
export interface Change<K, V> {
  readonly id: Id;
  readonly key: K;
  readonly before: V | undefined;
  readonly after: V | undefined;
}

/** The values under which an index files an entry, before and after a change. */
export type Filings = readonly [before: readonly string[], after: readonly string[]];

/** Keeps a computed map up to date; a stored map needs none. */
export interface Upkeep {
  /** Brings the map up to date before it is read. */
  refresh(): void;
  /** Called when the last reader of the map has left. */
  idle(): void;
}

/** The topics of one index, by the value that entries are filed under: all of its entries, and those that match. */
interface IndexTopics<K, V> {
  readonly all: Map<string, Topic>;
  readonly matching: Map<string, Map<unknown, ListTopic<K, V>>>;
}

/** Called with each change while it is made, and with `undefined` if it is not known what has changed. */
export type ChangeListener<K, V> = (change: Change<K, V> | undefined) => void;

export class Topics<K, V> {
  readonly #upkeep: Upkeep | undefined;
  readonly #entries = new Map<Id, Topic>();
  readonly #presences = new Map<Id, Topic>();
  readonly #lists = new Map<unknown, ListTopic<K, V>>();
  readonly #indexes = new Map<string, IndexTopics<K, V>>();
  readonly #listeners = new Set<ChangeListener<K, V>>();
  /** Holds one topic at most. */
  readonly #keys = new Map<undefined, Topic>();
  #count = 0;

  constructor(upkeep?: Upkeep) {
    this.#upkeep = upkeep;
  }

  get isRead(): boolean {
    return this.#count > 0;
  }

  /** The value of one entry, whether it exists or not. */
  entry(id: Id): Subject {
    return this.#entries.get(id) ?? this.#add(this.#entries, id, new Topic(this, this.#entries, id));
  }

  /** Whether an entry exists. */
  presence(id: Id): Subject {
    return this.#presences.get(id) ?? this.#add(this.#presences, id, new Topic(this, this.#presences, id));
  }

  /** Which entries exist, and how many. */
  keys(): Subject {
    return this.#keys.get(undefined) ?? this.#add(this.#keys, undefined, new Topic(this, this.#keys, undefined));
  }

  /** The entries of a selection. Selections with the same id or predicate share a topic. */
  list({ index, matches, id }: Selection<K, V>): Subject {
    const name = id ?? matches;
    if (index === undefined) return this.#lists.get(name) ?? this.#addList(this.#lists, name, matches);
    const [indexName, under] = index;
    let topics = this.#indexes.get(indexName);
    if (topics === undefined) this.#indexes.set(indexName, (topics = { all: new Map(), matching: new Map() }));
    const { all, matching } = topics;
    if (matches === undefined) return all.get(under) ?? this.#add(all, under, new Topic(this, all, under));
    let lists = matching.get(under);
    if (lists === undefined) matching.set(under, (lists = new Map()));
    return lists.get(name) ?? this.#addList(lists, name, matches, () => matching.delete(under));
  }

  /** Calls back with each change. Returns a function that stops it. */
  listen(listener: ChangeListener<K, V>): () => void {
    this.#count++;
    this.#listeners.add(listener);
    return () => {
      if (this.#listeners.delete(listener)) this.dropped();
    };
  }

  /** Marks the readers of what changed. `filings` returns the values under which an index files the entry. */
  changed(change: Change<K, V>, filings: (index: string) => Filings): void {
    if (this.#count === 0) return;
    const { id, before, after } = change;
    this.#entries.get(id)?.mark(STALE, change);
    if (before === undefined || after === undefined) {
      this.#presences.get(id)?.mark(STALE, change);
      this.#keys.get(undefined)?.mark(STALE, change);
    }
    for (const topic of this.#lists.values()) topic.changed(before, after, change);
    for (const [index, topics] of this.#indexes) {
      const [under, underNow] = filings(index);
      for (const name of under) filed(topics, name, before, underNow.includes(name) ? after : undefined, change);
      for (const name of underNow) if (!under.includes(name)) filed(topics, name, undefined, after, change);
    }
    for (const listener of this.#listeners) listener(change);
  }

  /** Marks all readers of more than single values. */
  allChanged(): void {
    const indexed = [...this.#indexes.values()].flatMap(({ all, matching }) => [all, ...matching.values()]);
    for (const topics of [this.#keys, this.#presences, this.#lists, ...indexed]) {
      for (const topic of topics.values()) topic.mark(STALE);
    }
    for (const listener of this.#listeners) listener(undefined);
  }

  /** Brings the map up to date. */
  refresh(): void {
    this.#upkeep?.refresh();
  }

  /** Called when a topic or a listener is removed. */
  dropped(): void {
    if (--this.#count === 0) this.#upkeep?.idle();
  }

  #addList(
    lists: Map<unknown, ListTopic<K, V>>,
    name: unknown,
    matches: Selection<K, V>['matches'],
    onEmpty?: () => void,
  ): Topic {
    return this.#add(lists, name, new ListTopic(this, lists, name, matches, onEmpty));
  }

  #add<N, T extends Topic>(topics: Map<N, T>, name: N, topic: T): T {
    topics.set(name, topic);
    this.#count++;
    return topic;
  }
}

/** Marks the readers of one index value after an entry under it has changed. */
function filed<K, V>(
  { all, matching }: IndexTopics<K, V>,
  under: string,
  before: V | undefined,
  after: V | undefined,
  change: Change<K, V>,
): void {
  all.get(under)?.mark(STALE, change);
  if (matching.size === 0) return;
  for (const topic of matching.get(under)?.values() ?? []) topic.changed(before, after, change);
}

/** What a topic needs of the `Topics` that it belongs to, and of the map that holds it. */
type TopicOwner = Pick<Topics<never, never>, 'refresh' | 'dropped'>;
interface TopicMap {
  readonly size: number;
  delete(name: unknown): boolean;
}

/** One thing that somebody reads. There are many topics, so each has no closures of its own. */
class Topic extends Subject {
  readonly #owner: TopicOwner;
  readonly #siblings: TopicMap;
  readonly #name: unknown;

  constructor(owner: TopicOwner, siblings: TopicMap, name: unknown) {
    super();
    this.#owner = owner;
    this.#siblings = siblings;
    this.#name = name;
  }

  refresh(): void {
    this.#owner.refresh();
  }

  protected unread(): void {
    this.#siblings.delete(this.#name);
    this.#owner.dropped();
  }
}

/** The entries that match a predicate, of all or of those under one value of an index. */
class ListTopic<K, V> extends Topic {
  readonly #matches: Selection<K, V>['matches'];
  readonly #onUnread: () => void;

  constructor(
    owner: TopicOwner,
    lists: TopicMap,
    name: unknown,
    matches: Selection<K, V>['matches'],
    onEmpty?: () => void,
  ) {
    super(owner, lists, name);
    this.#matches = matches;
    this.#onUnread = () => {
      if (lists.size === 0) onEmpty?.();
    };
  }

  /** Marks the readers if the entry was in the list before the change, or is in it now. */
  changed(before: V | undefined, after: V | undefined, change: Change<K, V>): void {
    if (this.#isIn(change.key, before) || this.#isIn(change.key, after)) this.mark(STALE, change);
  }

  protected override unread(): void {
    super.unread();
    this.#onUnread();
  }

  // A predicate that throws must fail its reader, not the publisher.
  #isIn(key: K, value: V | undefined): boolean {
    if (value === undefined) return false;
    try {
      return this.#matches?.(value, key) ?? true;
    } catch {
      return true;
    }
  }
}
