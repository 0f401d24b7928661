import { deepFreeze } from '../../watchable/index.ts';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Client } from './client.ts';
import { connect } from './connect.ts';
import type { ConnectOptions } from './connect.ts';
import { isConflict, isNotFound, isTooManyRequests } from '../errors.ts';
import type { RequestReport } from './http/exchange.ts';
import { defineKind } from '../objects.ts';
import { json, refuse, startServer } from '../testing/http-server.ts';
import type { TestServer } from '../testing/http-server.ts';

const Pod = defineKind('v1', 'Pod', 'pods');
const Deployment = defineKind('apps/v1', 'Deployment', 'deployments');
const ClusterRole = defineKind('rbac.authorization.k8s.io/v1', 'ClusterRole', 'clusterroles', { namespaced: false });
const web = { namespace: 'shop', name: 'web' };

let server: TestServer;
let client: Client;
const clients: Client[] = [];

function open(options: ConnectOptions = {}, path = ''): Client {
  const made = connect({ server: server.url + path }, options);
  clients.push(made);
  return made;
}

beforeEach(async () => {
  server = await startServer();
  client = open();
});

afterEach(async () => {
  for (const made of clients.splice(0)) made.close();
  await server.close();
});

test('each method sends its verb, path, query, content type and body', async () => {
  const object = deepFreeze({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: web, spec: { replicas: 1 } });
  await client.get(Pod, web);
  await client.get(Deployment, web, { subresource: 'scale' });
  await client.get(ClusterRole, { name: 'system:MyRole' });
  await client.create(Deployment, object, { fieldManager: 'me', fieldValidation: 'Strict', dryRun: true });
  await client.create(Pod, { ...object, eviction: 1 }, { subresource: 'eviction' });
  await client.update(Deployment, object, { subresource: 'status' });
  await client.patch(Deployment, web, { type: 'json', body: [{ op: 'remove', path: '/spec' }] });
  await client.patch(Deployment, web, { type: 'merge', body: { spec: null } });
  await client.patch(Deployment, web, { type: 'strategic', body: {} }, { subresource: 'status' });
  await client.patch(Deployment, web, { type: 'apply', body: object, force: true }, { fieldManager: 'me' });
  await client.delete(Deployment, web, { preconditions: { uid: 'u' }, propagationPolicy: 'Foreground', dryRun: true });
  const scale = '/apis/apps/v1/namespaces/shop/deployments/web';
  const text = JSON.stringify(object);
  expect(server.seen.map(({ method, url, headers, body }) => [method, url, headers['content-type'], body])).toEqual([
    ['GET', '/api/v1/namespaces/shop/pods/web', undefined, ''],
    ['GET', `${scale}/scale`, undefined, ''],
    ['GET', '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3AMyRole', undefined, ''],
    [
      'POST',
      '/apis/apps/v1/namespaces/shop/deployments?fieldManager=me&fieldValidation=Strict&dryRun=All',
      'application/json',
      text,
    ],
    [
      'POST',
      '/api/v1/namespaces/shop/pods/web/eviction',
      'application/json',
      JSON.stringify({ ...object, eviction: 1 }),
    ],
    ['PUT', `${scale}/status`, 'application/json', text],
    ['PATCH', scale, 'application/json-patch+json', '[{"op":"remove","path":"/spec"}]'],
    ['PATCH', scale, 'application/merge-patch+json', '{"spec":null}'],
    ['PATCH', `${scale}/status`, 'application/strategic-merge-patch+json', '{}'],
    ['PATCH', `${scale}?fieldManager=me&force=true`, 'application/apply-patch+yaml', text],
    [
      'DELETE',
      scale,
      'application/json',
      '{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"u"},"propagationPolicy":"Foreground","dryRun":["All"]}',
    ],
  ]);
  for (const { headers, body } of server.seen) {
    expect(headers['content-length']).toBe(body === '' ? undefined : String(Buffer.byteLength(body)));
    expect(headers['transfer-encoding']).toBeUndefined();
    expect(headers.accept).toBe('application/json');
  }
  expect(new Set(server.seen.map(({ connection }) => connection)).size).toBe(1);
});

