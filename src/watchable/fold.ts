// A backlog reduced to the last update of each key, for subscriptions that lag too far behind.
import type { Id } from './hash.ts';
import type { Update } from './types.ts';

/** The update from one value of a key to another; undefined means absent. */
export function updateOf<K, V>(key: K, before: V | undefined, after: V | undefined): Update<K, V> {
  return after === undefined ? made(key, true, before!, before) : made(key, false, after, before);
}

/** Merges two updates of a key into one, for a subscriber that has seen neither. */
export function folded<K, V>(earlier: Update<K, V>, later: Update<K, V>): Update<K, V> {
  const { before } = earlier;
  return before === later.before ? later : made(later.key, later.delete, later.value, before);
}

const CREATED = { key: undefined, delete: false, value: undefined };
const CHANGED = { ...CREATED, before: undefined };

/** An update, frozen because subscribers share it, and a copy instead of a literal for the sake of the log. */
function made<K, V>(key: K, isDelete: boolean, value: V, before: V | undefined): Update<K, V> {
  return Object.freeze(
    before === undefined
      ? { ...CREATED, key, delete: isDelete, value }
      : { ...CHANGED, key, delete: isDelete, value, before },
  );
}

export class Fold<K, V> {
  readonly #last = new Map<Id, Update<K, V>>();
  readonly #minPruneSize: number;
  #pruneAt: number;

  /** Up to `minPruneSize`, deletes of keys that the subscriber never saw are kept as well. */
  constructor(minPruneSize: number) {
    this.#minPruneSize = minPruneSize;
    this.#pruneAt = minPruneSize;
  }

  /** Adding a run of updates again changes nothing, so subscribers at different positions may share a fold. */
  add(id: Id, update: Update<K, V>): void {
    const earlier = this.#last.get(id);
    if (earlier !== undefined) this.#last.delete(id);
    this.#last.set(id, earlier === undefined ? update : folded(earlier, update));
    if (this.#last.size > this.#pruneAt) this.#prune();
  }

  /** The last update of each key, in the order of each key's last mutation. */
  updates(): Update<K, V>[] {
    return [...this.#last.values()];
  }

  // Keys that come and go forever would otherwise each leave a delete behind.
  #prune(): void {
    for (const [id, update] of this.#last) {
      if (update.delete && update.before === undefined) this.#last.delete(id);
    }
    this.#pruneAt = Math.max(this.#minPruneSize, 2 * this.#last.size);
  }
}
