// When open watches send, and what they share in doing so: an event that goes to hundreds of them is put into bytes
// once, and however fast events come, sending them leaves time for everything else. One for all watches of a server.
import type { Line } from './watch-lines.ts';

/** A pause is this many times as long as the round before it: sending takes at most a seventh of the time. */
const pauseFactor = 6;
const longestPauseMs = 100;

export class Rounds {
  readonly #due = new Set<() => void>();
  #scheduled = false;
  #notBefore = 0;
  #lines: readonly Line[] = [];
  #chunk: Buffer = Buffer.alloc(0);

  /** Calls `flush` in the next round: at once when it is quiet, otherwise after a pause. */
  join(flush: () => void): void {
    this.#due.add(flush);
    if (this.#scheduled) return;
    this.#scheduled = true;
    const pause = this.#notBefore - performance.now();
    // A timer is never shorter than a millisecond.
    if (pause < 1) setImmediate(() => this.#run());
    else setTimeout(() => this.#run(), pause).unref();
  }

  /** The bytes of some lines; watchers that come one after the other with the same lines get the same buffer. */
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
    // Connections write at the end of the turn: only then is it known what the round cost.
    process.nextTick(() => {
      const ended = performance.now();
      this.#notBefore = ended + Math.min(pauseFactor * (ended - started), longestPauseMs);
    });
  }
}