test('the content length counts bytes, not characters', async () => {
  await client.patch(Pod, web, { type: 'merge', body: { metadata: { labels: { a: 'grün ☃' } } } });
  expect(server.seen[0]!.body).toBe('{"metadata":{"labels":{"a":"grün ☃"}}}');
});

test('64-bit integers are sent and received unchanged', async () => {
  server.handle((response, { body }) => json(response, body === '' ? '{"big":9223372036854775807}' : body));
  const read = await client.get(Pod, web);
  expect(read).toEqual({ big: 9223372036854775807n });
  await client.patch(Pod, web, { type: 'merge', body: read });
  expect(server.seen[1]!.body).toBe('{"big":9223372036854775807}');
});

test('the path of the server URL is a prefix of every request path', async () => {
  await open({}, '/k8s/clusters/c-1/').get(Pod, web);
  expect(server.seen[0]!.url).toBe('/k8s/clusters/c-1/api/v1/namespaces/shop/pods/web');
});

test('a page of a list has complete objects, gzip or not', async () => {
  const page = {
    kind: 'PodList',
    apiVersion: 'v1',
    metadata: { resourceVersion: '7', continue: 'more', remainingItemCount: 2 },
    items: [{ metadata: { name: 'a' } }, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'b' } }],
  };
  server.handle((response, { url, headers }) => {
    if (!url.includes('zip') || headers['accept-encoding'] !== 'gzip') return json(response, page);
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(JSON.stringify(page)));
  });
  const wanted = {
    items: [
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } },
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'b' } },
    ],
    resourceVersion: '7',
    continue: 'more',
    remainingItemCount: 2,
  };
  expect(await client.list(Pod, { limit: 500, continue: 'x', labelSelector: 'a=b,c!=d' })).toEqual(wanted);
  expect(
    await client.list(Pod, { namespace: 'zip', resourceVersion: '0', resourceVersionMatch: 'NotOlderThan' }),
  ).toEqual(wanted);
  expect(server.seen.map(({ url }) => url)).toEqual([
    '/api/v1/pods?labelSelector=a%3Db%2Cc!%3Dd&limit=500&continue=x',
    '/api/v1/namespaces/zip/pods?resourceVersion=0&resourceVersionMatch=NotOlderThan',
  ]);
});

test('the last page has no continue, and an empty list may have null items', async () => {
  server.handle((response) =>
    json(response, { kind: 'PodList', metadata: { resourceVersion: '1', continue: '' }, items: null }),
  );
  expect(await client.list(Pod)).toEqual({ items: [], resourceVersion: '1' });
});

test.each([
  [{ kind: 'Status', status: 'Success', metadata: {} }, false],
  [{ kind: 'Pod', metadata: { name: 'web' } }, false],
  [{ kind: 'Pod', metadata: { name: 'web', deletionTimestamp: 't', deletionGracePeriodSeconds: 0 } }, false],
  [{ kind: 'Pod', metadata: { name: 'web', deletionTimestamp: 't', deletionGracePeriodSeconds: 30 } }, true],
  [{ kind: 'Pod', metadata: { name: 'web', deletionTimestamp: 't', finalizers: ['a'] } }, true],
  [
    { kind: 'Namespace', metadata: { name: 'web', deletionTimestamp: 't' }, spec: { finalizers: ['kubernetes'] } },
    true,
  ],
])('delete returns the object only if it still exists: %#', async (answer, there) => {
  server.handle((response) => json(response, answer));
  expect(await client.delete(Pod, web)).toEqual(there ? answer : undefined);
});

test('a failing status code is an ApiError with the Status of the server', async () => {
  server.handle((response) => refuse(response, 404, 'NotFound'));
  const error: unknown = await client.get(Pod, web).catch((reason: unknown) => reason);
  expect(isNotFound(error)).toBe(true);
  expect(error).toMatchObject({
    code: 404,
    reason: 'NotFound',
    message: 'GET /api/v1/namespaces/shop/pods/web: 404 NotFound: it is NotFound',
    status: { kind: 'Status' },
  });
});

