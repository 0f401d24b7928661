// Schedules the writes of all open watches of a server: an event for hundreds of watchers is encoded once, and pauses
// between rounds leave time for other requests, however fast events arrive.
import type { Line } from './lines.ts';

/** A pause is this many times as long as the round before it, so that sending takes at most a seventh of the time. */
const pauseFactor = 6;
const longestPauseMs = 100;

export class Rounds {
  readonly #due = new Set<() => void>();
  #scheduled = false;
  #notBefore = 0;
  #lines: readonly Line[] = [];
  #chunk: Buffer = Buffer.alloc(0);

  /** Calls `flush` in the next round: at once if no pause is left, otherwise after it. */
  join(flush: () => void): void {
    this.#due.add(flush);
    if (this.#scheduled) return;
    this.#scheduled = true;
    const pause = this.#notBefore - performance.now();
    // Timers take at least a millisecond.
    if (pause < 1) setImmediate(() => this.#run());
    else setTimeout(() => this.#run(), pause).unref();
  }

  /** Joins lines into one buffer; consecutive watchers with the same lines share it. */
  chunkOf(lines: readonly Line[]): Buffer {
    if (lines.length !== this.#lines.length || lines.some((line, index) => line !== this.#lines[index])) {
      this.#lines = lines;
      this.#chunk = Buffer.concat(lines.flat());
    }
    return this.#chunk;
  }

  #run(): void {
    const started = performance.now();
    const due = [...this.#due];
    this.#due.clear();
    this.#scheduled = false;
    for (const flush of due) flush();
    this.#lines = [];
    this.#chunk = Buffer.alloc(0);
    // Sockets write at the end of this event loop turn: only then is the duration of the round known.
    process.nextTick(() => {
      const ended = performance.now();
      this.#notBefore = ended + Math.min(pauseFactor * (ended - started), longestPauseMs);
    });
  }
}
