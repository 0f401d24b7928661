import { connect } from 'node:tls';
import { beforeEach, describe, expect, test } from 'vitest';
import { textIn } from '../testing/http.ts';
import { serveForTests } from '../testing/serve.ts';
import { isCompressed } from './wire/answer.ts';
import type { Json, Reply } from '../testing/http.ts';

let namespace = '';
let maps = '';
let rounds = 0;

const { embedded, client } = await serveForTests();

beforeEach(async () => {
  namespace = `round-${rounds++}`;
  maps = `/api/v1/namespaces/${namespace}/configmaps`;
  await client.post('/api/v1/namespaces', { metadata: { name: namespace } });
});

async function put(name: string, labels: Record<string, string> = {}): Promise<Json> {
  const { code, body } = await client.post(maps, { metadata: { name, labels } });
  expect(code).toBe(201);
  return body;
}

function relabel(name: string, labels: Record<string, string | null>): Promise<Reply> {
  return client.call('PATCH', `${maps}/${name}`, { metadata: { labels } }, { type: 'application/merge-patch+json' });
}

function names(reply: Reply): string[] {
  return (reply.body['items'] as unknown as Json[]).map((item) => textIn(item['metadata']!['name']));
}

function versionOf(object: Json): string {
  return textIn(object['metadata']!['resourceVersion']);
}

