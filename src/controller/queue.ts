// The work queue of a controller: each key is queued at most once, and never runs twice at the same time.
import type { Clock, Timer } from '../kube/clock.ts';
import { TokenBucket } from '../kube/token-bucket.ts';
import { Delays } from './delays.ts';

/** Changes come before work that only confirms the known state. */
export const PRIORITY = { change: 0, resync: -100 } as const;

/** The longest delay of a key that failed while the cause of failures went away. */
const SOON_MS = 1_000;

/** From this many pauses on, expired ones are removed. */
const SWEEP_PAUSES_FROM = 1_000;

export interface QueueOptions {
  readonly clock: Clock;
  /** First backoff of a failing key; doubles with each further failure. */
  readonly baseDelayMs?: number;
  /** The longest backoff. */
  readonly maxDelayMs?: number;
  /** Limits the retries of all keys together; unlimited by default. */
  readonly retryLimit?: RetryLimit;
  readonly metrics?: QueueMetrics;
}

export interface RetryLimit {
  readonly burst: number;
  readonly perSecond: number;
}

/** The metrics of a queue; see metrics.ts. */
export interface QueueMetrics {
  added(): void;
  retried(): void;
  depth(size: number): void;
  started(waitedMs: number): void;
  finished(workedMs: number): void;
}

/**
 * A key is *ready*, *waiting* for a time, *running*, or several of these: adding a running key makes it run exactly
 * once more, however often it is added meanwhile. Ready keys leave by priority, then first in, first out.
 */
export class Queue {
  readonly #clock: Clock;
  readonly #baseDelayMs: number;
  readonly #maxDelayMs: number;
  readonly #retries: TokenBucket | undefined;
  readonly #metrics: QueueMetrics | undefined;
  readonly #ready = new Map<string, { priority: number; since: number }>();
  readonly #levels = new Map<number, Set<string>>();
  readonly #running = new Map<string, number>();
  readonly #again = new Map<string, number>();
  readonly #waiting = new Delays();
  readonly #failures = new Map<string, number>();
  /** Running keys that are retried soon if they fail. */
  readonly #soon = new Set<string>();
  /** By key: the time before which it does not run. */
  readonly #paused = new Map<string, number>();
  readonly #takers: ((key: string | undefined) => void)[] = [];
  #timer: Timer | undefined;
  #timerAt = Infinity;
  #closed = false;

  constructor(options: QueueOptions) {
    this.#clock = options.clock;
    this.#baseDelayMs = options.baseDelayMs ?? 5;
    this.#maxDelayMs = options.maxDelayMs ?? 15_000;
    const { retryLimit: limit } = options;
    this.#retries = limit && new TokenBucket(options.clock, limit.burst, 1000 / limit.perSecond);
    this.#metrics = options.metrics;
  }

  /** Keys waiting in the queue. */
  get size(): number {
    return this.#ready.size;
  }

  /** True when nothing is ready and nothing runs; keys may still be delayed. */
  get idle(): boolean {
    return this.#ready.size === 0 && this.#running.size === 0;
  }

  /** Keys that are delayed. */
  get delayed(): number {
    return this.#waiting.size;
  }

