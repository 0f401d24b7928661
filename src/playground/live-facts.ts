// Observed objects for a few readers that read again and again. Reading subscribes: derived data that a reader used is
// kept up to date for it.
import { Reads } from '../controller/index.ts';
import type { Facts } from '../controller/index.ts';
import { NotSynced } from '../kube/index.ts';
import type { Tables } from '../kube/index.ts';

/** The limit of readers: reader names come from requests. */
const MAX_READERS = 1_000;

export class LiveFacts {
  readonly #reads: Reads;
  /** Readers that wait for a change of what they read. */
  readonly #waiting = new Map<string, () => void>();
  readonly #readers = new Set<string>();

  /** The caller keeps the tables up to date. */
  constructor(tables: Tables) {
    this.#reads = new Reads({ tables, now: () => Date.now(), wake: (reader) => this.#waiting.get(reader)?.() });
  }

  /** Reads the current objects. Waits for kinds that have not been listed yet. */
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

  /** Resolves when a condition holds. */
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
    // Evict the least recently used reader.
    this.#readers.delete(reader);
    this.#readers.add(reader);
    const [oldest] = this.#readers;
    if (this.#readers.size > MAX_READERS) this.#forget(oldest!);
    return this.#reads.track(reader, read);
  }

  #forget(reader: string): void {
    this.#readers.delete(reader);
    this.#reads.forget(reader);
  }
}
