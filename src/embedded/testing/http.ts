// A plain HTTPS client for tests of the embedded server, without retries or caches.
import { Agent, request } from 'node:https';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Embedded } from '../server.ts';

export interface Reply {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  /** The body parsed as JSON. */
  readonly body: Json;
}

/** JSON whose structure the test knows. */
export type Json = { readonly [field: string]: Json };

/** Casts a JSON value to a string. */
export function textIn(value: Json | undefined): string {
  return value as unknown as string;
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly type?: string;
  /** The administrator's token by default; '' sends none. */
  readonly token?: string;
}

export interface TestClient {
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Reply>;
  get(path: string, options?: CallOptions): Promise<Reply>;
  post(path: string, body: unknown, options?: CallOptions): Promise<Reply>;
  /** Opens a watch. */
  watch(path: string, options?: CallOptions): Promise<WatchReader>;
  close(): void;
}

export function testClient(embedded: Embedded): TestClient {
  const agent = new Agent({ keepAlive: true, ca: embedded.caPem });
  const open = (method: string, path: string, body: unknown, options: CallOptions): Promise<IncomingMessage> => {
    const { token = embedded.admin.token, type = 'application/json' } = options;
    const content =
      body === undefined || Buffer.isBuffer(body) || typeof body === 'string' ? body : JSON.stringify(body);
    const headers = {
      ...(token !== '' && { Authorization: `Bearer ${token}` }),
      ...(content !== undefined && { 'Content-Type': type, 'Content-Length': String(Buffer.byteLength(content)) }),
      ...options.headers,
    };
    return new Promise((resolve, reject) => {
      request(`${embedded.url}${path}`, { method, agent, headers }, resolve).on('error', reject).end(content);
    });
  };
  const call: TestClient['call'] = async (method, path, body, options = {}) => {
    const response = await open(method, path, body, options);
    const chunks: Buffer[] = [];
    for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    const text = bytes.toString();
    const { statusCode: code = 0, headers } = response;
    const isJson = headers['content-type']?.startsWith('application/json') === true && text !== '';
    return {
      code,
      headers,
      bytes,
      text,
      body: (isJson && headers['content-encoding'] === undefined ? JSON.parse(text) : {}) as Json,
    };
  };
  return {
    call,
    get: (path, options) => call('GET', path, undefined, options),
    post: (path, body, options) => call('POST', path, body, options),
    watch: async (path, options = {}) => new WatchReader(await open('GET', path, undefined, options)),
    close: () => agent.destroy(),
  };
}

interface WatchLine {
  readonly type: string;
  readonly object: Json;
}

/** Reads a watch line by line. */
class WatchReader {
  readonly response: IncomingMessage;
  readonly #lines: AsyncGenerator<WatchLine>;

  constructor(response: IncomingMessage) {
    this.response = response;
    this.#lines = linesOf(response);
  }

  /** The next lines. Throws when the watch ends before. */
  async take(count: number): Promise<WatchLine[]> {
    const taken: WatchLine[] = [];
    while (taken.length < count) {
      const next = await this.#lines.next();
      if (next.done === true) throw new Error(`the watch ended after ${taken.length} of ${count} lines`);
      taken.push(next.value);
    }
    return taken;
  }

  /** `TYPE name` of the next lines. */
  async summary(count: number): Promise<string[]> {
    return (await this.take(count)).map(({ type, object }) => `${type} ${textIn(object['metadata']?.['name'])}`);
  }

  /** All lines until the server ends the watch. */
  async rest(): Promise<WatchLine[]> {
    const taken: WatchLine[] = [];
    for (let next = await this.#lines.next(); next.done !== true; next = await this.#lines.next())
      taken.push(next.value);
    return taken;
  }

  close(): void {
    this.response.destroy();
  }
}

async function* linesOf(response: IncomingMessage): AsyncGenerator<WatchLine> {
  let text = '';
  for await (const chunk of response as AsyncIterable<Buffer>) {
    text += chunk.toString();
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line) as WatchLine;
  }
}
