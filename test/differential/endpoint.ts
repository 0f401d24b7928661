// One of the two servers: sends a request as the administrator, and returns the parts of the response to compare.
import https from 'node:https';
import type { IncomingMessage } from 'node:http';
import type { ConnectConfig } from '../../src/kube/client/config/config.ts';
import { parseJson } from '../../src/kube/json.ts';

export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string;
  /** How many lines of a stream to read. */
  readonly lines?: number;
  /** Called when the response starts. */
  readonly onOpen?: () => void;
}

export interface Answer {
  readonly code: number;
  readonly contentType: string;
  readonly warnings: readonly string[];
  readonly body: unknown;
}

export interface Endpoint {
  send(request: WireRequest): Promise<Answer>;
  close(): void;
}

/** Connects with client certificates. */
export function endpointOf({ server, caPem, certPem, keyPem }: ConnectConfig): Endpoint {
  const agent = new https.Agent({ keepAlive: true, ca: caPem, cert: certPem, key: keyPem });
  const { hostname, port } = new URL(server);
  return {
    send: ({ method, path, headers, body, lines, onOpen }) =>
      new Promise((resolve, reject) => {
        const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
        const options = { agent, hostname, port, method, path, headers: { ...headers, ...length } };
        const sent = https.request(options as https.RequestOptions, (response) => {
          onOpen?.();
          const read = lines === undefined ? readAll(response) : readLines(response, lines);
          read.then((text) => resolve(answerOf(response, text, lines !== undefined)), reject);
        });
        sent.setTimeout(30_000, () => sent.destroy(new Error(`no answer to ${method} ${path}`)));
        sent.on('error', reject);
        sent.end(body);
      }),
    close: () => agent.destroy(),
  };
}

function answerOf(response: IncomingMessage, text: string, stream: boolean): Answer {
  const contentType = response.headers['content-type'] ?? '';
  const json = /\bjson\b/.test(contentType);
  const parts = text.split('\n').filter((line) => line !== '');
  const body = !json ? text : stream && response.statusCode === 200 ? parts.map(parseJson) : parseJson(text);
  return { code: response.statusCode ?? 0, contentType, warnings: warningsOf(response), body };
}

/** The texts of `299 - "text"`. */
function warningsOf(response: IncomingMessage): string[] {
  const raw = response.rawHeaders;
  const values = raw.filter((_value, index) => index % 2 === 1 && raw[index - 1]?.toLowerCase() === 'warning');
  return values.map((value) => value.replace(/^299 \S+ /, ''));
}

async function readAll(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk as string;
  return text;
}

/** Reads at most this many lines of a stream, and closes the connection. */
async function readLines(response: IncomingMessage, count: number): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk as string;
    if (response.statusCode === 200 && text.split('\n').length > count) break;
  }
  response.destroy();
  return response.statusCode === 200 ? text.split('\n').slice(0, count).join('\n') : text;
}
