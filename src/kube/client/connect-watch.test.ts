import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Client, WatchEvent, WatchOptions } from './client.ts';
import { connect } from './connect.ts';
import type { ConnectOptions } from './connect.ts';
import { isExpired } from '../errors.ts';
import { defineKind } from '../objects.ts';
import type { AnyObject } from '../objects.ts';
import { json, refuse, startServer } from '../testing/http-server.ts';
import type { TestServer } from '../testing/http-server.ts';

const Pod = defineKind('v1', 'Pod', 'pods');

let server: TestServer;
let client: Client;
const clients: Client[] = [];

function open(options: ConnectOptions = {}): Client {
  const made = connect({ server: server.url }, options);
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

function pod(name: string): AnyObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'shop', resourceVersion: '1' } };
}

function line(type: string, object: unknown): string {
  return `${JSON.stringify({ type, object })}\n`;
}

/** Writes pieces in turn, each after the one before was sent. */
function stream(response: ServerResponse, pieces: readonly (string | Buffer)[], last?: () => void): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'application/json' });
  const [first, ...others] = pieces;
  if (first === undefined) (last ?? (() => response.end()))();
  else response.write(first, () => setImmediate(() => stream(response, others, last)));
}

/** Watches to the end and returns the events. */
async function watched(options: WatchOptions = {}): Promise<WatchEvent<AnyObject>[]> {
  const events: WatchEvent<AnyObject>[] = [];
  await client.watch(Pod, options, (event) => events.push(event));
  return events;
}

test('events and bookmarks arrive in order, and a normal close resolves', async () => {
  const bookmark = { kind: 'Pod', metadata: { resourceVersion: '9' } };
  server.handle((response) => {
    stream(response, [
      line('ADDED', pod('a')) + line('MODIFIED', pod('a')),
      line('BOOKMARK', bookmark) + line('DELETED', pod('a')),
    ]);
  });
  const events = await watched();
  expect(events.map(({ type }) => type)).toEqual(['ADDED', 'MODIFIED', 'BOOKMARK', 'DELETED']);
  expect(events[0]!.object).toEqual(pod('a'));
  expect(events[2]!.object).toEqual(bookmark);
});

test.each([
  ['empty lines', line('ADDED', pod('a')) + '\n\n' + line('ADDED', pod('b')), /^nothing$/],
  [
    'what is not JSON',
    line('ADDED', pod('a')) + line('ADDED', pod('b')) + '{"type"\n' + line('ADDED', pod('c')),
    /not JSON/,
  ],
  [
    'halves of an event',
    line('ADDED', pod('a')) + line('ADDED', pod('b')) + '{"type":"ADDED"\n"object":{}}\n',
    /not JSON/,
  ],
  [
    'an unknown type',
    line('ADDED', pod('a')) + line('ADDED', pod('b')) + line('X', {}) + line('ADDED', {}),
    /type 'X'/,
  ],
])('the lines before %s in the same chunk are delivered', async (_what, text, error) => {
  server.handle((response) => stream(response, [text]));
  for (const omitForeignManagedFields of [true, false]) {
    const names: string[] = [];
    const watch = client.watch(Pod, { omitForeignManagedFields }, ({ object }) =>
      names.push((object as AnyObject).metadata.name),
    );
    const said = await watch.then(
      () => 'nothing',
      (reason: unknown) => (reason as Error).message,
    );
    expect(said).toMatch(error);
    expect(names).toEqual(['a', 'b']);
  }
});

test('events in the same chunk all lose the managed fields of others', async () => {
  const managed = (name: string, ...managers: readonly string[]): AnyObject => {
    const managedFields = managers.map((manager) => ({ manager, fieldsV1: { 'f:data': { 'k:{"a":"b"}': {} } } }));
    const made = pod(name);
    return { ...made, metadata: { ...made.metadata, ...(managers.length > 0 && { managedFields }) } };
  };
  const sent = [managed('a', 'kubelet'), managed('b', 'kubelet', 'offshoot-x'), managed('c'), managed('d', 'x', 'y')];
  server.handle((response) => stream(response, [sent.map((object) => line('ADDED', object)).join('')]));
  const events = await watched({ omitForeignManagedFields: true });
  expect(events.map(({ object }) => object)).toEqual([pod('a'), sent[1], pod('c'), pod('d')]);
  expect((await watched()).map(({ object }) => object)).toEqual(sent);
});

