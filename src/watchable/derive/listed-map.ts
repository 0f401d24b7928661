// A map of computed entries that can be listed, indexed and subscribed to. It keeps its entries in a watchable map
// while somebody reads more than single keys, and brings them up to date before each read.
import type { Listing } from '../entry-index.ts';
import type { Id } from '../hash.ts';
import { WatchableMap } from '../map.ts';
import { SOURCE } from '../reads/read.ts';
import type { Lookup, Selection, Source, World } from '../reads/read.ts';
import type { Reads } from '../reads/subject.ts';
import type { ChangeListener } from '../reads/topics.ts';
import { dropLater, lags, startLagging, stopLagging } from '../reads/turn.ts';
import type { ReadonlyWatchable, StateView, SubscribeOptions, Subscription, WatchableOptions } from '../types.ts';
import { cycleThrough, Derivation, within } from './derivation.ts';

export abstract class ListedMap<K, V> extends Derivation implements ReadonlyWatchable<K, V>, Source<K, V> {
  readonly name: string;
  readonly closed = false;
  protected readonly kept: WatchableMap<K, V>;
  readonly #failures = new Map<unknown, unknown>();
  #isKept = false;
  #isFlushing = false;

  constructor(name: string, options: WatchableOptions<K, V>) {
    super();
    this.name = name;
    const upkeep = { refresh: () => this.refresh(), idle: () => dropLater(this) };
    this.kept = new WatchableMap({ ...options, name, isolate: 'none' }, upkeep);
  }

  /** Starts to keep entries: the first update has to process everything. */
  protected abstract start(): void;
  /** Processes what was marked since the last update, or everything. */
  protected abstract update(everything: boolean): void;
  /** Stops keeping entries. */
  protected abstract stop(): void;
  abstract inWorld(world: World): Lookup<K, V>;

  get [SOURCE](): this {
    return this;
  }

  /** Its name in error messages. */
  get label(): string {
    return `the entries of ${this.name}`;
  }

  get version(): number {
    this.refresh();
    return this.kept.version;
  }

  load(key: K): V | undefined {
    return this.get(key);
  }

  list(selection: Selection<K, V> = {}): readonly V[] {
    return this.select(selection).values;
  }

  loadAll(): StateView<K, V> {
    this.refresh();
    this.#throwFailure();
    return this.kept.loadAll();
  }

  loadAllMatching(matches: (key: K, value: V) => boolean): Map<K, V> {
    this.loadAll();
    return this.kept.loadAllMatching(matches);
  }

  /** A key whose computation fails keeps its last value here; reading the key throws the error. */
  subscribe(options: SubscribeOptions<K, V> = {}): Subscription<K, V> {
    this.refresh();
    return this.kept.subscribe(options);
  }

  identify(key: K): Id {
    return this.kept[SOURCE].identify(key);
  }

  get(key: K, reads?: Reads): V | undefined {
    this.refresh();
    return this.#answer(this.kept[SOURCE].get(key, reads));
  }

  has(key: K, reads?: Reads): boolean {
    this.refresh();
    return this.#answer(this.kept[SOURCE].has(key, reads));
  }

  keys(reads?: Reads): readonly K[] {
    this.refresh();
    return this.#answer(this.kept[SOURCE].keys(reads));
  }

  count(reads?: Reads): number {
    this.refresh();
    return this.#answer(this.kept[SOURCE].count(reads));
  }

  get size(): number {
    return this.count();
  }

  select(selection: Selection<K, V>, reads?: Reads): Listing<V> {
    this.refresh();
    return this.#answer(this.kept[SOURCE].select(selection, reads));
  }

  filings(index: string, value: V, key: K): readonly string[] {
    return this.kept[SOURCE].filings(index, value, key);
  }

  listen(listener: ChangeListener<K, V>): () => void {
    return this.kept[SOURCE].listen(listener);
  }

  /** Brings the entries up to date; starts to keep them if necessary. */
  refresh(): void {
    this.enter();
    this.flush();
  }

  flush(): void {
    if (this.#isFlushing) throw cycleThrough(this);
    const everything = this.isBehindOthers();
    if (this.#isKept && !everything && !lags(this)) return;
    this.#isFlushing = true;
    try {
      within({ of: this, owner: this }, () => {
        if (!this.#isKept) {
          this.#isKept = true;
          dropLater(this);
          this.start();
        }
        this.update(everything);
      });
      stopLagging(this);
    } finally {
      this.#isFlushing = false;
    }
  }

  dropIfUnread(): void {
    if (!this.#isKept || this.#isFlushing || this.kept[SOURCE].topics.isRead || this.kept.subscriptions > 0) return;
    this.#isKept = false;
    this.stop();
    this.#failures.clear();
    this.kept.replaceAll([]);
    stopLagging(this);
  }

  /** Marks the entries as possibly out of date. */
  protected suspect(): void {
    startLagging(this);
  }

  /** Records that a part failed to compute, or recovered. While one fails, lists throw: they would be incomplete. */
  protected failed(part: unknown, failure: { readonly error: unknown } | undefined): void {
    if (failure === undefined ? !this.#failures.delete(part) : this.#failures.get(part) === failure.error) return;
    if (failure !== undefined) this.#failures.set(part, failure.error);
    this.kept[SOURCE].topics.allChanged();
  }

  #answer<T>(answer: T): T {
    this.#throwFailure();
    return answer;
  }

  #throwFailure(): void {
    for (const error of this.#failures.values()) throw error;
  }
}
