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

/** The readers of one index, by what it files entries under: of all entries there, and of those that match. */
interface IndexTopics<K, V> {
  readonly all: Map<string, Topic>;
  readonly matching: Map<string, Map<unknown, ListTopic<K, V>>>;
}

/** Told of each change while it is made; of `undefined` if it is not known what has changed. */
export type ChangeListener<K, V> = (change: Change<K, V> | undefined) => void;

export class Topics<K, V> {
  readonly #upkeep: Upkeep | undefined;
  readonly #entries = new Map<Id, Topic>();
  readonly #presences = new Map<Id, Topic>();
  readonly #lists = new Map<unknown, ListTopic<K, V>>();
  readonly #indexes = new Map<string, IndexTopics<K, V>>();
  readonly #listeners = new Set<ChangeListener<K, V>>();
  /** One topic, or none. */
  readonly #keys = new Map<undefined, Topic>();
  #count = 0;

  constructor(upkeep?: Upkeep) {
    this.#upkeep = upkeep;
  }

  get isRead(): boolean {
    return this.#count > 0;
  }

  /** The value of one entry, be it there or not. */
  entry(id: Id): Subject {
    return this.#entries.get(id) ?? this.#add(this.#entries, id, new Topic(this, this.#entries, id));
  }

  /** Whether an entry is there. */
  presence(id: Id): Subject {
    return this.#presences.get(id) ?? this.#add(this.#presences, id, new Topic(this, this.#presences, id));
  }

  /** Which entries there are, and how many. */
  keys(): Subject {
    return this.#keys.get(undefined) ?? this.#add(this.#keys, undefined, new Topic(this, this.#keys, undefined));
  }

  /** The entries of a selection. Selections that say that they are the same share a topic. */
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

  /** Calls back with each change. Returns what ends that. */
  listen(listener: ChangeListener<K, V>): () => void {
    this.#count++;
    this.#listeners.add(listener);
    return () => {
      if (this.#listeners.delete(listener)) this.dropped();
    };
  }

  /** Marks the readers of what changed. `filings` says under what an index files the entry. */
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

  /** Marks everybody who asked for more than single values. */
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

  /** One thing that was read is read no more. */
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

/** An entry that was or is filed under a name has changed. */
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

/** What a topic needs to know of those that it is one of. */
type Site = Pick<Topics<never, never>, 'refresh' | 'dropped'>;
interface Among {
  readonly size: number;
  delete(name: unknown): boolean;
}

/** One thing that somebody reads. There are many, so it holds no functions of its own. */
class Topic extends Subject {
  readonly #site: Site;
  readonly #among: Among;
  readonly #name: unknown;

  constructor(site: Site, among: Among, name: unknown) {
    super();
    this.#site = site;
    this.#among = among;
    this.#name = name;
  }

  refresh(): void {
    this.#site.refresh();
  }

  protected unread(): void {
    this.#among.delete(this.#name);
    this.#site.dropped();
  }
}

/** The entries that match, of all or of those under one name of an index. */
class ListTopic<K, V> extends Topic {
  readonly #matches: Selection<K, V>['matches'];
  readonly #onUnread: () => void;

  constructor(site: Site, lists: Among, name: unknown, matches: Selection<K, V>['matches'], onEmpty?: () => void) {
    super(site, lists, name);
    this.#matches = matches;
    this.#onUnread = () => {
      if (lists.size === 0) onEmpty?.();
    };
  }

  /** An entry of the list is no longer what it was: it had, or has, one of these values while it was in the list. */
  changed(before: V | undefined, after: V | undefined, change: Change<K, V>): void {
    if (this.#isIn(change.key, before) || this.#isIn(change.key, after)) this.mark(STALE, change);
  }

  protected override unread(): void {
    super.unread();
    this.#onUnread();
  }

  // Of a predicate that throws its reader should know, and a publisher should not.
  #isIn(key: K, value: V | undefined): boolean {
    if (value === undefined) return false;
    try {
      return this.#matches?.(value, key) ?? true;
    } catch {
      return true;
    }
  }
}
