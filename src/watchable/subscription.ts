// One subscriber's position in the mutation log of a map, and the snapshots that it reads from there.
import { Fold } from './fold.ts';
import type { Id } from './hash.ts';
import type { FoldRound, LogNode, MutationLog } from './log.ts';
import { State } from './state.ts';
import type { KeyRule } from './state.ts';
import { ConflatingStream } from './stream.ts';
import { Subset } from './subset.ts';
import type { Snapshot, StateView, SubscribeOptions, Subscription, Update } from './types.ts';

/** What a subscription needs from its map. */
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

/** The position of a live subscription; dropped as a whole when it ends, so that nothing is kept in memory. */
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
  #cursor: Cursor<K, V> | undefined;
  #onDirty: (() => void) | undefined;
  readonly #keys: KeyRule<K>;

  constructor(source: Source<K, V>, options: SubscribeOptions<K, V>) {
    super(`the subscription to ${source.label}`, options.signal);
    this.#withState = options.state !== false;
    this.#keys = source.keys;
    if (source.isClosed()) this.end();
    if (this.ended) return;
    const { log } = source;
    log.addReader(this);
    this.#cursor = {
      source,
      node: log.tail,
      version: log.version,
      delivered: log.version,
      fold: undefined,
      subset: undefined,
    };
    if (options.include !== undefined) this.#cursor.subset = this.#enterSubset(source, options.include);
  }

  get lag(): number {
    return this.#cursor === undefined ? 0 : this.#cursor.source.log.version - this.#cursor.delivered;
  }

  /** The id of a key: equal keys have equal ids. */
  identify(key: K): Id {
    return this.#keys.identify(key);
  }

  /** Calls back, instead of serving reads, whenever something may be pending and when the subscription ends. */
  watch(onDirty: () => void): void {
    this.#onDirty = onDirty;
    this.park();
  }

  take(): Snapshot<K, V> | undefined {
    const cursor = this.#cursor;
    if (cursor === undefined) return undefined;
    const { source } = cursor;
    source.refresh();
    const tooLong = source.log.version - cursor.version > source.maxLag;
    const fold = cursor.fold ?? (tooLong ? new Fold<K, V>(source.maxLag) : undefined);
    const updates: Update<K, V>[] = [];
    this.#consume(cursor, fold === undefined ? (_id, update) => void updates.push(update) : fold.add.bind(fold));
    // The predicate may have failed, or ended this subscription.
    if (this.ended) return undefined;
    const { version } = cursor;
    cursor.fold = undefined;
    cursor.delivered = version;
    const pending = fold?.updates() ?? updates;
    if (pending.length === 0 && !this.#initial) return undefined;
    const initial = this.#initial;
    const state = initial || this.#withState ? (cursor.subset ?? source).state() : (nothing as StateView<K, V>);
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
    const cursor = this.#cursor;
    if (cursor === undefined || cursor.source.log.version - cursor.version <= cursor.source.maxLag) return;
    // Subscribers at the same position would all build the same fold: build it once and share it. The first to read
    // adds what came since; the others add the same again, which changes nothing.
    const start = cursor.fold ?? cursor.node;
    const made = cursor.subset === undefined ? round.get(start) : undefined;
    const fold = made ?? cursor.fold ?? new Fold<K, V>(cursor.source.maxLag);
    if (made === undefined) this.#consume(cursor, fold.add.bind(fold));
    else moveToTail(cursor);
    if (this.ended) return;
    cursor.fold = fold;
    if (cursor.subset === undefined) round.set(start, fold);
  }

  protected park(): void {
    this.#cursor?.source.log.park(this);
  }

  protected release(): void {
    this.#cursor?.source.log.removeReader(this);
    this.#cursor = undefined;
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
  #consume(cursor: Cursor<K, V>, emit: (id: Id, update: Update<K, V>) => void): void {
    const { subset, source } = cursor;
    let last = cursor.node;
    moveToTail(cursor);
    const tail = cursor.node;
    try {
      while (last !== tail) {
        const node = last.next!;
        source.log.consumed(last);
        last = node;
        const update = subset === undefined ? node.update : subset.follow(node);
        if (update !== undefined) emit(node.id, update);
      }
    } catch (error) {
      this.end({ error });
    }
  }
}

function moveToTail<K, V>(cursor: Cursor<K, V>): void {
  cursor.node = cursor.source.log.tail;
  cursor.version = cursor.source.log.version;
}
