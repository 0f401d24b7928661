import { expect, test } from 'vitest';
import { manifestOf, missingIn } from './manifest.ts';

const fields = { name: 'pr-9', workload: 'shop/cart', image: 'cart:9', key: '' };

test('manifestOf makes a manifest of complete fields, and missingIn finds nothing missing', () => {
  expect(missingIn(fields)).toBeUndefined();
  expect(manifestOf({ ...fields, container: '' })).toContain('namespace: shop');
});

test('missingIn does not complain about an empty form', () => {
  expect(missingIn({ name: '', workload: '', image: '', key: '' })).toBeUndefined();
});

test.each([
  [{ workload: 'cart' }, { field: 'workload', text: 'Write it with its namespace, such as team/cart.' }],
  [{ workload: 'web' }, { field: 'workload', text: 'Write it with its namespace, such as shop/web.' }],
  [{ workload: '/web' }, { field: 'workload', text: 'Write it with its namespace, such as shop/web.' }],
  [{ workload: '' }, { field: 'workload', text: 'Which Deployment should have another version?' }],
  [{ name: '' }, { field: 'name', text: 'Give it a name.' }],
  [{ image: '' }, { field: 'image', text: 'Which image should it run?' }],
])('missingIn says what is wrong with %j', (change, missing) => {
  const given = { ...fields, ...change };
  expect(missingIn(given, ['team/cart', 'team/shopping-cart'])).toEqual(missing);
  if (missing.field !== 'workload' || !given.workload.includes('/')) return;
  expect(manifestOf({ ...given, container: '' })).toBe('');
});
