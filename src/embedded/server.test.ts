import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { connect } from '../kube/client/connect.ts';
import { defineKind } from '../kube/objects.ts';
import { startEmbedded } from './server.ts';
import type { Embedded, EmbeddedOptions } from './server.ts';
import { testClient, textIn } from './testing/http.ts';
import type { Json, TestClient } from './testing/http.ts';

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function start(options: EmbeddedOptions = {}): Promise<{ embedded: Embedded; client: TestClient }> {
  const embedded = await startEmbedded({ simulation: false, ...options });
  const client = testClient(embedded);
  cleanups.push(() => embedded.stop());
  cleanups.push(() => client.close());
  return { embedded, client };
}

function directory(): string {
  const made = mkdtempSync(join(tmpdir(), 'embedded-server-'));
  cleanups.push(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

const ConfigMap = defineKind('v1', 'ConfigMap', 'configmaps');
const maps = '/api/v1/namespaces/default/configmaps';

test('a new cluster has the default namespaces, cluster roles and the kubernetes service', async () => {
  const { client } = await start();
  const { body } = await client.get('/api/v1/namespaces');
  const names = (body['items'] as unknown as Json[]).map((item) => textIn(item['metadata']!['name']));
  expect(names).toEqual(['default', 'kube-node-lease', 'kube-public', 'kube-system']);
  expect((await client.get('/api/v1/namespaces/default/services/kubernetes')).body['spec']!['clusterIP']).toBe(
    '10.96.0.1',
  );
  expect((await client.get('/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin')).code).toBe(200);
});

test('a running cluster removes Events an hour after they were last seen', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
  cleanups.push(() => vi.useRealTimers());
  const { client } = await start();
  const events = '/api/v1/namespaces/default/events';
  const names = async (): Promise<string[]> => {
    const items = (await client.get(events)).body['items'] as unknown as Json[];
    return items.map((item) => textIn(item['metadata']!['name']));
  };
  const report = async (name: string): Promise<void> => {
    const involvedObject = { kind: 'Pod', name: 'a', namespace: 'default' };
    expect((await client.post(events, { metadata: { name }, involvedObject })).code).toBe(201);
  };
  await report('early');
  vi.advanceTimersByTime(30 * 60_000);
  await report('late');
  expect(await names()).toEqual(['early', 'late']);
  vi.advanceTimersByTime(35 * 60_000);
  await expect.poll(names).toEqual(['late']);
});

describe('a cluster on disk', () => {
  test('keeps objects, resource versions, definitions and identity across a restart', async () => {
    const dataDir = directory();
    const first = await start({ dataDir });
    const created = await first.client.post(maps, { metadata: { name: 'kept' }, data: { a: 'b' } });
    await first.client.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', widgets);
    const big = '{"metadata":{"name":"w"},"apiVersion":"example.com/v1","kind":"Widget","count":9007199254740993}';
    expect((await first.client.post('/apis/example.com/v1/namespaces/default/widgets', big)).code).toBe(201);
    await first.embedded.stop();
    const second = await start({ dataDir });
    expect(second.embedded.caPem).toBe(first.embedded.caPem);
    expect(second.embedded.admin.token).toBe(first.embedded.admin.token);
    expect((await second.client.get(`${maps}/kept`)).body).toEqual(created.body);
    expect((await second.client.get('/apis/example.com/v1/namespaces/default/widgets/w')).text).toContain(
      '"count":9007199254740993',
    );
    const later = await second.client.post(maps, { metadata: { name: 'later' } });
    const version = (object: Json): number => Number(textIn(object['metadata']!['resourceVersion']));
    expect(version(later.body)).toBeGreaterThan(version(created.body));
    const old = await second.client.watch(`${maps}?watch=true&resourceVersion=${version(created.body)}`);
    expect((await old.rest())[0]).toMatchObject({ type: 'ERROR', object: { code: 410 } });
    expect(statSync(join(dataDir, 'ca.key')).mode & 0o777).toBe(0o600);
  });

  test('refuses a second server, and is unlocked after a failed start', async () => {
    const dataDir = directory();
    await start({ dataDir });
    await expect(startEmbedded({ dataDir, simulation: false })).rejects.toThrow(`in use by the process ${process.pid}`);
    const other = directory();
    const taken = createServer().listen(0, '127.0.0.1');
    cleanups.push(() => taken.close());
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as AddressInfo;
    await expect(startEmbedded({ dataDir: other, port, simulation: false })).rejects.toThrow(
      'is in use: choose another one',
    );
    await start({ dataDir: other });
    expect(readFileSync(join(other, 'server.pid'), 'utf8').trim()).toBe(String(process.pid));
  });

  test('starts empty with `fresh`, and resource versions keep increasing', async () => {
    const dataDir = directory();
    const first = await start({ dataDir });
    await first.client.post(maps, { metadata: { name: 'gone' } });
    const { version } = first.embedded.store;
    await first.embedded.stop();
    const second = await start({ dataDir, fresh: true });
    expect((await second.client.get(`${maps}/gone`)).code).toBe(404);
    expect(second.embedded.store.version).toBeGreaterThan(version);
  });
});

const widgets = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget', shortNames: ['w'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: { size: { type: 'integer', default: 3, minimum: 1 } } },
              count: { type: 'integer', format: 'int64' },
              status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
        subresources: { status: {} },
      },
      { name: 'v1beta1', served: true, storage: false, schema: { openAPIV3Schema: { type: 'object' } } },
    ],
  },
};

