// Reading is subscribing: a tracker remembers what each of its readers read, and wakes exactly those whom a change
// concerns. Controllers have one each; their readers are the keys that they plan for.
import { readFor } from './read.ts';
import type { Read, World } from './read.ts';
import { Reader } from './subject.ts';
import type { Change } from './topics.ts';
import { tellLater, tellNow } from './turn.ts';
import type { Listener } from './turn.ts';

export interface TrackerOptions<R> {
  /**
   * Called when something that a reader read has changed, once for all changes of a synchronous run; also again and
   * again, until the reader reads again or is forgotten.
   */
  readonly wake: (reader: R) => void;
  /**
   * Called at once whenever something that a reader read has changed, or may have: with the value that it has now, which
   * is undefined where that is gone or not known. For who has to tell its own changes from those of others.
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

  /** Whether something concerns this reader. */
  has(name: R): boolean {
    return this.#readers.has(name);
  }

  /** Runs a function and makes what it reads the reader's, in place of what it read before, also when it throws. */
  track<T>(name: R, run: (read: Read) => T): T {
    let reader = this.#readers.get(name);
    if (reader === undefined) this.#readers.set(name, (reader = new TrackedReader(name, this.#options)));
    const read = readFor(reader, this.#options.overlay);
    return reader.run(() => run(read));
  }

  /** Nothing concerns this reader any more. */
  forget(name: R): void {
    const reader = this.#readers.get(name);
    this.#readers.delete(name);
    reader?.drop();
  }

  /** Wakes now whom it would wake after the synchronous run. */
  deliver(): void {
    tellNow();
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
    tellLater(this);
  }

  protected override marked(change: unknown): void {
    this.#options.onChange?.(this.#name, (change as Change<unknown, unknown> | undefined)?.after);
  }
}
