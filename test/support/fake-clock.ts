// A clock that stands still until a test moves it.
import { setImmediate as turn } from 'node:timers/promises';
import type { Clock, Timer } from '../../src/kube/clock.ts';

interface Waiting {
  readonly at: number;
  readonly run: () => void;
}

export class FakeClock implements Clock {
  #elapsed = 0;
  #start: number;
  readonly #timers = new Set<Waiting>();

  constructor(start = '2026-01-01T00:00:00Z') {
    this.#start = Date.parse(start);
  }

  now(): number {
    return this.#start + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  setTimeout(run: () => void, ms: number): Timer {
    const timer = { at: this.#elapsed + Math.max(ms, 0), run };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  /** How many timers are set. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Milliseconds until the next timer fires. */
  get nextIn(): number | undefined {
    const next = this.#next(Infinity);
    return next && next.at - this.#elapsed;
  }

  /** Advances time, and fires due timers in order; after each, pending work runs before the next one. */
  async advance(ms: number): Promise<void> {
    const end = this.#elapsed + ms;
    await settle();
    for (let timer = this.#next(end); timer; timer = this.#next(end)) {
      this.#elapsed = Math.max(this.#elapsed, timer.at);
      this.#timers.delete(timer);
      timer.run();
      await settle();
    }
    this.#elapsed = Math.max(this.#elapsed, end);
  }

  /** Advances time without firing timers, as when the event loop is blocked. */
  stall(ms: number): void {
    this.#elapsed += ms;
  }

  /** Sets the wall clock, not the monotonic one. */
  setWall(time: string): void {
    this.#start = Date.parse(time) - this.#elapsed;
  }

  #next(end: number): Waiting | undefined {
    let first: Waiting | undefined;
    for (const timer of this.#timers) if (timer.at <= end && (!first || timer.at < first.at)) first = timer;
    return first;
  }
}

/** Lets pending work run, without advancing time. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 8; i++) await turn();
}