test('starting definitions exist at once; a later start updates only the `kept` ones', async () => {
  const dataDir = directory();
  const named = (plural: string, more: object = {}): Json & { metadata: { name: string } } => {
    const names = { plural, kind: plural.slice(0, -1).replace(/^./, (letter) => letter.toUpperCase()) };
    const metadata = { name: `${plural}.example.com`, ...more };
    const spec = { ...widgets.spec, names };
    return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata, spec } as never;
  };
  const labels = (value: string): object => ({ labels: { from: value } });
  const definitions =
    (value: string): EmbeddedOptions['definitions'] =>
    () => ({
      given: [named('gadgets', labels(value))],
      kept: [named('widgets', labels(value))],
      manager: 'starter',
    });
  const path = (name: string): string => `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}.example.com`;
  const first = await start({ dataDir, definitions: definitions('first') });
  for (const name of ['gadgets', 'widgets']) {
    const { code } = await first.client.get(`/apis/example.com/v1/namespaces/default/${name}`);
    expect(code).toBe(200);
    const { body } = await first.client.get(path(name));
    expect(body['metadata']).toMatchObject({ labels: { from: 'first' }, managedFields: [{ manager: 'starter' }] });
  }
  await first.embedded.stop();
  const unchanged = await start({ dataDir, definitions: definitions('first') });
  const { version } = unchanged.embedded.store;
  expect(version).toBe(first.embedded.store.version);
  await unchanged.embedded.stop();
  const second = await start({ dataDir, definitions: definitions('second') });
  expect((await second.client.get(path('gadgets'))).body['metadata']!['labels']).toEqual({ from: 'first' });
  expect((await second.client.get(path('widgets'))).body['metadata']!['labels']).toEqual({ from: 'second' });
});

test('a client in the same process needs a token, but no network', async () => {
  const { embedded, client } = await start();
  const url = 'https://nowhere.invalid';
  const local = connect({ server: url, token: embedded.admin.token }, { local: embedded.answer });
  cleanups.push(() => local.close());
  const seen: string[] = [];
  const watching = local.watch(ConfigMap, { namespace: 'default', resourceVersion: '0' }, ({ object }) => {
    seen.push((object.metadata as { name?: string }).name ?? '');
  });
  const text = 'x'.repeat(300_000);
  const metadata = { name: 'large', namespace: 'default' };
  await local.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text } });
  expect((await client.get(`${maps}/large`)).body['data']).toEqual({ text });
  const { items } = await local.list(ConfigMap, { namespace: 'default' });
  expect(items).toMatchObject([{ data: { text } }]);
  await expect.poll(() => seen).toContain('large');
  const { watches } = embedded.cluster;
  const leaving = new AbortController();
  const left = local.watch(
    ConfigMap,
    { signal: leaving.signal, onOpen: () => leaving.abort(new Error('enough')) },
    () => undefined,
  );
  await expect(left).rejects.toThrow('enough');
  await expect.poll(() => watches.size).toBe(1);
  const stranger = connect({ server: url }, { local: embedded.answer });
  cleanups.push(() => stranger.close());
  await expect(stranger.list(ConfigMap)).rejects.toMatchObject({ code: 401 });
  await embedded.stop();
  // The watch may end cleanly or with a lost connection, but it must end.
  await watching.catch(() => undefined);
  expect(watches.size).toBe(0);
  await expect(local.list(ConfigMap)).rejects.toThrow('the server has stopped');
});

