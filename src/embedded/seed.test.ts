import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { istioDefinitions } from './crd/index.ts';
import { loadSeed, takeSeed } from './seed.ts';
import { startEmbedded } from './server.ts';
import type { Embedded } from './server.ts';
import { Store } from './store/store.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const [given, kept] = Object.values(istioDefinitions()) as unknown as { metadata: { name: string } }[];
const definitions = () => ({ given: [given!], kept: [kept!], manager: 'starter' });

async function start(seed?: string): Promise<Embedded> {
  const cluster = await startEmbedded({ definitions, seed });
  cleanups.push(() => cluster.stop());
  await cluster.simulation!.idle();
  return cluster;
}

/** All objects of the seed's kinds, without the values that differ in every cluster. */
function contentOf({ store }: Pick<Embedded, 'store'>): unknown {
  const differing = /"(uid|resourceVersion)":"[^"]*"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;
  return JSON.parse(takeSeed(store).replaceAll(differing, (_all, field: string) => (field ? `"${field}":""` : '')));
}

test('a cluster loaded from a seed has the same objects as one that created them, with its own UIDs', async () => {
  const first = await start();
  const second = await start(takeSeed(first.store));
  expect(contentOf(second)).toEqual(contentOf(first));
  for (const name of ['default', 'kube-system']) {
    const [one, other] = [first, second].map(({ store }) => store.get('namespaces', name)!.object.metadata);
    expect(other!.uid).toMatch(/^[\da-f-]{36}$/);
    expect(other!.uid).not.toBe(one!.uid);
    expect(second.store.get('serviceaccounts', `${name}/default`)).toBeDefined();
    expect(second.store.get('configmaps', `${name}/kube-root-ca.crt`)!.object['data']).toEqual({
      'ca.crt': second.caPem,
    });
  }
  expect(second.cluster.registry.find('networking.istio.io', 'v1', 'virtualservices')).toBeDefined();
});

test('clusters with the same objects have the same seed, whenever it is taken', async () => {
  const first = await start();
  const taken = takeSeed(first.store);
  expect(takeSeed((await start()).store)).toBe(taken);
  expect(taken).not.toContain(String(first.store.get('namespaces', 'default')!.object.metadata.creationTimestamp));
});

test('loading a seed sets its timestamps to the current time', async () => {
  const seed = '{"namespaces":[{"key":"a","object":{"metadata":{"creationTimestamp":"2020-01-01T00:00:00Z"}}}]}';
  const store = new Store();
  await loadSeed(store, seed);
  const { creationTimestamp } = store.get('namespaces', 'a')!.object.metadata;
  expect(Math.abs(Date.parse(String(creationTimestamp)) - Date.now())).toBeLessThan(60_000);
});

test('an existing cluster ignores the seed, keeps its objects and applies the definitions', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'embedded-seed-'));
  cleanups.push(() => rmSync(dataDir, { recursive: true, force: true }));
  const old = await startEmbedded({ dataDir });
  const { uid } = old.store.get('namespaces', 'default')!.object.metadata;
  await old.stop();
  const cluster = await startEmbedded({ dataDir, definitions, seed: takeSeed((await start()).store) });
  cleanups.unshift(() => cluster.stop());
  expect(cluster.store.get('namespaces', 'default')!.object.metadata.uid).toBe(uid);
  expect(cluster.store.list('customresourcedefinitions.apiextensions.k8s.io')).toHaveLength(2);
});
