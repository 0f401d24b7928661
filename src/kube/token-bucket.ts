// A token bucket: a burst, then one token per period.
import type { Clock } from './clock.ts';

export class TokenBucket {
  readonly #clock: Clock;
  readonly #burst: number;
  readonly #periodMs: number;
  #tokens: number;
  #filled: number;

  constructor(clock: Clock, burst: number, periodMs: number) {
    this.#clock = clock;
    this.#burst = burst;
    this.#periodMs = periodMs;
    this.#tokens = burst;
    this.#filled = clock.monotonic();
  }

  /** Takes a token if there is one. */
  take(): boolean {
    this.#fill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Takes the next token, and returns in how many milliseconds it will be available. */
  reserve(): number {
    this.#fill();
    this.#tokens -= 1;
    return Math.max(0, -this.#tokens * this.#periodMs);
  }

  #fill(): void {
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#filled) / this.#periodMs);
    this.#filled = now;
  }
}