describe('custom resources', () => {
  test('are served at once, in every version, with defaults, pruning and validation', async () => {
    const { client } = await start();
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const made = await client.post(definitions, widgets);
    expect(made.body['status']!['conditions']).toMatchObject([
      { type: 'NamesAccepted', status: 'True' },
      { type: 'Established', status: 'True' },
    ]);
    const path = '/apis/example.com/v1/namespaces/default/widgets';
    const { body } = await client.post(path, { metadata: { name: 'a' }, spec: { other: 1 }, status: { x: 1 } });
    expect(body['spec']).toEqual({ size: 3 });
    expect(body['status']).toBeUndefined();
    expect((await client.get(path.replace('v1/', 'v1beta1/') + '/a')).body['apiVersion']).toBe('example.com/v1beta1');
    const wrong = await client.post(path, { metadata: { name: 'b' }, spec: { size: 0 } });
    expect(wrong.body['message']).toBe(
      'Widget.example.com "b" is invalid: spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1',
    );
    const groups = await client.get('/apis/example.com');
    expect(groups.body['preferredVersion']).toEqual({ groupVersion: 'example.com/v1', version: 'v1' });
    const strategic = { type: 'application/strategic-merge-patch+json' };
    expect((await client.call('PATCH', `${path}/a`, {}, strategic)).code).toBe(415);
    const put = await client.call('PUT', `${path}/a`, { metadata: { name: 'a' } });
    expect(put.body['message']).toContain(
      'metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    );
  });

  test('are served until the definition and all objects are deleted', async () => {
    const { client, embedded } = await start();
    const definition = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    await client.post(definition, widgets);
    const path = '/apis/example.com/v1/namespaces/default/widgets';
    const finalizers = ['example.com/hold'];
    const { body } = await client.post(path, { metadata: { name: 'held', finalizers } });
    await client.post(path, { metadata: { name: 'free' } });
    expect((await client.call('DELETE', `${definition}/widgets.example.com`)).code).toBe(200);
    await expect.poll(() => embedded.store.count('widgets.example.com')).toBe(1);
    expect((await client.get(`${definition}/widgets.example.com`)).code).toBe(200);
    expect((await client.post(path, { metadata: { name: 'late' } })).body['message']).toContain('is terminating');
    const held = await client.get(`${path}/held`);
    expect(held.body['metadata']!['uid']).toBe(body['metadata']!['uid']);
    await client.call(
      'PATCH',
      `${path}/held`,
      { metadata: { finalizers: null } },
      { type: 'application/merge-patch+json' },
    );
    await expect.poll(async () => (await client.get(`${definition}/widgets.example.com`)).code).toBe(404);
    expect((await client.get(path)).body['message']).toBe('the server could not find the requested resource');
  });
});

test('discovery is unaggregated or aggregated, in the version that the client accepts', async () => {
  const { client } = await start();
  const form = (version: string): string =>
    `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
  for (const version of ['v2', 'v2beta1']) {
    const reply = await client.get('/apis', { headers: { accept: `${form(version)},application/json` } });
    expect(reply.headers['content-type']).toBe(form(version));
    expect(reply.body['apiVersion']).toBe(`apidiscovery.k8s.io/${version}`);
  }
  expect((await client.get('/apis')).body['kind']).toBe('APIGroupList');
  const { body } = await client.get('/apis/apps/v1');
  expect(body['resources']).toContainEqual(
    expect.objectContaining({ name: 'deployments/scale', kind: 'Scale', group: 'autoscaling', version: 'v1' }),
  );
  const documents = await client.get('/openapi/v3');
  const url = textIn(documents.body['paths']!['apis/apps/v1']!['serverRelativeURL']);
  expect((await client.get(url)).body['openapi']).toBe('3.0.0');
});