  /** Makes the key run as soon as a worker is free. The higher of two priorities wins. */
  add(key: string, priority: number = PRIORITY.change): void {
    if (this.#closed) return;
    const pauseMs = this.#running.has(key) ? 0 : this.#pauseOf(key);
    if (pauseMs > 0) return this.addAfter(key, pauseMs, priority);
    this.#waiting.delete(key);
    if (this.#running.has(key)) {
      const before = this.#again.get(key);
      if (before === undefined) this.#metrics?.added();
      this.#again.set(key, before === undefined ? priority : Math.max(before, priority));
      return;
    }
    const ready = this.#ready.get(key);
    if (ready === undefined) {
      this.#metrics?.added();
      this.#makeReady(key, priority);
    } else if (priority > ready.priority) {
      this.#level(ready.priority).delete(key);
      ready.priority = priority;
      this.#level(priority).add(key);
    }
  }

  /** Makes the key run after a delay. The earlier of two times wins; a ready key is not delayed. */
  addAfter(key: string, delayMs: number, priority: number = PRIORITY.change): void {
    if (this.#closed || this.#ready.has(key) || this.#again.has(key)) return;
    const pausedMs = Math.max(delayMs, this.#pauseOf(key));
    if (pausedMs <= 0) return this.add(key, priority);
    this.#waiting.set(key, this.#clock.monotonic() + pausedMs, priority);
    this.#arm();
  }

  /** Does not run the key again before this time has passed, however often it is added. */
  pause(key: string, ms: number): void {
    const now = this.#clock.monotonic();
    if (this.#paused.size >= SWEEP_PAUSES_FROM)
      for (const [each, until] of this.#paused) if (until <= now) this.#paused.delete(each);
    this.#paused.set(key, now + ms);
  }

  #pauseOf(key: string): number {
    const until = this.#paused.get(key);
    if (until === undefined) return 0;
    const ms = until - this.#clock.monotonic();
    if (ms <= 0) this.#paused.delete(key);
    return ms;
  }

  /** Adds a failed key after its backoff, or later if the limit requires it, and returns that delay. */
  retry(key: string, priority: number = PRIORITY.change): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    const longestMs = this.#soon.has(key) ? Math.min(SOON_MS, this.#maxDelayMs) : this.#maxDelayMs;
    const backoffMs = Math.min(this.#baseDelayMs * 2 ** Math.min(failures, 30), longestMs);
    const delayMs = Math.max(backoffMs, this.#retries?.reserve() ?? 0);
    this.#metrics?.retried();
    this.addAfter(key, delayMs, priority);
    return delayMs;
  }

  /**
   * Retries failed keys at once and resets their backoff: the cause of the failures may be gone. Those that are running
   * may have met it before, and fail later: they keep their backoff, or it would be reset by what their own failure
   * causes, but are retried soon.
   */
  retryNow(): void {
    for (const key of this.#failures.keys()) {
      if (this.#running.has(key)) this.#soon.add(key);
      if (!this.#waiting.has(key)) continue;
      this.forget(key);
      this.add(key);
    }
  }

  /** How often the key has failed since it was last forgotten. */
  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** Resets the key's backoff: it succeeded, or it is gone. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** The next key, which is running until `done` is called; undefined once the queue is closed. */
  take(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    const key = this.#next();
    if (key !== undefined) return Promise.resolve(key);
    return new Promise((resolve) => this.#takers.push(resolve));
  }

  /** Ends the run of a key that `take` returned. */
  done(key: string): void {
    const since = this.#running.get(key);
    if (since === undefined) return;
    this.#running.delete(key);
    this.#soon.delete(key);
    this.#metrics?.finished(this.#clock.monotonic() - since);
    const priority = this.#again.get(key);
    if (priority === undefined) return;
    this.#again.delete(key);
    if (this.#closed) return;
    const pauseMs = this.#pauseOf(key);
    if (pauseMs > 0) this.addAfter(key, pauseMs, priority);
    else this.#makeReady(key, priority);
  }

  /** Returns no further key; waiting calls of `take` get undefined. */
  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#ready.clear();
    this.#levels.clear();
    this.#waiting.clear();
    this.#again.clear();
    this.#paused.clear();
    for (const taker of this.#takers.splice(0)) taker(undefined);
  }

  #makeReady(key: string, priority: number): void {
    this.#ready.set(key, { priority, since: this.#clock.monotonic() });
    this.#level(priority).add(key);
    this.#metrics?.depth(this.#ready.size);
    const taker = this.#takers.shift();
    if (taker !== undefined) taker(this.#next());
  }

  #next(): string | undefined {
    let best: number | undefined;
    for (const [priority, keys] of this.#levels) {
      if (keys.size > 0 && (best === undefined || priority > best)) best = priority;
    }
    if (best === undefined) return undefined;
    const keys = this.#level(best);
    const [key] = keys;
    keys.delete(key!);
    const now = this.#clock.monotonic();
    this.#metrics?.started(now - this.#ready.get(key!)!.since);
    this.#ready.delete(key!);
    this.#running.set(key!, now);
    this.#metrics?.depth(this.#ready.size);
    return key;
  }

  #level(priority: number): Set<string> {
    let keys = this.#levels.get(priority);
    if (keys === undefined) this.#levels.set(priority, (keys = new Set()));
    return keys;
  }

  /** One timer serves all waiting keys: it is set for the earliest. */
  #arm(): void {
    const { nextAt } = this.#waiting;
    if (nextAt === undefined || nextAt >= this.#timerAt) return;
    this.#timer?.cancel();
    this.#timerAt = nextAt;
    this.#timer = this.#clock.setTimeout(() => this.#due(), Math.max(0, nextAt - this.#clock.monotonic()));
  }

  #due(): void {
    this.#timerAt = Infinity;
    const now = this.#clock.monotonic();
    for (let due = this.#waiting.takeDue(now); due !== undefined; due = this.#waiting.takeDue(now)) {
      this.add(due.key, due.priority);
    }
    this.#arm();
  }
}
