// The mutation log: one singly linked list per map, shared by all of its subscriptions. Appending costs the same for
// any number of subscribers. A reader points at the last node it consumed; the log itself points only at the tail, so
// nodes that every reader has consumed are garbage-collected. They are also unlinked: otherwise a node that has reached
// the old generation of the heap would take all that come after it along, with the values that they refer to. For the
// same reason, neither nodes nor updates are written as object literals: once many of a literal have survived, because a
// subscriber lagged behind, V8 allocates the next ones in the old generation from the start.
import type { Id } from './hash.ts';
import { updateOf } from './fold.ts';
import type { Fold } from './fold.ts';
import type { Change } from './reads/topics.ts';
import type { Update } from './types.ts';

export class LogNode<K, V> {
  readonly id: Id;
  readonly update: Update<K, V> | undefined;
  next: LogNode<K, V> | undefined = undefined;
  /** How many readers have yet to consume it. */
  unread: number;

  constructor(id?: Id, update?: Update<K, V>, unread = 0) {
    this.id = id;
    this.update = update;
    this.unread = unread;
  }
}

/** Folds already built in one round of lag checks, by the fold or the node that they started from. */
export type FoldRound<K, V> = Map<Fold<K, V> | LogNode<K, V>, Fold<K, V>>;

/** A subscription, as the log sees it. */
interface LogReader<K, V> {
  /** Called when something was appended after this reader parked. */
  deliver(): void;
  /** Folds its backlog if it is too far behind. */
  catchUp(round: FoldRound<K, V>): void;
  end(): void;
}

const LAG_CHECK_INTERVAL = 1024;

export class MutationLog<K, V> {
  #tail = new LogNode<K, V>();
  #version = 0;
  readonly #readers = new Set<LogReader<K, V>>();
  readonly #parked = new Set<LogReader<K, V>>();
  #waking = false;
  readonly #onIdle: () => void;

  /** `onIdle` is called when the last reader has left. */
  constructor(onIdle: () => void) {
    this.#onIdle = onIdle;
  }

  /** How many mutations there have been. */
  get version(): number {
    return this.#version;
  }

  /** The newest node. A reader at this node has seen everything. */
  get tail(): LogNode<K, V> {
    return this.#tail;
  }

  get readers(): number {
    return this.#readers.size;
  }

  /** From now on, mutations are kept until this reader has consumed them. */
  addReader(reader: LogReader<K, V>): void {
    this.#readers.add(reader);
  }

  removeReader(reader: LogReader<K, V>): void {
    this.#parked.delete(reader);
    this.#readers.delete(reader);
    if (this.#readers.size > 0) return;
    this.#tail = new LogNode();
    this.#onIdle();
  }

  /** Wakes the reader after the next append, once the synchronous run that appends is over. */
  park(reader: LogReader<K, V>): void {
    this.#parked.add(reader);
  }

  /** Called by a reader that has consumed the node after `node`, once for each node in turn. */
  consumed(node: LogNode<K, V>): void {
    const next = node.next!;
    if (--next.unread === 0) node.next = undefined;
  }

  append({ id, key, before, after }: Change<K, V>): void {
    this.#version++;
    const readers = this.#readers.size;
    if (readers === 0) return;
    const node = new LogNode(id, updateOf(key, before, after), readers);
    this.#tail.next = node;
    this.#tail = node;
    if (this.#parked.size > 0 && !this.#waking) {
      this.#waking = true;
      queueMicrotask(() => this.#wake());
    }
    if (this.#version % LAG_CHECK_INTERVAL === 0) this.#boundLag();
  }

  /** Ends every reader. */
  end(): void {
    for (const reader of this.#readers) reader.end();
  }

  #wake(): void {
    this.#waking = false;
    const woken = [...this.#parked];
    this.#parked.clear();
    for (const reader of woken) reader.deliver();
  }

  #boundLag(): void {
    const round: FoldRound<K, V> = new Map();
    for (const reader of this.#readers) reader.catchUp(round);
  }
}
