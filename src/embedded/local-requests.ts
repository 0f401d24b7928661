// Requests from within the server's own process. They use the same handler as all others, but skip the connection, TLS
// and HTTP, which would take longer than most requests themselves.
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Readable, Writable } from 'node:stream';

/** Answers a request as Node's HTTP client would. Rejects when there is no response. */
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

/** The parts of IncomingMessage that the handler reads. */
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

/** The client's side of a response. */
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

/** The server's side of a response. Everything written can be read from `answer`, at the pace of the client. */
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

  /** Headers are never buffered. */
  flushHeaders(): void {}

  /** A client in the same process never times out: it is only as slow as this server. */
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
    if (!this.writableFinished) this.answer.destroy(error ?? stoppedError());
    done(error);
  }
}

/** Open requests of clients in the same process. */
export class LocalRequests {
  readonly #handler: Handler;
  readonly #open = new Set<LocalResponse>();
  #closed = false;

  constructor(handler: Handler) {
    this.#handler = handler;
  }

  readonly answer: LocalServer = (request, signal) =>
    new Promise((resolve, reject) => {
      if (this.#closed) return reject(stoppedError());
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

  /** Ends open requests and rejects new ones. */
  close(): void {
    this.#closed = true;
    for (const response of this.#open) response.destroy();
  }
}

function lowerCase(headers: Headers): Record<string, string> {
  const entries = Object.entries(headers).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), [value].flat().join(', ')]));
}

function stoppedError(): Error {
  return Object.assign(new Error('the server has stopped'), { code: 'ECONNRESET' });
}
