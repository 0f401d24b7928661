// Reading is subscribing: a tracker remembers what each of its readers read, and wakes exactly those that a change
// affects. Each controller has one; its readers are the keys that it plans for.
import { readFor } from './read.ts';
import type { Read, World } from './read.ts';
import { Reader } from './subject.ts';
import type { Change } from './topics.ts';
import { notifyLater, notifyNow } from './turn.ts';
import type { Listener } from './turn.ts';

export interface TrackerOptions<R> {
  /**
   * Called when something that a reader read has changed, once for all changes of a synchronous run. Later changes call
   * it again, whether or not the reader has read since, until the reader is forgotten.
   */
  readonly wake: (reader: R) => void;
  /**
   * Called at once whenever something that a reader read has changed or may have changed, with the new value (undefined
   * if it was deleted or is not known). For readers that must tell their own changes from those of others.
   */
  readonly onChange?: (reader: R, value: unknown) => void;
  /** Read maps as they are in this overlay. */
  readonly overlay?: World;
}

export class Tracker<R> {
  readonly #options: TrackerOptions<R>;
  readonly #readers = new Map<R, TrackedReader<R>>();

  constructor(options: TrackerOptions<R>) {
    this.#options = options;
  }

  /** How many readers have read something. */
  get size(): number {
    return this.#readers.size;
  }

  /** Whether this reader is tracked. */
  has(name: R): boolean {
    return this.#readers.has(name);
  }

  /** Runs a function and tracks what it reads, in place of what the reader read before, also when it throws. */
  track<T>(name: R, run: (read: Read) => T): T {
    let reader = this.#readers.get(name);
    if (reader === undefined) this.#readers.set(name, (reader = new TrackedReader(name, this.#options)));
    const read = readFor(reader, this.#options.overlay);
    return reader.run(() => run(read));
  }

  /** Stops tracking a reader. */
  forget(name: R): void {
    const reader = this.#readers.get(name);
    this.#readers.delete(name);
    reader?.drop();
  }

  /** Wakes readers now instead of after the synchronous run. */
  deliver(): void {
    notifyNow();
  }

  /** Forgets all readers. */
  close(): void {
    for (const name of this.#readers.keys()) this.forget(name);
  }
}

class TrackedReader<R> extends Reader implements Listener {
  readonly #name: R;
  readonly #options: TrackerOptions<R>;
  #isForgotten = false;

  constructor(name: R, options: TrackerOptions<R>) {
    super();
    this.#name = name;
    this.#options = options;
  }

  deliver(): void {
    if (this.#isForgotten || !this.isStale()) return;
    this.settle();
    this.#options.wake(this.#name);
  }

  override drop(): void {
    this.#isForgotten = true;
    super.drop();
  }

  protected doubted(): void {
    notifyLater(this);
  }

  protected override marked(change: unknown): void {
    this.#options.onChange?.(this.#name, (change as Change<unknown, unknown> | undefined)?.after);
  }
}
