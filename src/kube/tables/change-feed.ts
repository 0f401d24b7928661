// Tells listeners what changed in a table, in order, and survives what they throw.

/** One object came (`new` alone), changed (both) or went (`old` alone). Re-creation under one name is going and coming. */
export interface Change<T> {
  readonly key: string;
  readonly old?: T;
  readonly new?: T;
}

export class ChangeFeed<T> {
  readonly #listeners = new Set<(change: Change<T>) => void>();
  readonly #onError: (error: unknown) => void;
  #changes: Change<T>[] = [];
  #telling = false;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Adds a listener; returns what removes it. */
  listen(listener: (change: Change<T>) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Takes a change; it is told with the next `tell`. */
  add(change: Change<T>): void {
    this.#changes.push(change);
  }

  /** Tells everything that was added. What a listener changes itself is told after that, so all see the same order. */
  tell(): void {
    if (this.#telling) return;
    this.#telling = true;
    while (this.#changes.length > 0) {
      const changes = this.#changes;
      this.#changes = [];
      for (const change of changes) this.#tellOne(change);
    }
    this.#telling = false;
  }

  #tellOne(change: Change<T>): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}
