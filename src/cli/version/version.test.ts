import { afterAll, beforeAll, expect, test } from 'vitest';
import { Deployment, Namespace } from '../install/installed.ts';
import { holdLeases } from '../run/lease-holders.ts';
import { partsOf } from '../run/parts.ts';
import { runnerFor } from '../testing/offshoot-process.ts';
import { openShop } from '../testing/shop.ts';
import type { Shop } from '../testing/shop.ts';
import { version } from './version.ts';

const client = { version: version(), node: process.versions.node };
let shop: Shop;
beforeAll(async () => {
  shop = await openShop({ controller: false });
}, 60_000);
afterAll(() => shop.stop());

test('version says why there is no cluster', { timeout: 60_000 }, async () => {
  const nowhere = runnerFor('/nowhere');
  expect((await nowhere.run('version')).stdout).toMatch(
    /^Client {6}\S+ \(Node \S+\)\nServer {6}not reached: no cluster configured/,
  );
  expect(JSON.parse((await nowhere.run('version', '-o', 'json')).stdout)).toEqual({
    client,
    server: { error: { code: 'NoCluster', message: expect.stringContaining('/nowhere') as string } },
  });
  expect((await nowhere.run('version', '--client')).stdout).toBe(
    `Client      ${client.version} (Node ${client.node})\n`,
  );
});

test('version shows what runs in the cluster, part by part', { timeout: 60_000 }, async () => {
  expect(JSON.parse((await shop.run('version', '-o', 'json')).stdout)).toMatchObject({
    client,
    server: {
      kubernetes: expect.stringMatching(/^v1\.\d+/) as string,
      installed: [],
      parts: ['environments', 'targets', 'routing', 'mesh'].map((name) => ({ name, running: false })),
    },
  });
  await holdLeases(shop.client, partsOf(['environments']), 'default');
  const name = 'offshoot-system';
  await shop.client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const labels = { 'app.kubernetes.io/name': 'offshoot', 'app.kubernetes.io/version': '0.0.9' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a' }] } };
  await shop.client.create(Deployment, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'offshoot', namespace: name, labels },
    spec: { selector: { matchLabels: labels }, template },
  });
  const { stdout } = await shop.run('version');
  expect(stdout).toContain('Installed   0.0.9, in namespace offshoot-system\n');
  expect(stdout).toMatch(
    new RegExp(
      `^environments +running +${version()} +offshoot-up_${process.pid}\ntargets +not running +<none> +<none>\n`,
      'm',
    ),
  );
});
