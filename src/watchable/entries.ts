// The entries of a watchable map with everything that finds them: state, indexes, sorted lists, and who read what.
import { EntryIndex, SortedEntries } from './entry-index.ts';
import type { Listing } from './entry-index.ts';
import type { Id } from './hash.ts';
import type { IndexFunction, Selection, Source } from './reads/read.ts';
import type { Reads } from './reads/subject.ts';
import { Topics } from './reads/topics.ts';
import type { Change, ChangeListener, Filings, Upkeep } from './reads/topics.ts';
import { State } from './state.ts';
import type { KeyRule } from './state.ts';
import type { StateView } from './types.ts';

interface Index<K, V> {
  /** Its position among all indexes. */
  readonly at: number;
  readonly of: IndexFunction<K, V>;
  readonly entries: EntryIndex<V>;
}

const NO_FILINGS: readonly string[] = [];

/** Options for the entries of one map. */
export interface EntriesOptions<K, V> extends KeyRule<K> {
  readonly label: string;
  readonly indexes: Readonly<Record<string, IndexFunction<K, V>>>;
  readonly upkeep: Upkeep | undefined;
}

export class Entries<K, V> implements Source<K, V> {
  readonly topics: Topics<K, V>;
  readonly identify: (key: K) => Id;
  readonly #label: string;
  readonly #state: State<K, V>;
  readonly #indexes: Map<string, Index<K, V>>;
  readonly #sorted: SortedEntries<V>;
  /** Built on first read, and valid until a key is added or removed. */
  #keys: readonly K[] | undefined;

  constructor(options: EntriesOptions<K, V>) {
    this.topics = new Topics(options.upkeep);
    this.identify = options.identify;
    this.#label = options.label;
    this.#state = new State(options);
    this.#sorted = new SortedEntries(() => this.#state.entries());
    this.#indexes = new Map(
      Object.entries(options.indexes).map(([name, of], at) => [name, { at, of, entries: this.#newIndex() }]),
    );
  }

  /** The value; undefined when there is none, because undefined cannot be stored. */
  value(id: Id): V | undefined {
    return this.#state.get(id);
  }

  /** The key that was stored under an id that is present. */
  keyOf(id: Id): K {
    return this.#state.keyOf(id);
  }

  /** The state at this moment; the same object until the next write. */
  view(): StateView<K, V> {
    return this.#state.view();
  }

  /** Adds an index. If its function throws for an entry, the index is not added. */
  addIndex(name: string, of: IndexFunction<K, V>): void {
    const before = this.#indexes.get(name);
    if (before?.of === of) return;
    if (before !== undefined) throw new Error(`${this.#label} has an index "${name}" that indexes differently`);
    const entries = this.#newIndex();
    for (const [id, value] of this.#state.entries()) entries.file(id, of(value, this.#state.keyOf(id)));
    this.#indexes.set(name, { at: this.#indexes.size, of, entries });
  }

  /** Writes an entry, or removes it (`after` is undefined); if an index function throws, nothing has changed. */
  write(change: Change<K, V>): void {
    const { id, key, after } = change;
    const filings = this.#file(change);
    if (after === undefined) this.#state.delete(id);
    else this.#state.set(id, key, after);
    this.#sorted.note(id, after);
    if (change.before === undefined || after === undefined) this.#keys = undefined;
    if (this.topics.isRead) this.topics.changed(change, (index) => filings[this.#index(index).at]!);
  }

  /** Replaces a stored value with an equal one; nobody is notified. */
  replace(id: Id, key: K, value: V): void {
    this.#file({ id, key, before: value, after: value });
    this.#state.set(id, key, value);
    this.#sorted.note(id, value);
  }

  get(key: K, reads?: Reads): V | undefined {
    const id = this.identify(key);
    reads?.add(this.topics.entry(id));
    return this.#state.get(id);
  }

  has(key: K, reads?: Reads): boolean {
    const id = this.identify(key);
    reads?.add(this.topics.presence(id));
    return this.#state.get(id) !== undefined;
  }

  keys(reads?: Reads): readonly K[] {
    reads?.add(this.topics.keys());
    return (this.#keys ??= Object.freeze(this.#sorted.listing().ids.map((id) => this.#state.keyOf(id))));
  }

  count(reads?: Reads): number {
    reads?.add(this.topics.keys());
    return this.#state.size;
  }

  select(selection: Selection<K, V>, reads?: Reads): Listing<V> {
    const { index, matches } = selection;
    const listing = index === undefined ? this.#sorted.listing() : this.#index(index[0]).entries.get(index[1]);
    reads?.add(this.topics.list(selection));
    if (matches === undefined) return listing;
    const { ids, values } = listing;
    const isIn = values.map((value, at) => matches(value, this.#state.keyOf(ids[at])));
    return { ids: ids.filter((_id, at) => isIn[at]), values: values.filter((_value, at) => isIn[at]) };
  }

  filings(index: string, value: V, key: K): readonly string[] {
    return this.#index(index).of(value, key);
  }

  listen(listener: ChangeListener<K, V>): () => void {
    return this.topics.listen(listener);
  }

  refresh(): void {}

  /** Updates all indexes for an entry and returns its old and new filings. If one throws, nothing has changed. */
  #file({ id, key, after }: Change<K, V>): readonly Filings[] {
    const filings: Filings[] = [];
    for (const { of, entries } of this.#indexes.values()) {
      filings.push([entries.filed(id), after === undefined ? NO_FILINGS : of(after, key)]);
    }
    for (const { at, entries } of this.#indexes.values()) {
      const [before, now] = filings[at]!;
      entries.file(id, now, before);
    }
    return filings;
  }

  #newIndex(): EntryIndex<V> {
    return new EntryIndex((id) => this.#state.get(id)!);
  }

  #index(name: string): Index<K, V> {
    const index = this.#indexes.get(name);
    if (index !== undefined) return index;
    const declared = [...this.#indexes.keys()].join(', ') || 'none';
    throw new Error(`${this.#label} has no index "${name}" (declared: ${declared})`);
  }
}
