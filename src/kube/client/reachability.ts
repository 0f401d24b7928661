// Whether the API server answers. Whoever waits longer and longer because it did not goes on as soon as anybody gets an
// answer: after an outage everything is true again in seconds, and during it there are few requests.
import { delay } from '../clock.ts';
import type { Clock } from '../clock.ts';

/** How often a server that does not answer is asked whether it does. */
const ASK_MS = 2_000;

export class Reachability {
  readonly #listeners = new Set<() => void>();
  #left = Promise.withResolvers<void>();
  #isAway = false;

  /** Told of the answer to every request; 0 for none. */
  report(code: number): void {
    if (code === 0 || code >= 500) {
      this.#isAway = true;
      this.#left.resolve();
      return;
    }
    if (!this.#isAway) return;
    this.#isAway = false;
    this.#left = Promise.withResolvers();
    for (const listener of this.#listeners) listener();
  }

  /** Asks while there is no answer, for everybody else waits; until the signal aborts. The answer must be reported too. */
  async keepAsking(ask: () => Promise<unknown>, clock: Clock, signal: AbortSignal): Promise<void> {
    const aborted = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    while (!signal.aborted) {
      await Promise.race([this.#left.promise, aborted]);
      await delay(clock, ASK_MS, signal);
      if (this.#isAway && !signal.aborted) await ask().catch(() => undefined);
    }
  }

  /** Calls back for the first answer after there was none; until the signal aborts. */
  onReturn(listener: () => void, signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#listeners.add(listener);
    signal.addEventListener('abort', () => this.#listeners.delete(listener), { once: true });
  }

  /** Resolves with the first answer after there was none, or when the signal aborts. */
  untilReturn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.onReturn(resolve, signal);
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}
