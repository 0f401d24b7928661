// `describe -w` shows a tree again whenever something in it changes.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../test/support/until.ts';
import { openShop } from './testing/shop.ts';
import type { Shop } from './testing/shop.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
  await shop.deploy('cart');
}, 60_000);
afterAll(() => shop.stop());

const create = (name: string): Promise<unknown> =>
  shop.run('env', 'create', name, '--subset', 'cart=cart:2', '--header', `a=${name}`);

test('describe -w follows an environment from its creation to its deletion', { timeout: 90_000 }, async () => {
  await create('watched');
  const watching = shop.start('env', 'describe', 'watched', '-w');
  await until(() => /^Environment shop\/watched {2}ready/m.test(watching.output()), 40_000);
  await shop.run('env', 'sleep', 'watched');
  await until(() => /^Environment shop\/watched {2}asleep/m.test(watching.output()), 40_000);
  await shop.run('env', 'delete', 'watched');
  const { code, stderr } = await watching.ended;
  expect([code, stderr]).toEqual([0, 'environment shop/watched was deleted\n']);
});

test('describe -w -o prints a document for every change until Ctrl-C', { timeout: 90_000 }, async () => {
  await create('data');
  const watching = shop.start('env', 'describe', 'data', '-w', '-o', 'jsonpath={.environment.state}');
  await until(() => watching.output().trim().split(/\n+/).at(-1) === 'ready', 40_000);
  watching.child.kill('SIGINT');
  expect(await watching.ended).toMatchObject({ code: 130, stderr: '' });
});

test('describe -o wide adds the conditions', { timeout: 60_000 }, async () => {
  const { stdout } = await shop.run('env', 'describe', 'data', '-o', 'wide');
  expect(stdout).toMatch(/\nCONDITION {3,}STATUS {3,}AGE {3,}REASON {3,}MESSAGE\nReady {3,}True /);
  expect((await shop.run('env', 'describe', 'data', '-o', 'name')).stdout).toBe('dynamicenv.riskified.com/data\n');
});