describe('list', () => {
  test('continues a paged list at the resource version of its first page', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await put(name);
    const first = await client.get(`${maps}?limit=2`);
    expect(names(first)).toEqual(['a', 'b']);
    expect(first.body['metadata']).toMatchObject({ remainingItemCount: 3 });
    await client.call('DELETE', `${maps}/c`);
    await put('bb');
    const token = encodeURIComponent(textIn(first.body['metadata']!['continue']));
    const second = await client.get(`${maps}?limit=10&continue=${token}`);
    expect(names(second)).toEqual(['c', 'd', 'e']);
    expect(versionOf(second.body)).toBe(versionOf(first.body));
    expect(names(await client.get(maps))).toEqual(['a', 'b', 'bb', 'd', 'e']);
  });

  test('refuses continue tokens that are invalid or expired', async () => {
    for (const name of ['a', 'b', 'c']) await put(name);
    const { body } = await client.get(`${maps}?limit=1`);
    await put('d');
    embedded.store.compact();
    const old = await client.get(`${maps}?continue=${textIn(body['metadata']!['continue'])}`);
    expect([old.code, old.body['reason']]).toEqual([410, 'Expired']);
    const goOn = await client.get(`${maps}?continue=${textIn(old.body['metadata']!['continue'])}`);
    expect(names(goOn)).toEqual(['b', 'c', 'd']);
    expect((await client.get(`${maps}?continue=rubbish`)).code).toBe(400);
  });

  test('selects by labels and fields', async () => {
    await put('a', { app: 'web', tier: 'front' });
    await put('b', { app: 'web' });
    await put('c');
    const select = async (query: string): Promise<string[]> => names(await client.get(`${maps}?${query}`));
    expect(await select('labelSelector=app%3Dweb')).toEqual(['a', 'b']);
    expect(await select('labelSelector=app,!tier')).toEqual(['b']);
    expect(await select('labelSelector=tier%20notin%20(front)')).toEqual(['b', 'c']);
    expect(await select('fieldSelector=metadata.name%3Dc')).toEqual(['c']);
    expect(await select('fieldSelector=metadata.name!%3Dc')).toEqual(['a', 'b']);
    const unknown = await client.get(`${maps}?fieldSelector=data.x%3D1`);
    expect([unknown.code, unknown.body['message']]).toEqual([
      400,
      '"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ]);
    expect((await client.get(`${maps}?labelSelector=a%3D%3D%3Db`)).code).toBe(400);
  });

  test('returns a past resource version on request', async () => {
    const a = await put('a');
    await put('b');
    const exact = await client.get(`${maps}?resourceVersion=${versionOf(a)}&resourceVersionMatch=Exact`);
    expect(names(exact)).toEqual(['a']);
    expect(
      names(await client.get(`${maps}?resourceVersion=${versionOf(a)}&resourceVersionMatch=NotOlderThan`)),
    ).toHaveLength(2);
    const future = await client.get(`${maps}?resourceVersion=99999999`);
    expect([future.code, future.body['reason']]).toEqual([504, 'Timeout']);
    expect((await client.get(`${maps}?resourceVersionMatch=Exact`)).code).toBe(422);
  });

  test('omits apiVersion and kind of built-in items', async () => {
    await put('a');
    const { body } = await client.get(maps);
    expect(body).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMapList' });
    expect(Object.keys((body['items'] as unknown as Json[])[0]!)).toEqual(['metadata']);
  });

  test('compresses a large response for a remote client that accepts gzip', async () => {
    const data = { text: 'same '.repeat(40_000) };
    await client.post(maps, { metadata: { name: 'large' }, data });
    const local = await client.get(maps, { headers: { 'accept-encoding': 'gzip' } });
    expect(local.headers['content-encoding']).toBeUndefined();
    expect(local.body['items']).toMatchObject([{ data }]);
    const large = Buffer.byteLength(local.text);
    expect(isCompressed('gzip, deflate', '192.0.2.1', large)).toBe(true);
    expect(isCompressed('gzip', '2001:db8::1', large)).toBe(true);
    expect(isCompressed('gzip', '192.0.2.1', 1_000)).toBe(false);
    expect(isCompressed(undefined, '192.0.2.1', large)).toBe(false);
    for (const here of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) expect(isCompressed('gzip', here, large)).toBe(false);
  });

  test('returns tables and PartialObjectMetadata on request', async () => {
    await put('a');
    const table = await client.get(maps, {
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' },
    });
    const columns = table.body['columnDefinitions'] as unknown as Json[];
    expect(columns.map((column) => textIn(column['name']))).toEqual(['Name', 'Data', 'Age']);
    const [row] = table.body['rows'] as unknown as Json[];
    expect(row).toMatchObject({ object: { kind: 'PartialObjectMetadata', metadata: { name: 'a' } } });
    const partial = await client.get(maps, {
      headers: { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' },
    });
    expect(partial.body['kind']).toBe('PartialObjectMetadataList');
    expect((await client.get(maps, { headers: { accept: 'text/html' } })).code).toBe(406);
  });
});

describe('watch', () => {
  test('replays the events after a resource version, then continues with new ones', async () => {
    const a = await put('a');
    await put('b');
    await relabel('a', { x: 'y' });
    const watch = await client.watch(`${maps}?watch=true&resourceVersion=${versionOf(a)}`);
    expect(await watch.summary(2)).toEqual(['ADDED b', 'MODIFIED a']);
    await client.call('DELETE', `${maps}/a`);
    expect(await watch.summary(1)).toEqual(['DELETED a']);
    watch.close();
  });

  test('without a resource version starts with all existing objects', async () => {
    await put('a');
    for (const query of ['', '&resourceVersion=0']) {
      const watch = await client.watch(`${maps}?watch=true${query}`);
      expect(await watch.summary(1)).toEqual(['ADDED a']);
      watch.close();
    }
  });

  test('marks the end of the initial events with a bookmark', async () => {
    await put('a');
    const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const watch = await client.watch(`${maps}?${query}`);
    const [added, mark] = await watch.take(2);
    expect(added?.type).toBe('ADDED');
    expect(mark).toMatchObject({
      type: 'BOOKMARK',
      object: { kind: 'ConfigMap', metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
    });
    await put('b');
    expect(await watch.summary(1)).toEqual(['ADDED b']);
    watch.close();
    expect((await client.get(`${maps}?watch=true&sendInitialEvents=true`)).code).toBe(422);
  });

  test('sends ADDED and DELETED when an object starts or stops matching the selector', async () => {
    const start = versionOf(await put('a'));
    const watch = await client.watch(`${maps}?watch=true&resourceVersion=${start}&labelSelector=in%3Dyes`);
    await relabel('a', { in: 'yes' });
    await relabel('a', { in: 'yes', other: 'x' });
    const { body } = await relabel('a', { in: 'no' });
    await relabel('a', { in: 'yes' });
    await client.call('DELETE', `${maps}/a`);
    const events = await watch.take(5);
    expect(events.map(({ type }) => type)).toEqual(['ADDED', 'MODIFIED', 'DELETED', 'ADDED', 'DELETED']);
    expect(versionOf(events[2]!.object)).toBe(versionOf(body));
    expect(events[2]!.object['metadata']!['labels']).toEqual({ in: 'yes', other: 'x' });
    watch.close();
  });

  test('ends with 410 Expired when the history is compacted', async () => {
    const a = await put('a');
    await put('b');
    embedded.store.compact();
    const watch = await client.watch(`${maps}?watch=true&resourceVersion=${versionOf(a)}`);
    const [line, ...more] = await watch.rest();
    expect(line).toMatchObject({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } });
    expect(more).toEqual([]);
  });

  test('ends with a bookmark after timeoutSeconds', async () => {
    const a = await put('a');
    const watch = await client.watch(
      `${maps}?watch=true&resourceVersion=${versionOf(a)}&timeoutSeconds=1&allowWatchBookmarks=true`,
    );
    const lines = await watch.rest();
    expect(lines.map(({ type }) => type)).toEqual(['BOOKMARK']);
    expect(Number(versionOf(lines[0]!.object))).toBeGreaterThanOrEqual(Number(versionOf(a)));
  });

  test('of custom resources ends when their definition changes or is deleted', async () => {
    const group = `${namespace}.example.com`;
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const definition = `${definitions}/widgets.${group}`;
    const widgets = `/apis/${group}/v1/namespaces/${namespace}/widgets`;
    const schema = { openAPIV3Schema: { type: 'object' } };
    await client.post(definitions, {
      metadata: { name: `widgets.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    });
    await client.post(widgets, { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'w' } });
    const first = await client.watch(`${widgets}?watch=true`);
    expect(await first.summary(1)).toEqual(['ADDED w']);
    // A change of the definition's metadata does not end the watch.
    const merge = { type: 'application/merge-patch+json' };
    await client.call('PATCH', definition, { metadata: { labels: { a: 'b' } } }, merge);
    await client.call('PATCH', `${widgets}/w`, { metadata: { labels: { a: 'b' } } }, merge);
    expect(await first.summary(1)).toEqual(['MODIFIED w']);
    await client.call('PATCH', definition, { spec: { names: { shortNames: ['wd'] } } }, merge);
    expect(await first.rest()).toEqual([]);
    const second = await client.watch(`${widgets}?watch=true`);
    await client.call('DELETE', definition);
    expect((await second.rest()).map(({ type }) => type)).toEqual(['ADDED', 'DELETED']);
    expect((await client.get(widgets)).code).toBe(404);
  });

  test('sends tables on request', async () => {
    await put('a');
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const watch = await client.watch(`${maps}?watch=true`, { headers: { accept } });
    const [first] = await watch.take(1);
    await put('b');
    const [second] = await watch.take(1);
    expect(first!.object).toMatchObject({ kind: 'Table', rows: [{ object: { metadata: { name: 'a' } } }] });
    expect(first!.object['columnDefinitions']).toHaveLength(3);
    expect(second!.object['columnDefinitions']).toBeNull();
    watch.close();
  });

  test('closes the connection of a client that does not read, without affecting others', async () => {
    const big = 'x'.repeat(100_000);
    await client.post(maps, { metadata: { name: 'big' }, data: { big } });
    const { port } = new URL(embedded.url);
    const stalled = connect({ host: '127.0.0.1', port: Number(port), ca: embedded.caPem, servername: 'localhost' });
    await new Promise<void>((resolve) => {
      stalled.once('secureConnect', () => resolve());
    });
    const closed = new Promise<void>((resolve) => {
      stalled.on('close', () => resolve()).on('error', () => undefined);
    });
    stalled.pause();
    stalled.write(
      `GET ${maps}?watch=true HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${embedded.admin.token}\r\n\r\n`,
    );
    await expect.poll(() => embedded.cluster.watches.size).toBe(1);
    const reader = await client.watch(`${maps}?watch=true&labelSelector=round`);
    for (let index = 0; embedded.cluster.watches.size === 2; index++) {
      expect(index).toBeLessThan(1_000);
      const stored = embedded.store.get('configmaps', `${namespace}/big`)!;
      const next = { ...stored.object, data: { big, index: String(index) } };
      await embedded.store.write({ collection: 'configmaps', key: stored.key, expect: stored.version, next });
      if (index % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await relabel('big', { round: 'x' })).code).toBe(200);
    expect(await reader.summary(1)).toEqual(['ADDED big']);
    reader.close();
    stalled.resume();
    await closed;
  });
});
