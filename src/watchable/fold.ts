// A backlog reduced to the last update of each key, for subscriptions that lag too far behind.
import type { Id } from './hash.ts';
import type { Update } from './types.ts';

interface Folded<K, V> {
  readonly update: Update<K, V>;
  /** Whether the subscriber has never seen this key: it appeared within the backlog. */
  readonly unseen: boolean;
}

export class Fold<K, V> {
  readonly #last = new Map<Id, Folded<K, V>>();
  readonly #roomy: number;
  #pruneAt: number;

  /** `roomy` is the size up to which deletes of keys that the subscriber never saw are kept as well. */
  constructor(roomy: number) {
    this.#roomy = roomy;
    this.#pruneAt = roomy;
  }

  /** Adding a run of updates again changes nothing, so subscribers that stand at different places may share a fold. */
  add(id: Id, update: Update<K, V>, created: boolean): void {
    const earlier = this.#last.get(id);
    const unseen = earlier === undefined ? created : earlier.unseen;
    if (earlier !== undefined) this.#last.delete(id);
    this.#last.set(id, { update, unseen });
    if (this.#last.size > this.#pruneAt) this.#prune();
  }

  /** The last update of each key, in the order of each key's last mutation. */
  updates(): Update<K, V>[] {
    return Array.from(this.#last.values(), (folded) => folded.update);
  }

  // Keys that come and go for ever would otherwise each leave a delete behind.
  #prune(): void {
    for (const [id, folded] of this.#last) {
      if (folded.unseen && folded.update.delete) this.#last.delete(id);
    }
    this.#pruneAt = Math.max(this.#roomy, 2 * this.#last.size);
  }
}
