// Runs the commands for the lifecycle of environments as processes, against a cluster with the controller.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { Deployment } from '../../environments/objects.ts';
import { openShop } from '../testing/shop.ts';
import type { Shop } from '../testing/shop.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
  await shop.deploy('cart');
});
afterAll(() => shop.stop());

const get = (name: string): Promise<DynamicEnv> => shop.client.get(DynamicEnv, { name, namespace: 'shop' });

async function create(name: string, ...flags: readonly string[]): Promise<void> {
  const header = `end-user=${name}`;
  const args = ['env', 'create', name, '--subset', 'cart=cart:2', '--header', header, ...flags, '--wait'];
  expect(await shop.run(...args)).toMatchObject({ code: 0 });
}

test('extend extends an environment with a time to live', async () => {
  await create('short', '--ttl', '2h');
  const { metadata, spec, status } = await get('short');
  expect(spec.ttl).toEqual({ duration: '2h' });
  const expiresAt = Date.parse(metadata.creationTimestamp!) + 7_200_000;
  expect(Date.parse(status!.expiresAt!)).toBe(expiresAt);
  expect((await shop.run('env', 'list')).stdout).toMatch(/EXPIRES {2,}AGE\nshort .* in 119m {2,}/);
  expect((await shop.run('env', 'describe', 'short')).stdout).toMatch(/^Expires {3}\S+Z \(in 119m\)$/m);

  const later = (ms: number): string => new Date(expiresAt + ms).toISOString().replace('.000Z', 'Z');
  expect(await shop.run('env', 'extend', 'short', '--by', '1d', '--dry-run=server')).toMatchObject({
    code: 0,
    stdout: `dynamicenv.riskified.com/short extended until ${later(86_400_000)} (server dry run)\n`,
  });
  const extended = await shop.run('env', 'extend', 'short', '--by', '1h');
  expect(extended).toMatchObject({
    code: 0,
    stdout: `dynamicenv.riskified.com/short extended until ${later(3_600_000)}\n`,
  });
  await until(async () => (await get('short')).status?.expiresAt === later(3_600_000));
  // By its ttl, by default.
  expect((await shop.run('env', 'extend', 'short')).stdout).toContain(`until ${later(3 * 3_600_000)}`);
  expect((await get('short')).spec).toEqual(spec);

  expect(await shop.run('env', 'extend', 'short', '--by', '365d')).toMatchObject({
    code: 1,
    stderr:
      'error: --by "365d": environment shop/short would live longer than 365 days from now\ncode: InvalidFlag, see "offshoot errors InvalidFlag"\n',
  });
  expect((await shop.run('env', 'extend', 'short', '--by', '0s')).stderr).toContain(
    "option '--by <duration>' argument '0s' is invalid. It must be whole days, hours, minutes and seconds",
  );
  expect((await shop.run('env', 'extend')).stderr).toContain('NAME is missing: name the environments to extend');
});

test('a paused environment is shown as paused, and --wait does not wait for it', async () => {
  await create('still');
  const body = { spec: { paused: true } };
  await shop.client.patch(DynamicEnv, { name: 'still', namespace: 'shop' }, { type: 'merge', body });
  await until(async () => (await get('still')).status?.observedGeneration === 2);
  expect((await shop.run('env', 'list')).stdout).toMatch(/^still {2,}paused {2,}1\/1 /m);
  expect((await shop.run('env', 'describe', 'still')).stdout).toMatch(
    /^Environment shop\/still {2}paused\n.*only its status is written until spec.paused is unset\n/,
  );
  const file = path.join(shop.dir, 'still.json');
  const subsets = [{ name: 'cart', namespace: 'shop', containers: [{ containerName: 'cart', image: 'cart:3' }] }];
  const { apiVersion, kind, spec } = await get('still');
  const changed = { apiVersion, kind, metadata: { name: 'still' }, spec: { ...spec, paused: true, subsets } };
  writeFileSync(file, JSON.stringify(changed));
  expect(await shop.run('env', 'create', '-f', file, '--force-conflicts', '--wait')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      'is not ready: paused (spec.paused): shop/cart: changes to it are not applied while the environment is paused\n',
    ),
  });
  expect((await shop.run('env', 'list')).stdout).toMatch(/^still {2,}paused {2,}0\/1 /m);
  expect((await get('still')).status?.totalReady).toBe(0);
  const described = (await shop.run('env', 'describe', 'still')).stdout;
  expect(described).toMatch(/Deployment shop\/cart-shop-still {2}running .*\n.*changes to it are not applied/);
  expect(described).not.toContain('updating');
  expect(await shop.run('env', 'plan', 'still')).toMatchObject({ code: 0, stdout: expect.stringContaining('paused') });
});

