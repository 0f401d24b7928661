import { expect, test } from 'vitest';
import { Permissions, settle, TRUST_MS } from './permissions.ts';
import type { Question } from './permissions.ts';

const pods = { group: '', plural: 'pods' };
const envs = { group: 'riskified.com', plural: 'dynamicenvs' };

/** Permissions that `allows` decides, and the questions that were asked. */
function permissionsOf(allows: (question: Question) => boolean) {
  const asked: Question[] = [];
  const clock = { now: 0 };
  const review = async (question: Question): Promise<boolean> => {
    asked.push(question);
    return allows(question);
  };
  return { permissions: new Permissions(review, () => clock.now), asked, clock };
}

test('a permission is reviewed cluster-wide first, then in the namespace, and again when the answer expires', async () => {
  const { permissions, asked, clock } = permissionsOf(({ namespace }) => namespace === 'shop');
  const readPermissions = () => settle(permissions, (may) => ['shop', 'pay'].map((each) => may('list', pods, each)));
  expect(await readPermissions()).toEqual([true, false]);
  expect(asked.map(({ namespace }) => namespace)).toEqual([undefined, 'shop', 'pay']);
  expect(await readPermissions()).toEqual([true, false]);
  expect(asked).toHaveLength(3);
  clock.now += TRUST_MS;
  await readPermissions();
  expect(asked).toHaveLength(6);
});

test('a user who may read all namespaces costs one review per kind', async () => {
  const { permissions, asked } = permissionsOf(() => true);
  const spaces = Array.from({ length: 100 }, (_, i) => `team-${i}`);
  const all = await settle(permissions, (may) => spaces.map((each) => may('list', envs, each)));
  expect(all.every(Boolean)).toBe(true);
  expect(asked).toEqual([{ verb: 'list', group: 'riskified.com', resource: 'dynamicenvs' }]);
});

test('settle computes again once an unknown permission is known', async () => {
  const { permissions } = permissionsOf(({ resource }) => resource === 'pods');
  const read = (resource: typeof pods) =>
    settle(permissions, (may) => {
      if (!may('list', resource, 'shop')) throw new Error('no');
      return 'read';
    });
  expect(await read(pods)).toBe('read');
  await expect(read(envs)).rejects.toThrow('no');
});

test('a review that fails is an error, and is repeated the next time', async () => {
  let isDown = true;
  const { permissions } = permissionsOf(() => {
    if (isDown) throw new Error('the API server is away');
    return true;
  });
  const readPermissions = () => settle(permissions, (may) => may('list', pods, 'shop'));
  await expect(readPermissions()).rejects.toThrow('away');
  isDown = false;
  expect(await readPermissions()).toBe(true);
});

test('nobody may read Secrets, and no review is made for them', async () => {
  const { permissions, asked } = permissionsOf(() => true);
  expect(await settle(permissions, (may) => may('list', { group: '', plural: 'secrets' }, 'shop'))).toBe(false);
  expect(asked).toEqual([]);
});

test('settle ends even if answers expire while it runs', async () => {
  const { permissions, clock } = permissionsOf(() => {
    clock.now += TRUST_MS;
    return true;
  });
  const namespaces = ['a', 'b', 'c'];
  expect(await settle(permissions, (may) => namespaces.map((each) => may('delete', envs, each)))).toEqual([
    true,
    true,
    true,
  ]);
});