test('the query has the selection, and always requests bookmarks', async () => {
  server.handle((response) => stream(response, []));
  await watched({
    namespace: 'shop',
    labelSelector: 'a=b',
    fieldSelector: 'metadata.name=x',
    resourceVersion: '5',
    timeoutSeconds: 300,
  });
  await watched({ sendInitialEvents: true });
  expect(server.seen.map(({ url }) => url)).toEqual([
    '/api/v1/namespaces/shop/pods?watch=true&allowWatchBookmarks=true&labelSelector=a%3Db&fieldSelector=metadata.name%3Dx&resourceVersion=5&timeoutSeconds=300',
    '/api/v1/pods?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan',
  ]);
});

test('an event may be cut inside a character, and may be megabytes', async () => {
  const odd = { ...pod('a'), text: 'grün ☃ 🦊' };
  const large = { ...pod('b'), text: 'é'.repeat(2_000_000) };
  const bytes = Buffer.from(line('ADDED', odd));
  const cut = bytes.indexOf(0xf0) + 2;
  server.handle((response) => stream(response, [bytes.subarray(0, cut), bytes.subarray(cut), line('ADDED', large)]));
  const events = await watched();
  expect(events[0]!.object).toEqual(odd);
  expect((events[1]!.object as AnyObject)['text']).toBe(large.text);
});

test('64-bit integers in events keep their digits', async () => {
  server.handle((response) => stream(response, ['{"type":"ADDED","object":{"big":18446744073709551615}}\n']));
  expect(await watched()).toEqual([{ type: 'ADDED', object: { big: 18446744073709551615n } }]);
});

test('410 Gone gives the same error as an answer and inside the stream', async () => {
  const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
  server.handle((response) =>
    stream(response, [line('ADDED', pod('a')) + line('ERROR', status) + line('ADDED', pod('b'))]),
  );
  const events: unknown[] = [];
  const inside: unknown = await client.watch(Pod, {}, (event) => events.push(event)).catch((error: unknown) => error);
  expect(isExpired(inside)).toBe(true);
  expect((inside as Error).message).toContain('410 Expired: too old resource version');
  expect(events.length).toBe(1);
  let opened = false;
  server.handle((response) => refuse(response, 410, 'Expired'));
  await expect(client.watch(Pod, { onOpen: () => (opened = true) }, () => undefined)).rejects.toSatisfy(isExpired);
  expect(opened).toBe(false);
});

test('the error of a throttled watch says how long to wait', async () => {
  server.handle((response) => refuse(response, 429, 'TooManyRequests', { 'retry-after': '3' }));
  await expect(watched()).rejects.toMatchObject({ code: 429, retryAfterMs: 3000 });
});

test('a connection lost inside an event is an error', async () => {
  const half = line('ADDED', pod('b')).slice(0, 20);
  server.handle((response, { socket }) => stream(response, [line('ADDED', pod('a')), half], () => socket.destroy()));
  await expect(watched()).rejects.toMatchObject({ code: 0, reason: 'ConnectionLost' });
});

test('a stream that ends inside an event is an error', async () => {
  server.handle((response) => stream(response, [line('ADDED', pod('a')).trimEnd()]));
  await expect(watched()).rejects.toThrow(/cut inside an event/);
});

test('a connection lost between events is an error too', async () => {
  server.handle((response, { socket }) => stream(response, [line('ADDED', pod('a'))], () => socket.destroy()));
  await expect(watched()).rejects.toMatchObject({ code: 0, reason: 'ConnectionLost' });
});

test.each([
  ['not json\n', /not JSON/],
  ['null\n', /unknown type/],
  [line('RENAMED', pod('a')), /unknown type 'RENAMED'/],
])('%j in the stream is an error', async (text, message) => {
  server.handle((response) => stream(response, [text]));
  await expect(watched()).rejects.toThrow(message);
});

