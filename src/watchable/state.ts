// The entries of a map or of a subset: values by id, and the keys as well if a key is more than its id.
import type { Id } from './hash.ts';
import { Shards } from './shards.ts';
import type { StateView } from './types.ts';
import { View } from './view.ts';

/** How keys are identified. */
export interface KeyRule<K> {
  /** Whether ids are made by a codec, so that keys must be kept as well. */
  readonly coded: boolean;
  readonly identify: (key: K) => Id;
}

export class State<K, V> {
  readonly #rule: KeyRule<K>;
  readonly #values = new Shards<V>();
  readonly #keys: Shards<K> | undefined;
  #view: View<K, V> | undefined;

  constructor(rule: KeyRule<K>) {
    this.#rule = rule;
    this.#keys = rule.coded ? new Shards() : undefined;
  }

  get size(): number {
    return this.#values.size;
  }

  /** The value; undefined when there is none, because undefined cannot be stored. */
  get(id: Id): V | undefined {
    return this.#values.get(id);
  }

  /** The key that was stored under an id that is present. */
  keyOf(id: Id): K {
    return this.#keys === undefined ? (id as K) : this.#keys.get(id)!;
  }

  set(id: Id, key: K, value: V): void {
    this.#view = undefined;
    this.#values.set(id, value);
    if (this.#keys !== undefined && this.#keys.get(id) === undefined) this.#keys.set(id, key);
  }

  /** Removes an id that is present. */
  delete(id: Id): void {
    this.#view = undefined;
    this.#values.delete(id);
    this.#keys?.delete(id);
  }

  /** Every value with its id, without taking a snapshot. */
  entries(): [Id, V][] {
    return this.#values.entries();
  }

  /** The state at this moment; the same object until the next write. */
  view(): StateView<K, V> {
    this.#view ??= new View(this.#values.size, this.#rule, this.#values.snapshot(), this.#keys?.snapshot());
    return this.#view;
  }
}
