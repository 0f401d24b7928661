// A stream of JSON lines with backpressure and heartbeats.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { stringifyJson } from '../../kube/index.ts';

/** The heartbeat interval: lets the page tell a dead connection from a quiet one. */
const BEAT_MS = 10_000;

export class Lines {
  readonly #response: ServerResponse;
  readonly #ended = new AbortController();
  #last: Promise<void> = Promise.resolve();
  #beat: NodeJS.Timeout;

  /** Starts the response. It ends when the reader disconnects, or with `end`. */
  constructor(response: ServerResponse, headers: Readonly<Record<string, string>>) {
    this.#response = response;
    response.writeHead(200, {
      ...headers,
      'content-type': 'application/x-ndjson; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    response.once('close', () => this.end());
    response.once('error', () => this.end());
    this.#beat = setInterval(() => {
      // A slow reader still has lines to read.
      if (response.writableLength === 0) void this.write({ beat: new Date().toISOString() });
    }, BEAT_MS);
    this.#beat.unref();
  }

  /** Aborts when the stream has ended. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** Writes a line after all earlier ones. Resolves once the reader has room for more. */
  write(value: unknown): Promise<void> {
    const text = `${stringifyJson(value)}\n`;
    return (this.#last = this.#writeAfter(this.#last, text));
  }

  async #writeAfter(before: Promise<void>, text: string): Promise<void> {
    await before;
    if (this.signal.aborted || this.#response.write(text)) return;
    await once(this.#response, 'drain', { signal: this.signal }).catch(() => {});
  }

  end(): void {
    clearInterval(this.#beat);
    if (!this.signal.aborted) this.#ended.abort();
    this.#response.end();
  }
}
