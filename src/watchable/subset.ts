// The part of a map that one subscriber asked for. Membership is remembered, never re-evaluated.
import type { Id } from './hash.ts';
import type { LogNode } from './log.ts';
import { Shards } from './shards.ts';
import type { StateView, Update } from './types.ts';

export class Subset<K, V> {
  readonly #include: (key: K, value: V) => boolean;
  readonly #members: Shards<K, V>;

  constructor(include: (key: K, value: V) => boolean, identify: (key: K) => Id, state: StateView<K, V>) {
    this.#include = include;
    this.#members = new Shards(identify);
    for (const [key, value] of state) {
      if (include(key, value)) this.#members.set(identify(key), Object.freeze({ key, delete: false, value }));
    }
  }

  state(): StateView<K, V> {
    return this.#members.view();
  }

  /** Follows one mutation of the map and returns what it means for the subset, if anything. */
  follow(node: LogNode<K, V>): { readonly update: Update<K, V>; readonly created: boolean } | undefined {
    const update = node.update!;
    const member = this.#members.get(node.id);
    if (!update.delete && this.#include(update.key, update.value)) {
      this.#members.set(node.id, update);
      return { update, created: member === undefined };
    }
    if (member === undefined) return undefined;
    // Leaving the subset looks like a delete, and carries the value that was last inside it.
    this.#members.delete(node.id);
    return { update: Object.freeze({ key: update.key, delete: true, value: member.value }), created: false };
  }
}
