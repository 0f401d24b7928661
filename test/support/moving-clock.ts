// Real time that a test can advance: for waits of minutes in controllers that use a real API server.
import { systemClock } from '../../src/kube/clock.ts';
import type { Clock, Timer } from '../../src/kube/clock.ts';

interface Waiting {
  readonly at: number;
  readonly fire: () => void;
  timer: Timer;
}

export class MovingClock implements Clock {
  readonly #timers = new Set<Waiting>();
  #ahead = 0;

  now(): number {
    return systemClock.now() + this.#ahead;
  }

  monotonic(): number {
    return systemClock.monotonic() + this.#ahead;
  }

  setTimeout(run: () => void, ms: number, options?: { readonly background?: boolean }): Timer {
    const fire = (): void => {
      this.#timers.delete(waiting);
      run();
    };
    const waiting: Waiting = { at: this.monotonic() + ms, fire, timer: systemClock.setTimeout(fire, ms, options) };
    this.#timers.add(waiting);
    return {
      cancel: () => {
        this.#timers.delete(waiting);
        waiting.timer.cancel();
      },
    };
  }

  /** Advances time; due timers fire soon. */
  advance(ms: number): void {
    this.#ahead += ms;
    for (const waiting of this.#timers) {
      waiting.timer.cancel();
      waiting.timer = systemClock.setTimeout(waiting.fire, waiting.at - this.monotonic(), { background: true });
    }
  }
}