test('a watch without any bytes for the idle time is ended, and bytes keep it alive', async () => {
  server.handle((response) => {
    let left = 6;
    response.writeHead(200);
    const timer = setInterval(() => {
      response.write(line('BOOKMARK', { metadata: { resourceVersion: String(left) } }));
      if (--left === 0) clearInterval(timer);
    }, 300);
  });
  let count = 0;
  const watch = client.watch(Pod, { idleMs: 1_500 }, () => count++);
  await expect(watch).rejects.toMatchObject({
    code: 0,
    reason: 'Timeout',
    message: expect.stringContaining('silent for 1500 ms'),
  });
  expect(count).toBe(6);
});

test('the idle time also ends a watch that the server never answers', async () => {
  server.handle(() => undefined);
  await expect(watched({ idleMs: 30 })).rejects.toMatchObject({ reason: 'Timeout' });
});

test('an abort ends the watch with its reason, and no event follows', async () => {
  const controller = new AbortController();
  const reason = new Error('enough');
  server.handle((response) => stream(response, [line('ADDED', pod('a')) + line('ADDED', pod('b'))], () => undefined));
  const names: string[] = [];
  const watch = client.watch(Pod, { signal: controller.signal }, (event) => {
    names.push((event.object as AnyObject).metadata.name);
    controller.abort(reason);
  });
  await expect(watch).rejects.toBe(reason);
  expect(names).toEqual(['a']);
  await expect.poll(() => server.seen[0]!.socket.destroyed).toBe(true);
});

test('a handler that throws ends the watch with its error', async () => {
  server.handle((response) => stream(response, [line('ADDED', pod('a')) + line('ADDED', pod('b'))], () => undefined));
  let calls = 0;
  const watch = client.watch(Pod, {}, () => {
    calls++;
    throw new Error('handler');
  });
  await expect(watch).rejects.toThrow('handler');
  expect(calls).toBe(1);
});

test('an onOpen that throws ends the watch and its connection', async () => {
  server.handle((response) => stream(response, [line('ADDED', pod('a'))], () => undefined));
  const onOpen = (): void => {
    throw new Error('not now');
  };
  await expect(client.watch(Pod, { onOpen }, () => undefined)).rejects.toThrow('not now');
  await expect.poll(() => server.seen[0]!.socket.destroyed).toBe(true);
});

test('a connection is reused after a watch that closed normally', async () => {
  server.handle((response) => stream(response, [line('ADDED', pod('a'))]));
  await watched();
  await watched();
  expect(server.seen.map(({ connection }) => connection)).toEqual([1, 1]);
});

test('a connection with unexpected bytes is not reused', async () => {
  server.handle((response) => stream(response, [line('ADDED', pod('a'))]));
  expect((await watched()).length).toBe(1);
  const { socket } = server.seen[0]!;
  socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n');
  await expect.poll(() => socket.destroyed).toBe(true);
  expect((await watched()).length).toBe(1);
  expect(server.seen.map(({ connection }) => connection)).toEqual([1, 2]);
});

test('a watch does not count as a request in flight, and has no deadline', async () => {
  const limited = open({ maxInFlight: 1, timeoutMs: 40 });
  const started = performance.now();
  let watching: ServerResponse | undefined;
  server.handle((response, { url }) => {
    if (!url.includes('watch')) return json(response, pod('a'));
    watching = response;
    response.writeHead(200).flushHeaders();
  });
  const order: string[] = [];
  const watch = limited.watch(Pod, { onOpen: () => order.push('open') }, (event) => order.push(event.type));
  await expect.poll(() => order).toEqual(['open']);
  await limited.get(Pod, { namespace: 'shop', name: 'a' }, { timeoutMs: 30_000 });
  await expect.poll(() => performance.now() - started).toBeGreaterThan(80);
  watching!.end(line('ADDED', pod('a')));
  await watch;
  expect(order).toEqual(['open', 'ADDED']);
});

test('closing the client ends its watches', async () => {
  server.handle((response) => response.writeHead(200).flushHeaders());
  const watch = client.watch(Pod, { onOpen: () => client.close() }, () => undefined);
  await expect(watch).rejects.toMatchObject({ reason: 'ClientClosed' });
});