test.each([
  ['a name is missing', () => client.get(Pod, { namespace: 'shop', name: '' })],
  ['a namespace is missing', () => client.get(Pod, { name: 'web' })],
  ['a name contains a path', () => client.delete(Pod, { namespace: 'shop', name: '../secrets/x' })],
  ['a namespace is ".."', () => client.get(Pod, { namespace: '..', name: 'x' })],
  [
    'an object to create has no namespace',
    () => client.create(Pod, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' } }),
  ],
  ['an apply has no field manager', () => client.patch(Pod, web, { type: 'apply', body: {} })],
])('nothing is sent when %s', async (_what, attempt) => {
  await expect(attempt()).rejects.toMatchObject({ name: 'ApiError', code: 0, reason: 'InvalidRequest' });
  expect(server.seen).toEqual([]);
});

test('the error for an unexpected answer quotes its beginning', async () => {
  server.handle((response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>login</html>'));
  await expect(client.get(Pod, web)).rejects.toThrow(/not JSON \(text\/html\): <html>login/);
  server.handle((response) => json(response, { kind: 'Pod' }));
  await expect(client.list(Pod)).rejects.toMatchObject({ reason: 'InvalidAnswer' });
  server.handle((response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('no gzip'));
  await expect(client.list(Pod)).rejects.toThrow(/cannot be unzipped/);
});

test('raw requests send and return JSON or text', async () => {
  server.handle((response, { url }) => {
    if (url.startsWith('/healthz')) response.writeHead(200, { 'content-type': 'text/plain' }).end('ok');
    else if (url === '/empty') response.writeHead(200).end();
    else json(response, { major: '1' });
  });
  expect(await client.raw({ path: '/healthz', query: { verbose: '1', absent: undefined } })).toBe('ok');
  expect(await client.raw({ path: '/empty' })).toBeUndefined();
  expect(await client.raw({ method: 'POST', path: '/v', body: { a: 1 }, accept: 'application/json;as=Table' })).toEqual(
    { major: '1' },
  );
  await client.raw({ method: 'PUT', path: '/v', body: 'a: 1', contentType: 'application/yaml' });
  expect(server.seen.map(({ url, body }) => [url, body])).toEqual([
    ['/healthz?verbose=1', ''],
    ['/empty', ''],
    ['/v', '{"a":1}'],
    ['/v', 'a: 1'],
  ]);
  expect(server.seen[2]!.headers.accept).toBe('application/json;as=Table');
  expect(server.seen[3]!.headers['content-type']).toBe('application/yaml');
});

test('a request answered with 429 is retried after the wait that the server asks for, even a write', async () => {
  server.handle((response) => {
    if (server.seen.length < 3) refuse(response, 429, 'TooManyRequests', { 'retry-after': '0' });
    else json(response, { kind: 'Pod', metadata: web });
  });
  await client.create(Pod, { apiVersion: 'v1', kind: 'Pod', metadata: web });
  expect(server.seen.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST']);
});

test('a request answered with 429 is sent five times at most', async () => {
  server.handle((response) => refuse(response, 429, 'TooManyRequests', { 'retry-after': '0' }));
  await expect(client.get(Pod, web)).rejects.toSatisfy(isTooManyRequests);
  expect(server.seen.length).toBe(5);
});

test('a 429 is not retried without Retry-After, or if the wait would exceed the deadline', async () => {
  server.handle((response) => refuse(response, 429, 'TooManyRequests', { 'retry-after': '100' }));
  await expect(client.get(Pod, web, { timeoutMs: 5000 })).rejects.toMatchObject({ code: 429, retryAfterMs: 100_000 });
  server.handle((response) => refuse(response, 429, 'TooManyRequests'));
  await expect(client.get(Pod, web)).rejects.toSatisfy(isTooManyRequests);
  expect(server.seen.length).toBe(2);
});

test('a conflict is not retried', async () => {
  server.handle((response) => refuse(response, 409, 'Conflict', { 'retry-after': '0' }));
  await expect(client.update(Pod, { apiVersion: 'v1', kind: 'Pod', metadata: web })).rejects.toSatisfy(isConflict);
  expect(server.seen.length).toBe(1);
});

/** Answers the first request; cuts the connection of the second when it is reused. */
function cutReused(): void {
  server.handle((response, { socket, connection }) => {
    if (server.seen.length === 1 || connection > 1) json(response, {});
    else socket.destroy();
  });
}

test('a read on a reused connection that the server had closed is retried once', async () => {
  cutReused();
  await client.get(Pod, web);
  await client.get(Pod, web);
  expect(server.seen.map(({ connection }) => connection)).toEqual([1, 1, 2]);
});

test('a write on a reused connection that the server had closed is not retried: it may have arrived', async () => {
  cutReused();
  await client.get(Pod, web);
  const write = client.patch(Pod, web, { type: 'merge', body: {} });
  await expect(write).rejects.toMatchObject({ code: 0, reason: 'ConnectionLost' });
  expect(server.seen.length).toBe(2);
});

test('a read on a new connection that breaks is not retried', async () => {
  server.handle((_response, { socket }) => void socket.destroy());
  await expect(client.get(Pod, web)).rejects.toMatchObject({ code: 0, reason: 'ConnectionLost' });
  expect(server.seen.length).toBe(1);
});

test('an answer that is cut off is an error, not half an object', async () => {
  server.handle((response, { socket }) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('{"kind":', () => socket.destroy());
  });
  await expect(client.get(Pod, web)).rejects.toMatchObject({ code: 0, reason: 'ConnectionLost' });
});

test('the error for a refused connection names the address', async () => {
  await server.close();
  await expect(client.get(Pod, web)).rejects.toMatchObject({
    reason: 'ConnectionRefused',
    message: expect.stringMatching(
      /^GET \/api\/v1\/namespaces\/shop\/pods\/web: no connection to 127\.0\.0\.1:\d+: .*ECONNREFUSED/,
    ),
  });
});

test.each([
  ['before the answer', (): void => undefined],
  ['during the answer', (response: ServerResponse): void => void response.writeHead(200).write('{')],
])('the deadline applies %s', async (_when, handler) => {
  server.handle(handler);
  const error: unknown = await client.get(Pod, web, { timeoutMs: 50 }).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 0, reason: 'Timeout' });
  expect((error as Error).message).toBe('GET /api/v1/namespaces/shop/pods/web: no answer within 50 ms');
});

test('an abort rejects with its own reason, before and during the request', async () => {
  const reason = new Error('changed my mind');
  const controller = new AbortController();
  server.handle(() => controller.abort(reason));
  await expect(client.get(Pod, web, { signal: controller.signal })).rejects.toBe(reason);
  await expect(client.get(Pod, web, { signal: controller.signal })).rejects.toBe(reason);
  expect(server.seen.length).toBe(1);
});

test('a noisy flow does not starve a quiet one', async () => {
  const limited = open({ maxInFlight: 2 });
  const answers: (() => void)[] = [];
  server.handle((response) => {
    answers.push(() => json(response, {}));
    if (answers.length === 2) setImmediate(() => answers.splice(0).forEach((answer) => answer()));
  });
  const noisy = Array.from({ length: 20 }, () => limited.flow('noisy').get(Pod, web));
  const quiet = limited.flow('quiet').get(ClusterRole, { name: 'quiet' });
  await expect.poll(() => server.seen.some(({ url }) => url.endsWith('/quiet'))).toBe(true);
  const place = server.seen.findIndex(({ url }) => url.endsWith('/quiet'));
  expect(place).toBeLessThan(5);
  server.handle((response) => json(response, {}));
  answers.splice(0).forEach((answer) => answer());
  await Promise.all([...noisy, quiet]);
});

describe('beforeSend', () => {
  /** A condition for requests, and how often it was asked. */
  function fence() {
    const state = {
      open: true,
      asked: 0,
      beforeSend: () => {
        state.asked++;
        if (!state.open) throw new Error('too late');
      },
    };
    return state;
  }

  test('is asked when a request has waited for its turn', async () => {
    const limited = open({ maxInFlight: 1 });
    const { promise: answered, resolve: answer } = Promise.withResolvers<() => void>();
    server.handle((response) => answer(() => json(response, {})));
    const state = fence();
    const first = limited.patch(Pod, web, { type: 'merge', body: {} }, state);
    const second = limited.patch(Pod, web, { type: 'merge', body: {} }, state).catch(String);
    const reply = await answered;
    state.open = false;
    reply();
    await first;
    expect(await second).toBe('Error: too late');
    expect([server.seen.length, state.asked]).toEqual([1, 2]);
  });

  test('is asked before a retry', async () => {
    const state = fence();
    server.handle((response) => {
      state.open = false;
      refuse(response, 429, 'TooManyRequests', { 'retry-after': '0' });
    });
    await expect(client.delete(Pod, web, state)).rejects.toThrow('too late');
    expect([server.seen.length, state.asked]).toEqual([1, 2]);
  });

  test('is not asked before there is a connection', async () => {
    const state = fence();
    await server.close();
    const sent = client.patch(Pod, web, { type: 'merge', body: {} }, state);
    await expect(sent).rejects.toMatchObject({ code: 0, reason: 'ConnectionRefused' });
    expect(state.asked).toBe(0);
    server = await startServer();
  });

  test('is asked by a client without connections', async () => {
    const local = (): Promise<never> => Promise.reject(new Error('it was sent'));
    const state = fence();
    state.open = false;
    await expect(open({ local }).delete(Pod, web, state)).rejects.toThrow('too late');
  });
});

test('every request over the wire is reported, with its flow', async () => {
  const reports: RequestReport[] = [];
  const reporting = open({ onRequest: (report) => reports.push(report) });
  server.handle((response) => {
    if (server.seen.length === 1) refuse(response, 429, 'TooManyRequests', { 'retry-after': '0' });
    else if (server.seen.length === 2) refuse(response, 404, 'NotFound');
    else response.destroy();
  });
  await reporting
    .flow('a')
    .get(Pod, web)
    .catch(() => undefined);
  await reporting
    .flow('b')
    .delete(Pod, web)
    .catch(() => undefined);
  expect(reports.map(({ method, code, flow }) => [method, code, flow])).toEqual([
    ['GET', 429, 'a'],
    ['GET', 404, 'a'],
    ['DELETE', 0, 'b'],
  ]);
  expect(reports[0]!.host).toBe(new URL(server.url).host);
  expect(reports[0]!.durationMs).toBeGreaterThan(0);
});

test('a closed client rejects requests, aborts those in flight, and closes its connections', async () => {
  server.handle(() => client.close());
  await expect(client.get(Pod, web)).rejects.toMatchObject({ reason: 'ClientClosed' });
  await expect(client.flow('other').get(Pod, web)).rejects.toMatchObject({ reason: 'ClientClosed' });
  await expect.poll(() => server.seen[0]!.socket.destroyed).toBe(true);
});

test('warnings of the server are passed on', async () => {
  const warnings: string[] = [];
  const warned = open({ onWarning: (text) => warnings.push(text) });
  server.handle((response) => {
    response.setHeader('warning', [
      '299 - "old, use \\"new\\""',
      Buffer.from('299 - "zwei für drei"').toString('latin1'),
    ]);
    json(response, {});
  });
  await warned.get(Pod, web);
  expect(warnings).toEqual(['old, use "new"', 'zwei für drei']);
});

test('impersonation is sent with every request', async () => {
  const as = connect({
    server: server.url,
    impersonate: { user: 'jane', uid: '7', groups: ['dev', 'ops'], extra: { 'example.com/Scopes': ['view', 'edit'] } },
  });
  clients.push(as);
  await as.get(Pod, web);
  const raw = server.seen[0]!.rawHeaders;
  const values = (name: string): string[] =>
    raw.flatMap((header, index) => (index % 2 === 0 && header.toLowerCase() === name ? [raw[index + 1]!] : []));
  expect(values('impersonate-user')).toEqual(['jane']);
  expect(values('impersonate-uid')).toEqual(['7']);
  expect(values('impersonate-group')).toEqual(['dev', 'ops']);
  expect(values('impersonate-extra-example.com%2fscopes')).toEqual(['view', 'edit']);
});

test('an invalid header value is an error, not a crash', async () => {
  const bad = connect({ server: server.url, token: 'two\nlines' });
  clients.push(bad);
  await expect(bad.get(Pod, web)).rejects.toMatchObject({ code: 0, reason: 'InvalidRequest' });
});

test.each(['', 'ftp://x', 'localhost:6443'])("the server URL '%s' is rejected", (url) => {
  expect(() => connect({ server: url })).toThrow(/server must be an http or https URL/);
});
