import { expect, test } from 'vitest';
import { Rights, settle, TRUST_MS } from './rights.ts';
import type { Question } from './rights.ts';

const pods = { group: '', plural: 'pods' };
const envs = { group: 'riskified.com', plural: 'dynamicenvs' };

/** Rights by a function, with all that was asked. */
function rightsOf(allows: (question: Question) => boolean) {
  const asked: Question[] = [];
  const clock = { now: 0 };
  const review = async (question: Question): Promise<boolean> => {
    asked.push(question);
    return allows(question);
  };
  return { rights: new Rights(review, () => clock.now), asked, clock };
}

test('a right is asked for once, everywhere first, then in the namespace; then again when the answer is old', async () => {
  const { rights, asked, clock } = rightsOf(({ namespace }) => namespace === 'shop');
  const look = () => settle(rights, (may) => ['shop', 'pay'].map((each) => may('list', pods, each)));
  expect(await look()).toEqual([true, false]);
  expect(asked.map(({ namespace }) => namespace)).toEqual([undefined, 'shop', 'pay']);
  expect(await look()).toEqual([true, false]);
  expect(asked).toHaveLength(3);
  clock.now += TRUST_MS;
  await look();
  expect(asked).toHaveLength(6);
});

test('who may read everywhere is asked for one right a kind, however many namespaces there are', async () => {
  const { rights, asked } = rightsOf(() => true);
  const spaces = Array.from({ length: 100 }, (_, i) => `team-${i}`);
  const all = await settle(rights, (may) => spaces.map((each) => may('list', envs, each)));
  expect(all.every(Boolean)).toBe(true);
  expect(asked).toEqual([{ verb: 'list', group: 'riskified.com', resource: 'dynamicenvs' }]);
});

test('what is refused because a right is not known yet is tried again when it is', async () => {
  const { rights } = rightsOf(({ resource }) => resource === 'pods');
  const read = (resource: typeof pods) =>
    settle(rights, (may) => {
      if (!may('list', resource, 'shop')) throw new Error('no');
      return 'read';
    });
  expect(await read(pods)).toBe('read');
  await expect(read(envs)).rejects.toThrow('no');
});

test('an answer that does not come shows nothing, and is asked for again', async () => {
  let isDown = true;
  const { rights } = rightsOf(() => {
    if (isDown) throw new Error('the API server is away');
    return true;
  });
  const look = () => settle(rights, (may) => may('list', pods, 'shop'));
  await expect(look()).rejects.toThrow('away');
  isDown = false;
  expect(await look()).toBe(true);
});

test('Secrets are for nobody, and nobody is asked about them', async () => {
  const { rights, asked } = rightsOf(() => true);
  expect(await settle(rights, (may) => may('list', { group: '', plural: 'secrets' }, 'shop'))).toBe(false);
  expect(asked).toEqual([]);
});

test('answers that get old on the way still count, so that it ends', async () => {
  const { rights, clock } = rightsOf(() => {
    clock.now += TRUST_MS;
    return true;
  });
  const namespaces = ['a', 'b', 'c'];
  expect(await settle(rights, (may) => namespaces.map((each) => may('delete', envs, each)))).toEqual([
    true,
    true,
    true,
  ]);
});
