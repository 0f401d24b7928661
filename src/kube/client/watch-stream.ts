// The body of a watch: one JSON event per line. Called by connect.ts.
import type { IncomingMessage } from 'node:http';
import type { WatchEvent } from './client.ts';
import type { Clock, Timer } from '../clock.ts';
import { answerError, connectionError } from '../errors.ts';
import type { RequestLine } from '../errors.ts';
import type { KubeObject } from '../objects.ts';
import { readBody } from './http/watch-connection.ts';
import { lost } from './http/transport.ts';

const [OPEN, CLOSE, COMMA, NEWLINE] = [91, 93, 44, 10];

/** The largest buffer for incomplete lines that is kept for later lines. */
const KEPT_BYTES = 64 * 1024;

/**
 * Splits bytes into lines. Lines may have any length and may be cut anywhere, also inside a character. Calls back with
 * one line or more, without the last newline. They are valid only until the callback returns.
 */
export class Lines {
  /** Its first `#length` bytes are the start of a line whose end has not arrived yet. */
  #memory: Buffer = Buffer.alloc(0);
  #length = 0;
  readonly #onLines: (lines: Buffer) => void;

  constructor(onLines: (lines: Buffer) => void) {
    this.#onLines = onLines;
  }

  push(chunk: Buffer): void {
    const last = chunk.lastIndexOf(NEWLINE);
    let start = 0;
    if (last >= 0 && this.open) {
      const first = chunk.indexOf(NEWLINE);
      start = first + 1;
      this.#onLines(this.#complete(chunk.subarray(0, first)));
    }
    if (start <= last) this.#onLines(chunk.subarray(start, last));
    if (last + 1 < chunk.length) this.#keep(chunk.subarray(last + 1));
  }

  /** Whether a line has started and not ended. */
  get open(): boolean {
    return this.#length > 0;
  }

  #keep(piece: Buffer): void {
    const length = this.#length + piece.length;
    if (length > this.#memory.length) {
      const larger = Buffer.allocUnsafeSlow(2 * length);
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

/** Calls back for each line. */
export function eachLine(lines: Buffer, onLine: (line: Buffer) => void): void {
  let start = 0;
  for (let end = lines.indexOf(NEWLINE); end >= 0; end = lines.indexOf(NEWLINE, start)) {
    onLine(lines.subarray(start, end));
    start = end + 1;
  }
  onLine(lines.subarray(start));
}

/** An event as it was parsed, not validated yet. */
type ParsedEvent = { readonly type?: unknown; readonly object?: unknown } | null;

/**
 * Reads events until the server ends the stream. Rejects on a cut connection, an ERROR event, a throwing `onEvent`.
 * `parse` gets JSON: an event, or a list of events.
 */
export function readEvents<T extends KubeObject>(
  request: RequestLine,
  response: IncomingMessage,
  signal: AbortSignal,
  parse: (source: Buffer) => unknown,
  onEvent: (event: WatchEvent<T>) => void,
  onBytes: () => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let failed = false;
    const fail = (error: unknown): void => {
      failed = true;
      reject(error);
    };
    // After a failure, or when `onEvent` aborted the watch, the rest of the lines is not delivered.
    const deliver = (event: ParsedEvent): void => {
      if (!failed && !signal.aborted) onEvent(validated<T>(request, event));
    };
    const lines = new Lines((some) => {
      const events = parseTogether(some, parse);
      if (events !== undefined) events.forEach(deliver);
      else
        eachLine(some, (line) => {
          if (!failed && !signal.aborted && line.length > 0) deliver(parseLine(request, line, parse));
        });
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
    response.on('error', (error) => fail(lost(request, error, signal)));
  });
}

/** Parses several lines as one list, which is faster than one by one. Undefined if they are not one event each. */
function parseTogether(lines: Buffer, parse: (source: Buffer) => unknown): readonly ParsedEvent[] | undefined {
  if (!lines.includes(NEWLINE)) return undefined;
  const list = Buffer.allocUnsafe(lines.length + 2);
  list[0] = OPEN;
  lines.copy(list, 1);
  list[list.length - 1] = CLOSE;
  let count = 1;
  for (let at = 0; (at = list.indexOf(NEWLINE, at)) >= 0; count++) list[at] = COMMA;
  try {
    const events = parse(list) as readonly ParsedEvent[];
    return events.length === count ? events : undefined;
  } catch {
    return undefined;
  }
}

function validated<T extends KubeObject>(request: RequestLine, event: ParsedEvent): WatchEvent<T> {
  switch (event?.type) {
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
        `the watch sent an event of unknown type '${String(event?.type)}'`,
      );
  }
}

function parseLine(request: RequestLine, line: Buffer, parse: (source: Buffer) => unknown): ParsedEvent {
  try {
    return parse(line) as ParsedEvent;
  } catch (error) {
    throw connectionError(
      request,
      'InvalidAnswer',
      `the watch sent an event that is not JSON: ${(error as Error).message}`,
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

  /** Only records the time: resetting a timer for every chunk would cost more than the chunk. */
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
