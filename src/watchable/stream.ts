// The reader's side of a subscription: parked reads, served first come, first served, and all ways to end.
// Map subscriptions and combined streams extend it.
import { onAbort } from './abort.ts';
import { defer, mayDeliver, spend } from './pace.ts';

export abstract class ConflatingStream<T> implements AsyncIterableIterator<T>, AsyncDisposable {
  /** The signal that ends this stream, if there is one. */
  readonly signal: AbortSignal | undefined;
  readonly #label: string;
  readonly #parked: PromiseWithResolvers<IteratorResult<T>>[] = [];
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  #iterating = false;
  #stopListening: (() => void) | undefined;

  constructor(label: string, signal: AbortSignal | undefined) {
    this.#label = label;
    this.signal = signal;
    if (signal?.aborted === true) this.#ended = true;
    else if (signal !== undefined) this.#stopListening = onAbort(signal, () => this.end());
  }

  /** Assembles what is pending; undefined when nothing is. */
  abstract take(): T | undefined;
  /** Arranges for `deliver` to be called when something may be pending. */
  protected abstract park(): void;
  /** Drops everything that the stream holds on to; called once, when it ends. */
  protected abstract release(): void;

  get ended(): boolean {
    return this.#ended;
  }

  next(): Promise<IteratorResult<T>> {
    if (this.#ended) return this.#afterEnd();
    const read = Promise.withResolvers<IteratorResult<T>>();
    this.#parked.push(read);
    if (this.#parked.length === 1) this.deliver();
    return read.promise;
  }

  return(): Promise<IteratorResult<T>> {
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.end();
  }

  [Symbol.asyncIterator](): this {
    if (this.#iterating) {
      throw new Error(`${this.#label} is already being iterated: subscribe once for every loop`);
    }
    this.#iterating = true;
    return this;
  }

  /** Serves parked reads for as long as something is pending. */
  deliver(): void {
    while (this.#parked.length > 0) {
      // The signal's own listeners run in order of registration; an earlier one may read before ours has run.
      if (this.signal?.aborted === true) this.end();
      if (this.#ended) return;
      if (!mayDeliver()) {
        defer(this);
        return;
      }
      const item = this.take();
      // Assembling runs the reader's predicate, which may have failed or ended this very stream.
      if (this.#ended) return;
      if (item === undefined) {
        this.park();
        return;
      }
      spend();
      this.#parked.shift()!.resolve({ done: false, value: item });
    }
  }

  /** Ends the stream now: parked reads finish, unread data is dropped. With a failure, one read rejects with it. */
  end(failure?: { readonly error: unknown }): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#stopListening?.();
    this.#stopListening = undefined;
    this.release();
    this.#failure = failure;
    const reads = this.#parked.splice(0);
    if (this.#failure !== undefined && reads.length > 0) {
      reads.shift()!.reject(this.#failure.error);
      this.#failure = undefined;
    }
    for (const read of reads) read.resolve({ done: true, value: undefined });
  }

  #afterEnd(): Promise<IteratorResult<T>> {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure === undefined) return Promise.resolve({ done: true, value: undefined });
    return Promise.reject(failure.error);
  }
}
