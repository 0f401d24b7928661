// One open watch: sends lines at the pace of the client, and closes the connection if the client does not read.
import type { ServerResponse } from 'node:http';
import type { Line } from './lines.ts';
import { Rounds } from './rounds.ts';

/** How much is buffered for a slow client. */
const waitingBytes = 16 * 1024 * 1024;
const chunkBytes = 256 * 1024;
const bookmarkEveryMs = 60_000;
const longestTimerMs = 2 ** 31 - 1;

interface StreamOptions {
  readonly contentType: string;
  /** Returns a bookmark; undefined when the client wants none or has undelivered events. */
  readonly bookmark: () => Line | undefined;
  readonly timeoutMs: number;
  readonly rounds: Rounds;
}

export class WatchStream {
  readonly #response: ServerResponse;
  readonly #options: StreamOptions;
  readonly #waiting: Line[] = [];
  #initial: Iterator<Line> | undefined;
  #waitingBytes = 0;
  #ended = false;

  constructor(response: ServerResponse, options: StreamOptions) {
    this.#response = response;
    this.#options = options;
  }

  get timeoutMs(): number {
    return this.#options.timeoutMs;
  }

  /** Responds with 200 and sends the initial lines, which are generated at the pace of the client. */
  begin(initial: Iterable<Line>): void {
    this.#response.writeHead(200, {
      'Content-Type': this.#options.contentType,
      'Cache-Control': 'no-cache, private',
    });
    this.#response.flushHeaders();
    this.#response.on('drain', this.#flush);
    this.#initial = initial[Symbol.iterator]();
    this.#schedule();
  }

  send(line: Line): void {
    if (this.#ended) return;
    this.#waiting.push(line);
    this.#waitingBytes += sizeOf(line);
    if (this.#waitingBytes > waitingBytes) this.cut();
    else this.#schedule();
  }

  /** Sends a bookmark, unless lines are waiting. */
  bookmark(): void {
    const line = this.#waiting.length === 0 ? this.#options.bookmark() : undefined;
    if (line !== undefined) this.send(line);
  }

  /** Ends the stream cleanly, with a last bookmark. */
  end(): void {
    if (this.#ended) return;
    this.bookmark();
    this.#flush();
    this.#ended = true;
    this.#response.end();
  }

  /** Closes the connection without waiting for the client. */
  cut(): void {
    this.#ended = true;
    this.#waiting.length = 0;
    this.#response.destroy();
  }

  onClose(listener: () => void): void {
    if (this.#response.closed) listener();
    else this.#response.once('close', listener);
  }

  #schedule(): void {
    this.#options.rounds.join(this.#flush);
  }

  readonly #flush = (): void => {
    while (!this.#ended && !this.#response.writableNeedDrain) {
      const lines = this.#nextLines();
      if (lines.length === 0) return;
      this.#response.write(this.#options.rounds.chunkOf(lines));
    }
  };

  /** The lines of the next chunk. */
  #nextLines(): readonly Line[] {
    const lines: Line[] = [];
    let size = 0;
    for (let line = this.#next(); line !== undefined; line = size < chunkBytes ? this.#next() : undefined) {
      lines.push(line);
      size += sizeOf(line);
    }
    return lines;
  }

  #next(): Line | undefined {
    const initial = this.#initial?.next();
    if (initial !== undefined && initial.done !== true) return initial.value;
    this.#initial = undefined;
    const line = this.#waiting.shift();
    if (line !== undefined) this.#waitingBytes -= sizeOf(line);
    return line;
  }
}

function sizeOf(line: Line): number {
  let size = 0;
  for (const piece of line) size += piece.length;
  return size;
}

/** All open watches of a server. */
export class Watches {
  readonly rounds = new Rounds();
  readonly #open = new Map<WatchStream, () => void>();
  readonly #bookmarks = setInterval(() => this.bookmark(), bookmarkEveryMs).unref();

  get size(): number {
    return this.#open.size;
  }

  /** Registers a stream until it closes, then calls `release`. */
  add(stream: WatchStream, release: () => void): void {
    const timer = setTimeout(() => stream.end(), Math.min(stream.timeoutMs, longestTimerMs)).unref();
    this.#open.set(stream, release);
    stream.onClose(() => {
      clearTimeout(timer);
      this.#open.delete(stream);
      release();
    });
  }

  /** Sends a bookmark to every watcher that wants them. */
  bookmark(): void {
    for (const stream of this.#open.keys()) stream.bookmark();
  }

  /** Ends every stream. */
  close(): void {
    clearInterval(this.#bookmarks);
    for (const stream of this.#open.keys()) stream.end();
  }
}
