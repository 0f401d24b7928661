// A map with a maximum size: it evicts the entry that was set longest ago. For caches.

export class BoundedMap<K, V> {
  readonly #entries = new Map<K, V>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  /** Adds or renews an entry. */
  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size > this.#limit) this.#entries.delete(this.#entries.keys().next().value!);
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }

  keys(): Iterable<K> {
    return this.#entries.keys();
  }

  entries(): Iterable<[K, V]> {
    return this.#entries.entries();
  }

  values(): Iterable<V> {
    return this.#entries.values();
  }
}