test('sleep and wake scale an environment down and up', { timeout: 60_000 }, async () => {
  await create('tired');
  const clone = { name: 'cart-shop-tired', namespace: 'shop' };
  expect(await shop.run('env', 'sleep', 'tired', '--dry-run=client')).toMatchObject({
    stdout: 'dynamicenv.riskified.com/tired put to sleep (dry run)\n',
  });
  expect(await shop.run('env', 'sleep', 'tired', '--wait')).toMatchObject({
    code: 0,
    stdout: 'dynamicenv.riskified.com/tired put to sleep\n',
    stderr: expect.stringMatching(
      /cart routes: taken out\n(.*\n)*.*cart clone: scaled to zero \(Deployment shop\/cart-shop-tired\)\n$/,
    ),
  });
  const explain = ['explain', 'http://cart.shop:9080/', '-H', 'end-user: tired', '--why-not', 'tired'];
  expect((await shop.run(...explain)).stdout).toContain(
    'it has no route in any VirtualService: it is asleep: "offshoot env wake tired -n shop" wakes it\n',
  );
  expect((await shop.client.get(Deployment, clone)).spec.replicas).toBe(0);
  expect((await shop.run('env', 'list')).stdout).toMatch(/^tired {2,}asleep {2,}0\/1 /m);
  const described = (await shop.run('env', 'describe', 'tired')).stdout;
  expect(described).toMatch(/^Environment shop\/tired {2}asleep\n/);
  expect(described).toContain('asleep: "offshoot env wake tired -n shop" wakes it');
  expect(described).toContain('Deployment shop/cart-shop-tired  asleep  0/0 pods ready');
  expect((await shop.run('env', 'sleep', 'tired')).stdout).toBe('dynamicenv.riskified.com/tired asleep already\n');
  expect(await shop.run('env', 'plan', 'tired')).toMatchObject({ code: 0, stdout: expect.stringContaining('asleep') });

  expect(await shop.run('env', 'wake', 'tired', '--wait')).toMatchObject({
    code: 0,
    stdout: 'dynamicenv.riskified.com/tired woken\n',
  });
  expect((await get('tired')).status?.state).toBe('ready');
  expect((await shop.client.get(Deployment, clone)).spec.replicas).toBe(1);
});

test('extend fails for an environment without a time to live', async () => {
  await create('lasting');
  expect(await shop.run('env', 'extend', 'lasting')).toMatchObject({
    code: 1,
    stderr:
      'error: environment shop/lasting has no spec.ttl: it lives until it is deleted\ncode: NoTimeToLive, see "offshoot errors NoTimeToLive"\n',
  });
});

test('delete says what keeps an environment after the time-out', async () => {
  await create('held');
  const clone = { name: 'cart-shop-held', namespace: 'shop' };
  const hold = (finalizers: readonly string[]) =>
    shop.client.patch(Deployment, clone, { type: 'merge', body: { metadata: { finalizers } } });
  await hold(['backup.example/keep']);
  const deleted = await shop.run('env', 'delete', 'held', '--timeout', '4s');
  expect(deleted.code).toBe(3);
  const why =
    'removing its objects: Deployment shop/cart-shop-held waits for finalizers that others added: backup.example/keep';
  expect(deleted.stderr).toContain(`  Environment shop/held is still there\n  Environment shop/held: ${why}\ncode: `);
  expect((await shop.run('env', 'describe', 'held')).stdout).toContain(`CleanupVirtualServices: ${why}\n`);
  await hold([]);
  await until(async () => (await shop.run('env', 'describe', 'held')).code === 1, 20_000);
});
