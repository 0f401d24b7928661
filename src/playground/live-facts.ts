// What is observed of a cluster, read again and again by the same few readers: what a reader read is kept ready for it,
// as reading is subscribing.
import { Reads } from '../controller/index.ts';
import type { Facts } from '../controller/index.ts';
import { NotSynced } from '../kube/index.ts';
import type { Tables } from '../kube/index.ts';

/** The most readers that are kept: names of readers come from requests. */
const MOST_READERS = 1_000;

export class LiveFacts {
  readonly #reads: Reads;
  /** Those who wait for a change of what they read. */
  readonly #waiting = new Map<string, () => void>();
  readonly #readers = new Set<string>();

  /** Whoever gave the tables keeps them current. */
  constructor(tables: Tables) {
    this.#reads = new Reads({ tables, now: () => Date.now(), wake: (reader) => this.#waiting.get(reader)?.() });
  }

  /** Reads what is known now. Waits for a kind that has not been listed yet. */
  async read<R>(reader: string, read: (facts: Facts) => R, signal?: AbortSignal): Promise<R> {
    for (;;) {
      try {
        return this.#track(reader, read);
      } catch (error) {
        if (!(error instanceof NotSynced)) throw error;
        await error.table.whenSynced(signal);
      }
    }
  }

  /** Resolves when something holds of what is known. */
  async until(reader: string, holds: (facts: Facts) => boolean, signal: AbortSignal): Promise<void> {
    for (;;) {
      const changed = Promise.withResolvers<void>();
      this.#waiting.set(reader, changed.resolve);
      if (await this.read(reader, holds, signal)) break;
      signal.addEventListener('abort', () => changed.reject(signal.reason as Error), { once: true });
      signal.throwIfAborted();
      await changed.promise;
    }
    this.#waiting.delete(reader);
    this.#forget(reader);
  }

  close(): void {
    this.#reads.close();
  }

  #track<R>(reader: string, read: (facts: Facts) => R): R {
    // The one who has not read for longest makes room.
    this.#readers.delete(reader);
    this.#readers.add(reader);
    const [oldest] = this.#readers;
    if (this.#readers.size > MOST_READERS) this.#forget(oldest!);
    return this.#reads.track(reader, read);
  }

  #forget(reader: string): void {
    this.#readers.delete(reader);
    this.#reads.forget(reader);
  }
}
