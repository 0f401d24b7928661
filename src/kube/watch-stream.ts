// The body of a watch: one JSON event a line, for as long as it lasts. Called by connect.ts.
import type { IncomingMessage } from 'node:http';
import type { WatchEvent } from './client.ts';
import type { Clock, Timer } from './clock.ts';
import { answerError, connectionError } from './errors.ts';
import type { RequestLine } from './errors.ts';
import type { KubeObject } from './objects.ts';
import { readBody } from './tap.ts';
import { lost } from './transport.ts';

const newline = 10;

/** Memory for the beginnings of lines that is kept for the next ones. */
const KEPT_BYTES = 64 * 1024;

/**
 * Cuts bytes into lines. Lines may be of any length and may be cut anywhere, also inside a character. A line is good only
 * until its callback returns, and so are the bytes that are pushed.
 */
export class Lines {
  /** The beginning of a line whose end has not come yet: the first so many bytes of this. */
  #memory: Buffer = Buffer.alloc(0);
  #length = 0;
  readonly #onLine: (line: Buffer) => void;

  constructor(onLine: (line: Buffer) => void) {
    this.#onLine = onLine;
  }

  push(chunk: Buffer): void {
    let start = 0;
    while (start < chunk.length) {
      const end = chunk.indexOf(newline, start);
      const piece = chunk.subarray(start, end < 0 ? chunk.length : end);
      if (end < 0) return this.#keep(piece);
      start = end + 1;
      this.#onLine(this.#length === 0 ? piece : this.#complete(piece));
    }
  }

  /** Whether a line has begun and not ended. */
  get open(): boolean {
    return this.#length > 0;
  }

  #keep(piece: Buffer): void {
    const length = this.#length + piece.length;
    if (length > this.#memory.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(2 * length, KEPT_BYTES));
      this.#memory.copy(larger, 0, 0, this.#length);
      this.#memory = larger;
    }
    piece.copy(this.#memory, this.#length);
    this.#length = length;
  }

  #complete(piece: Buffer): Buffer {
    this.#keep(piece);
    const line = this.#memory.subarray(0, this.#length);
    this.#length = 0;
    if (this.#memory.length > KEPT_BYTES) this.#memory = Buffer.alloc(0);
    return line;
  }
}

/** Reads events until the server ends the stream. Rejects on a cut connection, an ERROR event, a throwing `onEvent`. */
export function readEvents<T extends KubeObject>(
  request: RequestLine,
  response: IncomingMessage,
  life: AbortSignal,
  parse: (line: Buffer) => unknown,
  onEvent: (event: WatchEvent<T>) => void,
  onBytes: () => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let over = false;
    const fail = (error: unknown): void => {
      over = true;
      reject(error);
    };
    const lines = new Lines((line) => {
      // After a failure, or when `onEvent` aborted the watch, the rest of the chunk is not delivered.
      if (over || life.aborted || line.length === 0) return;
      onEvent(parseEvent<T>(request, line, parse));
    });
    readBody(response, (chunk) => {
      onBytes();
      try {
        lines.push(chunk);
      } catch (error) {
        fail(error);
      }
    });
    response.on('end', () => {
      if (lines.open) fail(connectionError(request, 'ConnectionLost', 'the watch was cut inside an event'));
      else resolve();
    });
    response.on('error', (error) => fail(lost(request, error, life)));
  });
}

function parseEvent<T extends KubeObject>(
  request: RequestLine,
  line: Buffer,
  parse: (line: Buffer) => unknown,
): WatchEvent<T> {
  const event = parseLine(request, line, parse);
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
    case 'BOOKMARK':
      return event as unknown as WatchEvent<T>;
    case 'ERROR':
      throw answerError(request, codeOf(event.object), event.object);
    default:
      throw connectionError(
        request,
        'InvalidAnswer',
        `the watch sent an event of unknown type '${String(event.type)}'`,
      );
  }
}

function parseLine(
  request: RequestLine,
  line: Buffer,
  parse: (line: Buffer) => unknown,
): { readonly type?: unknown; readonly object?: unknown } {
  try {
    return parse(line) ?? {};
  } catch (error) {
    throw connectionError(
      request,
      'InvalidAnswer',
      `the watch sent what is not JSON: ${(error as Error).message}`,
      error,
    );
  }
}

function codeOf(status: unknown): number {
  const code = (status as { code?: unknown } | undefined)?.code;
  return typeof code === 'number' ? code : 500;
}

/** Calls `onIdle` when `touch` has not been called for `ms`. */
export class IdleTimer {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #onIdle: () => void;
  #last: number;
  #timer: Timer | undefined;

  constructor(clock: Clock, ms: number, onIdle: () => void) {
    this.#clock = clock;
    this.#ms = ms;
    this.#onIdle = onIdle;
    this.#last = clock.monotonic();
    this.#arm(ms);
  }

  /** Only notes the time: setting a timer anew for every chunk would cost more than the chunk. */
  touch(): void {
    this.#last = this.#clock.monotonic();
  }

  cancel(): void {
    this.#timer?.cancel();
  }

  #arm(ms: number): void {
    this.#timer = this.#clock.setTimeout(() => {
      const left = this.#last + this.#ms - this.#clock.monotonic();
      if (left > 0) this.#arm(left);
      else this.#onIdle();
    }, ms);
  }
}
