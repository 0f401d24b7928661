// Requests from within the server's own process: the same handler as for everybody else, but no connection, no
// encryption and no HTTP in between, which would take longer than most requests themselves.
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Readable, Writable } from 'node:stream';

/** Answers a request as Node's HTTP would. Rejects when there is no answer. */
export type LocalServer = (
  request: {
    readonly method: string;
    readonly path: string;
    readonly headers: OutgoingHttpHeaders;
    readonly body?: string | Uint8Array;
  },
  signal: AbortSignal,
) => Promise<IncomingMessage>;

type Handler = (request: IncomingMessage, response: ServerResponse) => void;
type Headers = Readonly<Record<string, string | number | readonly string[]>>;
type Done = (error?: Error | null) => void;

/** What is read of a request. */
class LocalRequest extends Readable {
  readonly complete = true;
  readonly socket = { remoteAddress: '127.0.0.1', authorized: false };
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly #body: string | Uint8Array | undefined;

  constructor({ method, path, headers, body }: Parameters<LocalServer>[0]) {
    super();
    this.method = method;
    this.url = path;
    this.headers = lowerCase(headers as Headers);
    this.#body = body;
  }

  override _read(): void {
    if (this.#body !== undefined && this.#body.length > 0) this.push(Buffer.from(this.#body));
    this.push(null);
  }
}

/** The answer on the client's side. */
class LocalAnswer extends Readable {
  readonly socket = null;
  statusCode = 0;
  headers: Readonly<Record<string, string>> = {};
  onRead: Done | undefined;

  override _read(): void {
    const done = this.onRead;
    this.onRead = undefined;
    done?.();
  }
}

/** The answer on the server's side: what is written can be read from `answer`, as fast as the client does. */
class LocalResponse extends Writable {
  readonly answer = new LocalAnswer();
  headersSent = false;
  readonly #onHead: () => void;

  constructor(onHead: () => void) {
    super();
    this.#onHead = onHead;
    this.answer.on('close', () => this.destroy());
  }

  writeHead(code: number, headers: Headers): this {
    this.headersSent = true;
    this.answer.statusCode = code;
    this.answer.headers = lowerCase(headers);
    this.#onHead();
    return this;
  }

  /** The head is never held back. */
  flushHeaders(): void {}

  /** A client in this process is not given up: it could only be as slow as we are. */
  setTimeout(): this {
    return this;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    if (this.answer.push(chunk)) done();
    else this.answer.onRead = done;
  }

  override _final(done: Done): void {
    this.answer.push(null);
    done();
  }

  override _destroy(error: Error | null, done: Done): void {
    if (!this.writableFinished) this.answer.destroy(error ?? hungUp());
    done(error);
  }
}

/** The requests of clients in this process. */
export class LocalRequests {
  readonly #handler: Handler;
  readonly #open = new Set<LocalResponse>();
  #closed = false;

  constructor(handler: Handler) {
    this.#handler = handler;
  }

  readonly answer: LocalServer = (request, signal) =>
    new Promise((resolve, reject) => {
      if (this.#closed) return reject(hungUp());
      const response = new LocalResponse(() => resolve(response.answer as unknown as IncomingMessage));
      const abort = (): void => void response.answer.destroy(signal.reason as Error);
      signal.addEventListener('abort', abort, { once: true });
      this.#open.add(response);
      response.on('close', () => {
        this.#open.delete(response);
        signal.removeEventListener('abort', abort);
      });
      response.on('error', () => undefined);
      response.answer.on('error', reject);
      this.#handler(new LocalRequest(request) as unknown as IncomingMessage, response as unknown as ServerResponse);
    });

  /** Ends those that are open and takes no more. */
  close(): void {
    this.#closed = true;
    for (const response of this.#open) response.destroy();
  }
}

function lowerCase(headers: Headers): Record<string, string> {
  const entries = Object.entries(headers).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), [value].flat().join(', ')]));
}

function hungUp(): Error {
  return Object.assign(new Error('the server has stopped'), { code: 'ECONNRESET' });
}
