import { expect, test } from 'vitest';
import { byKey, objectName, sanitize } from './names.ts';

test.each([
  ['reviews.default.svc.cluster.local', 'reviews-default-svc-cluster-local'],
  ['x*y/z [q]:r', 'x-y-z-q-r'],
  ['A.B', 'a-b'],
  [
    'my-very-long-service-name-for-checkout.my-very-long-namespace-name.svc.cluster.local',
    'my-very-long-service-name-for-c-120bcd43e10b7bd7e0344ca76377b14',
  ],
  ['a'.repeat(300), 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-4e5475d125a33c6190718e75adc1b70'],
  ['a'.repeat(64), 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-014842d480b571495a4a0363793f736'],
  ['a'.repeat(63), 'a'.repeat(63)],
])('sanitize(%j) is %j', (name, sanitized) => {
  expect(sanitize(name)).toBe(sanitized);
});

test('sanitize computes the digest before it converts the name to lower case', () => {
  expect(sanitize('A'.repeat(64))).not.toBe(sanitize('a'.repeat(64)));
  expect(sanitize('A'.repeat(64))).toMatch(/^a{31}-[0-9a-f]{31}$/);
});

test('sanitize measures the length in bytes', () => {
  expect(sanitize('ä'.repeat(31))).toBe('ä'.repeat(31));
  expect(sanitize('ä'.repeat(32))).toMatch(/-[0-9a-f]{31}$/);
});

test.each([
  ['orders-v1', /^orders-v1$/],
  ['A.B', /^a-b$/],
  ['orders_shop', /^orders-shop-[0-9a-f]{10}$/],
  ['-orders-', /^orders-[0-9a-f]{10}$/],
  ['___', /^x-[0-9a-f]{10}$/],
  ['ä'.repeat(100), /^[a-f0-9-]+-[0-9a-f]{10}$/],
  ['a_'.repeat(127), /^(a-){15}a-[0-9a-f]{10}$/],
])('objectName(%j) is a valid Kubernetes name', (name, expected) => {
  expect(objectName(name)).toMatch(expected);
});

test('objectName gives similar names different results', () => {
  const names = ['a_b', 'a__b', 'a_b_', 'A_b', 'a-b', '_a-b'];
  expect(new Set(names.map(objectName)).size).toBe(names.length);
});

test('byKey sorts the keys, and loses none', () => {
  const made = byKey([
    ['b', 1],
    ['__proto__', 2],
    ['a-b', 3],
    ['a.b', 4],
  ]);
  expect(Object.entries(made)).toEqual([
    ['__proto__', 2],
    ['a-b', 3],
    ['a.b', 4],
    ['b', 1],
  ]);
});
