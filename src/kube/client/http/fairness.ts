// Limits concurrent requests, and serves those that wait round-robin by flow. Used by connect.ts for every request but
// watches.

interface Waiter {
  readonly admit: () => void;
}

/** A semaphore that serves waiting flows in turn, however many requests each of them has waiting. */
export class FairSemaphore {
  readonly #limit: number;
  #taken = 0;
  /** The flow whose turn is next comes first; within a flow, first come, first served. */
  readonly #waiting = new Map<string, Set<Waiter>>();

  constructor(limit: number) {
    if (!Number.isInteger(limit) || limit < 1) throw new RangeError(`requests in flight: at least 1, found ${limit}`);
    this.#limit = limit;
  }

  /** Resolves with a function that releases the slot. Rejects with the signal's reason if it aborts first. */
  async acquire(flow: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#taken < this.#limit) this.#taken++;
    else await this.#wait(flow, signal);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#release();
    };
  }

  #wait(flow: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        admit: () => {
          signal.removeEventListener('abort', abandon);
          resolve();
        },
      };
      const abandon = (): void => {
        const queue = this.#waiting.get(flow);
        queue?.delete(waiter);
        if (queue?.size === 0) this.#waiting.delete(flow);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', abandon, { once: true });
      const queue = this.#waiting.get(flow);
      if (queue === undefined) this.#waiting.set(flow, new Set([waiter]));
      else queue.add(waiter);
    });
  }

  /** Hands the slot to the flow whose turn it is; that flow then moves to the end of the round. */
  #release(): void {
    for (const [flow, queue] of this.#waiting) {
      this.#waiting.delete(flow);
      const [next] = queue;
      if (next === undefined) continue;
      queue.delete(next);
      if (queue.size > 0) this.#waiting.set(flow, queue);
      next.admit();
      return;
    }
    this.#taken--;
  }
}
