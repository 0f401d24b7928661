// Everything that waits or reads the time takes a Clock, so that tests can control it.

/** A timer that has been set. Cancelling one that has fired does nothing. */
export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Wall-clock time in milliseconds: for timestamps, never for measuring. */
  now(): number;
  /** Monotonic time in milliseconds: for deadlines, backoff and leases. */
  monotonic(): number;
  /** `background` timers do not keep the process alive. */
  setTimeout(run: () => void, ms: number, options?: { readonly background?: boolean }): Timer;
}

/** The longest delay that Node's timers support; a longer one would fire at once. */
const LONGEST_DELAY = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout(run, ms, options = {}) {
    let handle: NodeJS.Timeout;
    // A longer delay is split into several timers.
    const arm = (left: number): void => {
      const step = Math.min(Math.max(left, 0), LONGEST_DELAY);
      handle = setTimeout(() => (left > step ? arm(left - step) : run()), step);
      if (options.background) handle.unref();
    };
    arm(ms);
    return { cancel: () => clearTimeout(handle) };
  },
};

/** Waits; returns early, without an error, when the signal aborts. */
export function delay(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = (): void => {
      timer.cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.setTimeout(done, ms);
    signal?.addEventListener('abort', done);
  });
}
