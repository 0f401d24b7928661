// The immutable state of a map at one moment, as subscribers and readers see it.
import { shardOf } from './hash.ts';
import type { Id } from './hash.ts';
import type { Directory } from './shards.ts';
import type { StateView } from './types.ts';

export class View<K, V> implements StateView<K, V> {
  readonly size: number;
  readonly #identify: (key: K) => Id;
  readonly #values: Directory<V>;
  readonly #keys: Directory<K> | undefined;

  /** `keys` is given where a key is more than its id. */
  constructor(
    size: number,
    rule: { readonly identify: (key: K) => Id },
    values: Directory<V>,
    keys: Directory<K> | undefined,
  ) {
    this.size = size;
    this.#identify = rule.identify;
    this.#values = values;
    this.#keys = keys;
    Object.freeze(this);
  }

  get(key: K): V | undefined {
    const id = this.#identify(key);
    return this.#values[shardOf(id, this.#values.length)]!.get(id);
  }

  has(key: K): boolean {
    return this.get(key) !== undefined;
  }

  keys(): IterableIterator<K> {
    if (this.#keys !== undefined) return new ShardIterator(this.#keys, (shard) => shard.values());
    return new ShardIterator(this.#values, (shard) => shard.keys() as Iterator<K>);
  }

  values(): IterableIterator<V> {
    return new ShardIterator(this.#values, (shard) => shard.values());
  }

  [Symbol.iterator](): IterableIterator<readonly [K, V]> {
    if (this.#keys !== undefined) return this.#coded();
    return new EntryIterator(this.#values as readonly ReadonlyMap<K, V>[]);
  }

  forEach(visit: (value: V, key: K) => void): void {
    if (this.#keys !== undefined) for (const [key, value] of this.#coded()) visit(value, key);
    else for (const shard of this.#values) shard.forEach((value, id) => visit(value, id as K));
  }

  toMap(): Map<K, V> {
    return new Map(this);
  }

  // Keys and values are written together, so their shards agree in number and content.
  *#coded(): IterableIterator<readonly [K, V]> {
    for (const [index, shard] of this.#values.entries()) {
      for (const [id, value] of shard) yield [this.#keys![index]!.get(id)!, value];
    }
  }
}

// The two iterators are written by hand, and separately, so that the JIT can optimise them; a generator would make
// consumers of the whole state several times slower.
class EntryIterator<K, V> implements IterableIterator<[K, V]> {
  readonly #directory: readonly ReadonlyMap<K, V>[];
  #position = 0;
  #entries: Iterator<[K, V]>;

  constructor(directory: readonly ReadonlyMap<K, V>[]) {
    this.#directory = directory;
    this.#entries = directory[0]!.entries();
  }

  next(): IteratorResult<[K, V]> {
    for (;;) {
      const step = this.#entries.next();
      if (step.done !== true || this.#position === this.#directory.length - 1) return step;
      this.#entries = this.#directory[++this.#position]!.entries();
    }
  }

  [Symbol.iterator](): this {
    return this;
  }
}

class ShardIterator<S, T> implements IterableIterator<T> {
  readonly #directory: Directory<S>;
  readonly #open: (shard: ReadonlyMap<Id, S>) => Iterator<T>;
  #position = 0;
  #items: Iterator<T>;

  constructor(directory: Directory<S>, open: (shard: ReadonlyMap<Id, S>) => Iterator<T>) {
    this.#directory = directory;
    this.#open = open;
    this.#items = open(directory[0]!);
  }

  next(): IteratorResult<T> {
    for (;;) {
      const step = this.#items.next();
      if (step.done !== true || this.#position === this.#directory.length - 1) return step;
      this.#items = this.#open(this.#directory[++this.#position]!);
    }
  }

  [Symbol.iterator](): this {
    return this;
  }
}
