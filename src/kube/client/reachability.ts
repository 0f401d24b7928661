// Whether the API server answers. Whoever waits longer and longer because it did not goes on as soon as anybody gets an
// answer: after an outage everything is true again in seconds, and during it there are few requests.

export class Reachability {
  readonly #listeners = new Set<() => void>();
  #isAway = false;

  /** Told of the answer to every request; 0 for none. */
  report(code: number): void {
    if (code === 0 || code >= 500) {
      this.#isAway = true;
      return;
    }
    if (!this.#isAway) return;
    this.#isAway = false;
    for (const listener of this.#listeners) listener();
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
