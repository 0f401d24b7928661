// The part of a map that one subscriber asked for. Membership is remembered, never re-evaluated.
import { updateOf } from './fold.ts';
import type { LogNode } from './log.ts';
import { State } from './state.ts';
import type { KeyRule } from './state.ts';
import type { StateView, Update } from './types.ts';

export class Subset<K, V> {
  readonly #include: (key: K, value: V) => boolean;
  readonly #members: State<K, V>;

  constructor(include: (key: K, value: V) => boolean, rule: KeyRule<K>, state: StateView<K, V>) {
    this.#include = include;
    this.#members = new State(rule);
    for (const [key, value] of state) {
      if (include(key, value)) this.#members.set(rule.identify(key), key, value);
    }
  }

  state(): StateView<K, V> {
    return this.#members.view();
  }

  /** Follows one mutation of the map and returns what it means for the subset, if anything. */
  follow({ id, update }: LogNode<K, V>): Update<K, V> | undefined {
    const { key, value } = update!;
    const member = this.#members.get(id);
    if (!update!.delete && this.#include(key, value)) {
      this.#members.set(id, key, value);
      return member === update!.before ? update! : updateOf(key, member, value);
    }
    if (member === undefined) return undefined;
    // Leaving the subset looks like a delete, and carries the value that was last inside it.
    this.#members.delete(id);
    return updateOf(key, member, undefined);
  }
}
