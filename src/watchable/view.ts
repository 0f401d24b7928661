// The immutable state of a map at one moment, as subscribers and readers see it.
import { shardOf } from './hash.ts';
import type { Id } from './hash.ts';
import type { StateView, Update } from './types.ts';

type Shard<K, V> = ReadonlyMap<Id, Update<K, V>>;

export class View<K, V> implements StateView<K, V> {
  readonly size: number;
  readonly #directory: readonly Shard<K, V>[];
  readonly #identify: (key: K) => Id;

  constructor(directory: readonly Shard<K, V>[], size: number, identify: (key: K) => Id) {
    this.#directory = directory;
    this.size = size;
    this.#identify = identify;
    Object.freeze(this);
  }

  get(key: K): V | undefined {
    return this.#entry(key)?.value;
  }

  has(key: K): boolean {
    return this.#entry(key) !== undefined;
  }

  keys(): IterableIterator<K> {
    return new Walk(this.#directory, (entry) => entry.key);
  }

  values(): IterableIterator<V> {
    return new Walk(this.#directory, (entry) => entry.value);
  }

  [Symbol.iterator](): IterableIterator<readonly [K, V]> {
    return new Walk(this.#directory, (entry) => [entry.key, entry.value] as const);
  }

  forEach(visit: (value: V, key: K) => void): void {
    for (const shard of this.#directory) {
      for (const entry of shard.values()) visit(entry.value, entry.key);
    }
  }

  toMap(): Map<K, V> {
    const copy = new Map<K, V>();
    this.forEach((value, key) => copy.set(key, value));
    return copy;
  }

  #entry(key: K): Update<K, V> | undefined {
    const id = this.#identify(key);
    return this.#directory[shardOf(id, this.#directory.length)]!.get(id);
  }
}

// Written out by hand because the optimiser sees through it; a generator makes whole-state consumers several times slower.
class Walk<K, V, T> implements IterableIterator<T> {
  readonly #directory: readonly Shard<K, V>[];
  readonly #pick: (entry: Update<K, V>) => T;
  #position = 0;
  #entries: Iterator<Update<K, V>>;

  constructor(directory: readonly Shard<K, V>[], pick: (entry: Update<K, V>) => T) {
    this.#directory = directory;
    this.#pick = pick;
    this.#entries = directory[0]!.values();
  }

  next(): IteratorResult<T> {
    for (;;) {
      const step = this.#entries.next();
      if (step.done !== true) return { done: false, value: this.#pick(step.value) };
      if (this.#position + 1 >= this.#directory.length) return { done: true, value: undefined };
      this.#entries = this.#directory[++this.#position]!.values();
    }
  }

  [Symbol.iterator](): this {
    return this;
  }
}
