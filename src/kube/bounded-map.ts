// A map that holds no more than so many entries: the one set longest ago makes room. For what may be forgotten.

export class BoundedMap<K, V> {
  readonly #entries = new Map<K, V>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  /** Adds or renews an entry; returns the value that had to make room. */
  set(key: K, value: V): V | undefined {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#limit) return undefined;
    const [oldest, evicted] = this.#entries.entries().next().value!;
    this.#entries.delete(oldest);
    return evicted;
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }

  keys(): Iterable<K> {
    return this.#entries.keys();
  }

  values(): Iterable<V> {
    return this.#entries.values();
  }
}
