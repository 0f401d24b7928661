// The gateway as a server: where it listens, which requests it accepts, and what it never forwards.
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import type { Request } from '../traffic/index.ts';
import { serveGateway } from './gateway.ts';
import type { GatewayServer } from './gateway.ts';
import type { Reply } from './proxy.ts';

let gateway: GatewayServer | undefined;
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
});

const OK: Reply = { status: 200, headers: { 'content-type': 'text/plain' }, text: 'well' };

/** Starts a gateway with the given reply; `sent` records the requests that it forwards. */
async function serving(reply: (request: Request, signal: AbortSignal) => Reply | Promise<Reply> = () => OK) {
  const sent: Request[] = [];
  gateway = await serveGateway(0, async (request, signal) => {
    sent.push(request);
    return reply(request, signal);
  });
  const { url } = gateway;
  const { hostname, port } = new URL(url);
  /** Sends raw bytes, and resolves with the whole response. */
  const raw = async (bytes: string): Promise<string> => {
    const socket = connect(Number(port), hostname).end(bytes);
    return text(socket);
  };
  return { url, sent, raw };
}

test('the gateway listens on loopback only', async () => {
  expect((await serving()).url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
});

test("the gateway forwards a request as the Gateway's Envoy sees it", async () => {
  const { raw, sent } = await serving();
  await raw(
    'PUT /a?b HTTP/1.1\r\nHost: Shop.example.com:80\r\nX-Env: a\r\nx-env: b\r\nx-request-id: mine\r\nTE: trailers\r\nConnection: close\r\n\r\n',
  );
  expect(sent).toEqual([
    {
      host: 'Shop.example.com:80',
      port: 80,
      path: '/a?b',
      method: 'PUT',
      headers: { 'x-env': ['a', 'b'], 'x-forwarded-proto': 'http', 'x-request-id': 'mine' },
      source: { gateway: 'playground/gateway' },
    },
  ]);
});

test('the gateway accepts an absolute URL as request target, and rejects invalid targets', async () => {
  const { raw, sent } = await serving();
  await raw('GET http://shop.example.com/x HTTP/1.1\r\nHost: other\r\nConnection: close\r\n\r\n');
  expect(sent).toMatchObject([{ host: 'shop.example.com', path: '/x' }]);
  for (const bytes of ['OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 'GET / HTTP/1.1\r\n\r\n']) {
    expect(await raw(bytes)).toMatch(/^HTTP\/1\.1 400 /);
  }
  expect(sent).toHaveLength(1);
});

test('a header named __proto__ is forwarded like any other', async () => {
  const { raw, sent } = await serving();
  await raw('GET / HTTP/1.1\r\nHost: x\r\n__proto__: y\r\nConnection: close\r\n\r\n');
  expect(Object.getOwnPropertyDescriptor(sent[0]!.headers, '__proto__')?.value).toBe('y');
});

test('a body or headers that are too long are rejected', async () => {
  const { url, sent } = await serving();
  const { status } = await fetch(url, { method: 'POST', body: 'x'.repeat(1_048_577) });
  expect([status, sent]).toEqual([413, []]);
  expect((await fetch(url, { method: 'POST', body: 'x'.repeat(1_048_576) })).status).toBe(200);
  expect((await fetch(url, { headers: { big: 'x'.repeat(20_000) } })).status).toBe(431);
});

test('the gateway answers HEAD without a body, and gives the reason for an answer of the proxy itself', async () => {
  const { url } = await serving(() => ({ ...OK, status: 503, reason: 'no → way\n' }));
  const answer = await fetch(url, { method: 'HEAD' });
  expect([answer.status, await answer.text(), answer.headers.get('x-offshoot-reason')]).toEqual([
    503,
    '',
    'no -> way?',
  ]);
});

test('invalid response headers are left out and reported', async () => {
  const headers = { 'bad name': 'x', good: 'y', split: 'a\r\nb: c' };
  const answer = await fetch((await serving(() => ({ ...OK, headers }))).url);
  expect([answer.headers.get('good'), answer.headers.get('b')]).toEqual(['y', null]);
  expect(answer.headers.get('x-offshoot-reason')).toBe(
    'header "bad name" cannot be sent, header "split" cannot be sent',
  );
});

test('a request is aborted when the client disconnects', async () => {
  const [arrived, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { url } = await serving((_request, signal) => {
    arrived.resolve();
    signal.addEventListener('abort', () => left.resolve());
    return new Promise(() => undefined);
  });
  const clientAbort = new AbortController();
  const asked = fetch(url, { signal: clientAbort.signal });
  await arrived.promise;
  clientAbort.abort();
  await expect(asked).rejects.toThrow(/abort/);
  await left.promise;
});

test('a port that is in use is an error that names the port', async () => {
  const { url } = await serving();
  const port = Number(new URL(url).port);
  await expect(serveGateway(port, async () => OK)).rejects.toMatchObject({ code: 'EADDRINUSE', port });
});
