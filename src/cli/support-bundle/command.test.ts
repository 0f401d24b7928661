// Runs `offshoot status` and `offshoot support-bundle` as processes, on a cluster.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { until } from '../../../test/support/until.ts';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { defineKind } from '../../kube/objects.ts';
import { Lease } from '../../kube/lease.ts';
import { microTime } from '../../kube/times.ts';
import { openShop } from '../testing/shop.ts';
import type { Shop } from '../testing/shop.ts';
import { runnerFor } from '../testing/offshoot-process.ts';

const Secret = defineKind('v1', 'Secret', 'secrets');
const PASSWORD = 'correct-horse-battery-staple';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
  await shop.deploy('cart');
  const time = microTime(Date.now());
  await shop.client.create(Lease, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'dynamic-environment-lock', namespace: 'shop' },
    spec: { holderIdentity: 'me', leaseDurationSeconds: 3600, acquireTime: time, renewTime: time },
  });
  await shop.client.create(Secret, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'db', namespace: 'shop' },
    stringData: { password: PASSWORD },
  });
  await shop.run(
    'env',
    'create',
    'pr-7',
    '--subset',
    'cart=cart:2',
    '--env',
    `DB_PASSWORD=${PASSWORD}`,
    '--key',
    'pr-7',
    '--wait',
  );
}, 60_000);
afterAll(() => shop.stop());

test('status shows leaders and the number of environments, as text and as JSON', async () => {
  const { code, stdout, stderr } = await shop.run('status');
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^environments +running +me +\S+ +1 environment \(1 ready\)$/m);
  expect(stdout).toMatch(/^Everything is healthy\.$/m);
  const metadata = { name: 'pr-8', namespace: 'shop' };
  const subsets = [{ name: 'nothing', namespace: 'shop', containers: [{ containerName: 'app', image: 'a:2' }] }];
  await shop.client.create(DynamicEnv, {
    apiVersion: 'riskified.com/v1alpha1',
    kind: 'DynamicEnv',
    metadata,
    spec: { key: 'pr-8', subsets },
  });
  await until(async () => (await shop.client.get(DynamicEnv, metadata)).status?.state === 'degraded');
  const unhealthy = await shop.run('status', '-o', 'json');
  expect(unhealthy.code).toBe(1);
  expect(JSON.parse(unhealthy.stdout)).toMatchObject({
    problems: [{ severity: 'warning', about: 'environment shop/pr-8', advice: 'offshoot env describe pr-8 -n shop' }],
  });
  await shop.run('env', 'delete', 'pr-8');
});

test('status -w prints the report whenever it changes, until it is interrupted', { timeout: 60_000 }, async () => {
  const watching = shop.start('status', '-w');
  await until(() => /1 environment \(1 ready\)/.test(watching.output()), 30_000);
  await shop.run('env', 'create', 'pr-9', '--subset', 'cart=cart:2', '--key', 'pr-9');
  await until(() => /2 environments \(2 ready\)/.test(watching.output()), 30_000);
  watching.child.kill('SIGINT');
  const { code, stdout, stderr } = await watching.ended;
  expect([code, stderr]).toEqual([130, '']);
  // An unchanged report is not printed again.
  const screens = stdout.split(/^PART /m).slice(1);
  expect(new Set(screens).size).toBe(screens.length);
  await shop.run('env', 'delete', 'pr-9', '--wait');
});

/** Unpacks a bundle, and returns its folder. */
function unpack(archive: string): string {
  const dir = mkdtempSync(path.join(shop.dir, 'bundle-'));
  execFileSync('tar', ['xzf', archive, '-C', dir]);
  return path.join(dir, readdirSync(dir)[0]!);
}

test('support-bundle contains objects, Events and a manifest, but no secrets', async () => {
  const file = path.join(shop.dir, 'bundle.tar.gz');
  const { code, stdout } = await shop.run('support-bundle', '--file', file);
  expect(code).toBe(0);
  expect(stdout).toContain(`${file}: `);
  const dir = unpack(file);
  const manifest = JSON.parse(readFileSync(path.join(dir, 'manifest.json'), 'utf8')) as { files: { path: string }[] };
  const inside = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => path.relative(dir, path.join(each.parentPath, each.name)));
  expect(manifest.files.map((each) => each.path).toSorted()).toEqual(
    inside.filter((each) => each !== 'manifest.json').toSorted(),
  );
  expect(inside).toEqual(
    expect.arrayContaining([
      'status.json',
      'events.yaml',
      'objects/shop/dynamicenvs.yaml',
      'objects/shop/virtualservices.yaml',
    ]),
  );
  expect(inside.filter((each) => /secret/i.test(each))).toEqual([]);
  const text = inside.map((each) => readFileSync(path.join(dir, each), 'utf8')).join('\n');
  expect(text).not.toContain(PASSWORD);
  expect(text).not.toContain(Buffer.from(PASSWORD).toString('base64'));
  const clone = parseAllDocuments(readFileSync(path.join(dir, 'objects/shop/deployments.yaml'), 'utf8'))
    .map((each) => each.toJS() as { metadata: { name: string }; spec: { template: { spec: { containers: unknown } } } })
    .find(({ metadata }) => metadata.name.startsWith('cart-'));
  expect(clone?.spec.template.spec.containers).toMatchObject([{ env: [{ name: 'DB_PASSWORD', value: '<redacted>' }] }]);
});

test('support-bundle lists what the user may not read, and contains the rest', async () => {
  const Role = defineKind('rbac.authorization.k8s.io/v1', 'ClusterRole', 'clusterroles', { namespaced: false });
  const Binding = defineKind('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', 'clusterrolebindings', {
    namespaced: false,
  });
  const Account = defineKind('v1', 'ServiceAccount', 'serviceaccounts');
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const rules = [{ apiGroups: ['riskified.com'], resources: ['dynamicenvs'], verbs: ['get', 'list'] }];
  await shop.client.create(Account, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'reader', namespace: 'shop' },
  });
  await shop.client.create(Role, { apiVersion, kind: 'ClusterRole', metadata: { name: 'reader' }, rules });
  await shop.client.create(Binding, {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'reader' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' },
    subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace: 'shop' }],
  });
  const { status } = await shop.client.raw<{ status: { token: string } }>({
    method: 'POST',
    path: '/api/v1/namespaces/shop/serviceaccounts/reader/token',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  });
  const admin = parse(readFileSync(path.join(shop.dir, 'kubeconfig'), 'utf8')) as { users: { user: object }[] };
  admin.users[0]!.user = { token: status.token };
  const kubeconfig = path.join(shop.dir, 'reader');
  writeFileSync(kubeconfig, JSON.stringify(admin));
  const file = path.join(shop.dir, 'partial.tar.gz');
  const { code, stderr } = await runnerFor(kubeconfig).run('support-bundle', '--file', file);
  expect(code).toBe(0);
  expect(stderr).toContain('not in it: virtualservices');
  const dir = unpack(file);
  expect(readFileSync(path.join(dir, 'objects/shop/dynamicenvs.yaml'), 'utf8')).toContain('pr-7');
  const { unread } = JSON.parse(readFileSync(path.join(dir, 'manifest.json'), 'utf8')) as {
    unread: { what: string }[];
  };
  expect(unread.map(({ what }) => what)).toContain('events');
  rmSync(dir, { recursive: true });
});
