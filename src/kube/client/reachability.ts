// Whether the API server answers. Everything that backs off during an outage retries as soon as any request is answered:
// the state is current again in seconds, and there are few requests during the outage.
import { delay } from '../clock.ts';
import type { Clock } from '../clock.ts';

/** How often an unreachable server is probed. */
const PROBE_INTERVAL_MS = 2_000;

export class Reachability {
  readonly #listeners = new Set<() => void>();
  #becameUnreachable = Promise.withResolvers<void>();
  #isUnreachable = false;

  /** Must be called with the status code of every request; 0 for no answer. */
  report(code: number): void {
    if (code === 0 || code >= 500) {
      this.#isUnreachable = true;
      this.#becameUnreachable.resolve();
      return;
    }
    if (!this.#isUnreachable) return;
    this.#isUnreachable = false;
    this.#becameUnreachable = Promise.withResolvers();
    for (const listener of this.#listeners) listener();
  }

  /** Probes an unreachable server while everybody else waits; until the signal aborts. Probes must be reported too. */
  async keepAsking(ask: () => Promise<unknown>, clock: Clock, signal: AbortSignal): Promise<void> {
    const aborted = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    while (!signal.aborted) {
      await Promise.race([this.#becameUnreachable.promise, aborted]);
      await delay(clock, PROBE_INTERVAL_MS, signal);
      if (this.#isUnreachable && !signal.aborted) await ask().catch(() => undefined);
    }
  }

  /** Calls back whenever the server answers again after an outage; until the signal aborts. */
  onReturn(listener: () => void, signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#listeners.add(listener);
    signal.addEventListener('abort', () => this.#listeners.delete(listener), { once: true });
  }

  /** Resolves when the server answers again after an outage, or when the signal aborts. */
  untilReturn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.onReturn(resolve, signal);
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}
