// Requests to the dashboard's server, as its page sends them.
import { once } from 'node:events';
import { request as send } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http';
import { expect } from 'vitest';

export interface Answered {
  readonly status: number;
  readonly body: unknown;
  readonly headers: IncomingHttpHeaders;
}

export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Sends a request as the page does, with `headers` on top; a header that is undefined is left out. */
export function ask(
  url: string,
  method: string,
  path: string,
  { body, headers = {} }: { readonly body?: unknown; readonly headers?: Headers } = {},
): Promise<Answered> {
  const { host, hostname, port, origin } = new URL(url);
  const text = body === undefined ? undefined : JSON.stringify(body);
  const length = text === undefined ? {} : { 'content-length': `${Buffer.byteLength(text)}` };
  const all = {
    host,
    origin,
    'content-type': 'application/json',
    'sec-fetch-site': 'same-origin',
    ...length,
    ...headers,
  };
  // A flat list, because an object cannot repeat a header.
  const given = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().flatMap((each) => [name, each]),
  );
  return new Promise((resolve, reject) => {
    const sent = send({ hostname, port, path, method, headers: given, setHost: false }, (response) => {
      let answer = '';
      response.on('data', (chunk: Buffer) => (answer += chunk.toString()));
      response.on('end', () =>
        resolve({
          status: response.statusCode!,
          body: answer === '' ? undefined : JSON.parse(answer),
          headers: response.headers,
        }),
      );
    });
    sent.on('error', reject);
    sent.end(text);
  });
}

/** The lines of a stream, up to the first that `isEnough` accepts. */
export async function linesUntil<L>(
  url: string,
  path: string,
  isEnough: (line: L) => boolean,
  headers: Readonly<Record<string, string>> = {},
): Promise<readonly L[]> {
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(new Error(`no such line at ${path}`)), 30_000);
  const lines: L[] = [];
  try {
    for await (const line of follow<L>(new URL(path, url), { signal: ending.signal, headers })) {
      lines.push(line);
      if (isEnough(line)) return lines;
    }
  } finally {
    clearTimeout(timer);
    ending.abort();
  }
  throw new Error(`the stream of ${path} ended`);
}

/** The lines of a stream, as they come. Without an agent, the stream has a connection of its own. */
export async function* follow<L>(
  url: URL,
  options: Pick<RequestOptions, 'agent' | 'headers' | 'signal'>,
): AsyncGenerator<L> {
  const sent = send(url, { agent: false, ...options }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  expect(response.headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
  let text = '';
  for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) {
    const parts = (text + chunk).split('\n');
    text = parts.pop()!;
    for (const part of parts) yield JSON.parse(part) as L;
  }
}
