import { expect, test } from 'vitest';
import { fewestInPhase, lostRequests } from './verdict.ts';

const counts = { sent: 0, seconds: 1, images: {}, failures: {} };

test('lists no request that reached an allowed version', () => {
  const create = { 'orders:1': 5 };
  const images = { 'plain orders': { create }, 'alice orders': { create: { ...create, 'orders:2': 5 } } };
  expect(lostRequests({ ...counts, images })).toEqual([]);
});

test('lists requests without the key that reached a clone, and with it an old version or another base', () => {
  const images = {
    'plain orders': { create: { 'orders:2': 1 } },
    'alice orders': { update: { 'orders:1': 2, 'orders:2': 9 }, delete: { 'payments:1': 3 } },
  };
  expect(lostRequests({ ...counts, images })).toEqual([
    '1 × plain orders reached orders:2 during create',
    '2 × alice orders reached orders:1 during update',
    '3 × alice orders reached payments:1 during delete',
  ]);
});

test('lists failed requests', () => {
  const failures = { 'plain orders': { delete: { 'HTTP/1.1 503 no healthy upstream': 4 } } };
  expect(lostRequests({ ...counts, failures })).toEqual([
    '4 × plain orders failed during delete: HTTP/1.1 503 no healthy upstream',
  ]);
});

test('fewestInPhase returns the smallest count of a flow and phase, over all images', () => {
  const images = {
    'plain orders': { create: { 'orders:1': 9 } },
    'alice orders': { create: { 'orders:1': 2, 'orders:2': 3 } },
  };
  expect(fewestInPhase({ ...counts, images })).toBe(5);
});
