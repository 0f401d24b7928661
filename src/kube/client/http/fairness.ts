// Takes turns: at most so many requests at once, and those that wait are served flow by flow. Used by connect.ts for every request but watches.

interface Waiter {
  readonly enter: () => void;
}

/** A bounded number of places. When all are taken, flows that wait get the next free place in turn, whoever waits most. */
export class Turns {
  readonly #limit: number;
  #taken = 0;
  /** The flow whose turn is next comes first; within a flow, first come, first served. */
  readonly #waiting = new Map<string, Set<Waiter>>();

  constructor(limit: number) {
    if (!Number.isInteger(limit) || limit < 1) throw new RangeError(`requests in flight: at least 1, found ${limit}`);
    this.#limit = limit;
  }

  /** Resolves with the function that gives the place back. Rejects with the signal's reason when that comes first. */
  async enter(flow: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#taken < this.#limit) this.#taken++;
    else await this.#wait(flow, signal);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#leave();
    };
  }

  #wait(flow: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        enter: () => {
          signal.removeEventListener('abort', giveUp);
          resolve();
        },
      };
      const giveUp = (): void => {
        const line = this.#waiting.get(flow);
        line?.delete(waiter);
        if (line?.size === 0) this.#waiting.delete(flow);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      const line = this.#waiting.get(flow);
      if (line === undefined) this.#waiting.set(flow, new Set([waiter]));
      else line.add(waiter);
    });
  }

  /** Hands the place on to the flow whose turn it is; that flow then goes to the end of the round. */
  #leave(): void {
    for (const [flow, line] of this.#waiting) {
      this.#waiting.delete(flow);
      const [next] = line;
      if (next === undefined) continue;
      line.delete(next);
      if (line.size > 0) this.#waiting.set(flow, line);
      next.enter();
      return;
    }
    this.#taken--;
  }
}
