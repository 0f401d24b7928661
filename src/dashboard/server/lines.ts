// A stream of JSON lines: written as fast as the other side reads, and never silent for long.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { stringifyJson } from '../../kube/index.ts';

/** How often something is said, so that the page knows a dead connection from a quiet one. */
const BEAT_MS = 10_000;

export class Lines {
  readonly #response: ServerResponse;
  readonly #ended = new AbortController();
  #last: Promise<void> = Promise.resolve();
  #beat: NodeJS.Timeout;

  /** Begins the answer. It ends when the reader goes, or with `end`. */
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
      // Whoever is behind is not quiet.
      if (response.writableLength === 0) void this.write({ beat: new Date().toISOString() });
    }, BEAT_MS);
    this.#beat.unref();
  }

  /** Aborts when nobody reads any more. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** Writes a line after those before it. Resolves once the other side has room for more. */
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
