// One open watch: sends lines as fast as the client reads them, and gives up on a client that does not read.
import type { ServerResponse } from 'node:http';

/** How many lines may wait for a client. They are shared with others, so it is their number that counts. */
const waitingLimit = 10_000;
const chunkBytes = 256 * 1024;
const bookmarkEveryMs = 60_000;
const longestTimerMs = 2 ** 31 - 1;

interface StreamOptions {
  /** Makes a bookmark; undefined when the client wants none. */
  readonly bookmark: (() => Buffer) | undefined;
  readonly timeoutMs: number;
}

export class WatchStream {
  readonly #response: ServerResponse;
  readonly #options: StreamOptions;
  readonly #waiting: Buffer[] = [];
  #initial: Iterator<Buffer> | undefined;
  #scheduled = false;
  #ended = false;

  constructor(response: ServerResponse, options: StreamOptions) {
    this.#response = response;
    this.#options = options;
  }

  get timeoutMs(): number {
    return this.#options.timeoutMs;
  }

  /** Answers 200 and sends the first lines, which are made only as fast as the client takes them. */
  begin(initial: Iterable<Buffer>): void {
    this.#response.writeHead(200, {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-cache, private',
    });
    this.#response.flushHeaders();
    this.#response.on('drain', () => this.#flush());
    this.#initial = initial[Symbol.iterator]();
    this.#schedule();
  }

  send(line: Buffer): void {
    if (this.#ended) return;
    this.#waiting.push(line);
    if (this.#waiting.length > waitingLimit && this.#initial === undefined) this.cut();
    else this.#schedule();
  }

  /** Tells the client how far it has come. */
  bookmark(): void {
    if (this.#options.bookmark !== undefined && this.#waiting.length === 0) this.send(this.#options.bookmark());
  }

  /** Ends the stream in the ordinary way, with a last bookmark. */
  end(): void {
    if (this.#ended) return;
    this.bookmark();
    this.#flush();
    this.#ended = true;
    this.#response.end();
  }

  /** Ends the connection without waiting for the client. */
  cut(): void {
    this.#ended = true;
    this.#waiting.length = 0;
    this.#response.destroy();
  }

  onClose(listener: () => void): void {
    if (this.#response.closed) listener();
    else this.#response.once('close', listener);
  }

  /** Lines of one turn of the event loop leave together. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (!this.#ended && !this.#response.writableNeedDrain) {
      const chunk = this.#nextChunk();
      if (chunk === undefined) return;
      this.#response.write(chunk);
    }
  }

  #nextChunk(): Buffer | undefined {
    const lines: Buffer[] = [];
    let size = 0;
    while (size < chunkBytes && this.#initial !== undefined) {
      const next = this.#initial.next();
      if (next.done === true) this.#initial = undefined;
      else {
        lines.push(next.value);
        size += next.value.length;
      }
    }
    let taken = 0;
    while (size < chunkBytes && taken < this.#waiting.length) {
      const line = this.#waiting[taken++]!;
      lines.push(line);
      size += line.length;
    }
    if (taken > 0) this.#waiting.splice(0, taken);
    if (lines.length < 2) return lines[0];
    return Buffer.concat(lines, size);
  }
}

/** All open watches of a server. */
export class Watches {
  readonly #open = new Map<WatchStream, () => void>();
  readonly #bookmarks = setInterval(() => this.bookmark(), bookmarkEveryMs).unref();

  get size(): number {
    return this.#open.size;
  }

  /** Takes care of a stream until it closes, then calls `release`. */
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
