// One subscriber's place in a map's mutation log, and the snapshots that it reads from there.
import { Fold } from './fold.ts';
import type { Id } from './hash.ts';
import type { FoldRound, LogNode, MutationLog } from './log.ts';
import { State } from './state.ts';
import type { KeyRule } from './state.ts';
import { ConflatingStream } from './stream.ts';
import { Subset } from './subset.ts';
import type { Snapshot, StateView, SubscribeOptions, Subscription, Update } from './types.ts';

/** What a subscription needs of its map. */
export interface Source<K, V> {
  readonly label: string;
  readonly maxLag: number;
  readonly log: MutationLog<K, V>;
  readonly keys: KeyRule<K>;
  state(): StateView<K, V>;
  isClosed(): boolean;
  /** Brings a map that is computed up to date. */
  refresh(): void;
}

/** Where a live subscription stands; dropped as a whole when it ends, so that nothing stays pinned. */
interface Cursor<K, V> {
  readonly source: Source<K, V>;
  /** The last node consumed, and the version of the map at that node. */
  node: LogNode<K, V>;
  version: number;
  /** What was consumed but not delivered, because the backlog had grown too long. */
  fold: Fold<K, V> | undefined;
  /** The version up to which everything was delivered. */
  delivered: number;
  subset: Subset<K, V> | undefined;
}

const nothing = new State<never, never>({ coded: false, identify: (key) => key }).view();

export class MapSubscription<K, V> extends ConflatingStream<Snapshot<K, V>> implements Subscription<K, V> {
  readonly #withState: boolean;
  #initial = true;
  #place: Cursor<K, V> | undefined;
  #onDirty: (() => void) | undefined;
  readonly #keys: KeyRule<K>;

  constructor(source: Source<K, V>, options: SubscribeOptions<K, V>) {
    super(`the subscription to ${source.label}`, options.signal);
    this.#withState = options.state !== false;
    this.#keys = source.keys;
    if (source.isClosed()) this.end();
    if (this.ended) return;
    const { log } = source;
    log.join(this);
    this.#place = {
      source,
      node: log.tail,
      version: log.version,
      delivered: log.version,
      fold: undefined,
      subset: undefined,
    };
    if (options.include !== undefined) this.#place.subset = this.#enterSubset(source, options.include);
  }

  get lag(): number {
    return this.#place === undefined ? 0 : this.#place.source.log.version - this.#place.delivered;
  }

  /** What two keys must have in common to be the same key. */
  identify(key: K): Id {
    return this.#keys.identify(key);
  }

  /** Calls back, instead of serving reads, whenever something may be pending and when the subscription ends. */
  watch(onDirty: () => void): void {
    this.#onDirty = onDirty;
    this.park();
  }

  take(): Snapshot<K, V> | undefined {
    const place = this.#place;
    if (place === undefined) return undefined;
    const { source } = place;
    source.refresh();
    const tooLong = source.log.version - place.version > source.maxLag;
    const fold = place.fold ?? (tooLong ? new Fold<K, V>(source.maxLag) : undefined);
    const updates: Update<K, V>[] = [];
    this.#consume(place, fold === undefined ? (_id, update) => void updates.push(update) : fold.add.bind(fold));
    // The predicate may have failed, or ended this subscription.
    if (this.ended) return undefined;
    const { version } = place;
    place.fold = undefined;
    place.delivered = version;
    const pending = fold?.updates() ?? updates;
    if (pending.length === 0 && !this.#initial) return undefined;
    const initial = this.#initial;
    const state = initial || this.#withState ? (place.subset ?? source).state() : (nothing as StateView<K, V>);
    this.#initial = false;
    return { state, updates: pending, initial, coalesced: fold !== undefined, version };
  }

  override deliver(): void {
    if (this.#onDirty === undefined) {
      super.deliver();
      return;
    }
    this.park();
    this.#onDirty();
  }

  catchUp(round: FoldRound<K, V>): void {
    const place = this.#place;
    if (place === undefined || place.source.log.version - place.version <= place.source.maxLag) return;
    // Subscribers that stand at the same place would all make the same fold: make it once and let them hold it together.
    // Whoever reads first adds what came since; the others will only add that again.
    const start = place.fold ?? place.node;
    const made = place.subset === undefined ? round.get(start) : undefined;
    const fold = made ?? place.fold ?? new Fold<K, V>(place.source.maxLag);
    if (made === undefined) this.#consume(place, fold.add.bind(fold));
    else moveToTail(place);
    if (this.ended) return;
    place.fold = fold;
    if (place.subset === undefined) round.set(start, fold);
  }

  protected park(): void {
    this.#place?.source.log.park(this);
  }

  protected release(): void {
    this.#place?.source.log.leave(this);
    this.#place = undefined;
    this.#onDirty?.();
    this.#onDirty = undefined;
  }

  #enterSubset(source: Source<K, V>, include: (key: K, value: V) => boolean): Subset<K, V> | undefined {
    try {
      return new Subset(include, this.#keys, source.state());
    } catch (error) {
      this.end({ error });
      return undefined;
    }
  }

  // Emits what happened since the last consumed node, as this subscriber sees it, and moves to the tail.
  #consume(place: Cursor<K, V>, emit: (id: Id, update: Update<K, V>) => void): void {
    const { subset } = place;
    let node = place.node.next;
    moveToTail(place);
    const tail = place.node;
    try {
      for (; node !== undefined; node = node === tail ? undefined : node.next) {
        const update = subset === undefined ? node.update : subset.follow(node);
        if (update !== undefined) emit(node.id, update);
      }
    } catch (error) {
      this.end({ error });
    }
  }
}

function moveToTail<K, V>(place: Cursor<K, V>): void {
  place.node = place.source.log.tail;
  place.version = place.source.log.version;
}
