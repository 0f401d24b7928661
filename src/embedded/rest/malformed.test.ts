import { connect } from 'node:tls';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEmbedded } from '../server.ts';
import type { Embedded } from '../server.ts';
import { testClient } from '../testing/http.ts';
import type { Reply, TestClient } from '../testing/http.ts';

let embedded: Embedded;
let client: TestClient;
const errors: unknown[] = [];
const maps = '/api/v1/namespaces/default/configmaps';

beforeAll(async () => {
  embedded = await startEmbedded({ simulation: false, onError: (error) => errors.push(error) });
  client = testClient(embedded);
  await client.post(maps, { metadata: { name: 'here' }, data: { a: 'b' } });
});

afterAll(async () => {
  client.close();
  await embedded.stop();
});

function expectRefusal(reply: Reply): void {
  expect(reply.code).toBeGreaterThanOrEqual(400);
  expect(reply.code).not.toBe(500);
  expect(reply.body).toMatchObject({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: reply.code });
  expect(reply.body['message']).not.toBe('');
}

const mediaTypes = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'text/plain',
  '',
];

const brokenBody = fc.oneof(
  fc.string().map((text) => `{"metadata":${text}`),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.concat([Buffer.from('k8s\0'), bytes])),
  fc.integer({ min: 501, max: 100_000 }).map((depth) => '['.repeat(depth)),
  fc.constantFrom(
    '',
    'null',
    '[]',
    '1',
    '"x"',
    '{"metadata":[]}',
    '{"metadata":{"name":1}}',
    '{"kind":"Pod"}',
    '&a [*a]',
  ),
  fc.constantFrom(
    '{"metadata":{"labels":{"a":1}}}',
    '{"apiVersion":"v2","metadata":{"name":"x"}}',
    'a: b: c',
    '{"data":{"a":1}}',
  ),
);

test('broken bodies are refused with a Status and change nothing', async () => {
  const before = embedded.store.version;
  const method = fc.constantFrom('POST', 'PUT', 'PATCH');
  await fc.assert(
    fc.asyncProperty(method, fc.constantFrom(...mediaTypes), brokenBody, async (verb, type, body) => {
      const path = verb === 'POST' ? maps : `${maps}/here`;
      const reply = await client.call(verb, `${path}?fieldValidation=Strict&fieldManager=x`, body, { type });
      // An empty patch is valid and changes nothing.
      if (reply.code !== 200) expectRefusal(reply);
    }),
    { numRuns: 300 },
  );
  expect(embedded.store.version).toBe(before);
  expect(errors).toEqual([]);
});

test('unusual paths, methods and queries never cause an internal error', async () => {
  const segment = fc.constantFrom(
    'api',
    'apis',
    'v1',
    'apps',
    'namespaces',
    'default',
    'pods',
    'x',
    '',
    '..',
    '%00',
    '%zz',
    'status',
    'é',
  );
  const path = fc
    .array(segment, { maxLength: 9 })
    .map((parts) => `/${parts.map((part) => part.replace('é', '%C3%A9')).join('/')}`);
  const query = fc.constantFrom(
    '',
    '?watch=maybe',
    '?limit=-1',
    '?limit=x',
    '?continue=%00',
    '?resourceVersion=abc',
    '?labelSelector=%3D',
    '?fieldSelector=a',
  );
  const method = fc.constantFrom('GET', 'HEAD', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE', 'PUT');
  await fc.assert(
    fc.asyncProperty(method, path, query, async (verb, at, options) => {
      const reply = await client.call(verb, at + options);
      expect(reply.code).not.toBe(500);
      if (reply.code >= 400 && verb !== 'HEAD') expectRefusal(reply);
    }),
    { numRuns: 300 },
  );
  expect(errors).toEqual([]);
});

test('bodies that are too large or nested too deeply are refused', async () => {
  const large = await client.post(maps, { metadata: { name: 'large' }, data: { a: 'x'.repeat(4 << 20) } });
  expect([large.code, large.body['reason']]).toEqual([413, 'RequestEntityTooLarge']);
  const object = await client.post(maps, { metadata: { name: 'large' }, data: { a: 'x'.repeat(2 << 20) } });
  expect(object.code).toBeGreaterThanOrEqual(400);
  const deep = await client.post(maps, `{"metadata":{"name":"deep"},"data":${'['.repeat(2_000)}${']'.repeat(2_000)}}`);
  expect(deep.body['message']).toContain('nested too deeply');
  expect((await client.get(`${maps}/large`)).code).toBe(404);
});

test('labels and annotations may be named like members of Object.prototype', async () => {
  const metadata = { name: 'odd', labels: { toString: 'x' }, annotations: { constructor: 'y' } };
  const reply = await client.post(maps, { metadata });
  expect(reply.body['metadata']).toMatchObject({ labels: { toString: 'x' }, annotations: { constructor: 'y' } });
  expect((await client.get(`${maps}?labelSelector=toString%3Dx`)).body['items']).toHaveLength(1);
  expect((await client.get(`${maps}?labelSelector=valueOf`)).body['items']).toHaveLength(0);
});

test('invalid HTTP and overlong headers are answered with a Status', async () => {
  const { port } = new URL(embedded.url);
  const speak = (text: string): Promise<string> => {
    const socket = connect({ host: '127.0.0.1', port: Number(port), ca: embedded.caPem, servername: 'localhost' });
    let heard = '';
    socket.on('data', (chunk: Buffer) => {
      heard += chunk.toString();
    });
    socket.on('error', () => undefined).write(text);
    return new Promise((resolve) => {
      socket.on('close', () => resolve(heard));
    });
  };
  expect(await speak('rubbish\r\n\r\n')).toMatch(/^HTTP\/1.1 400 .*"kind":"Status"/s);
  expect(await speak(`GET /${'x'.repeat(20_000)} HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1.1 431 .*"kind":"Status"/s);
});
