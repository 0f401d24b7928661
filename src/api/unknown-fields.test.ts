import { expect, test } from 'vitest';
import { dynamicEnv } from './dynamicenv.ts';
import { keepUnknownStatus } from './unknown-fields.ts';

const keep = keepUnknownStatus(dynamicEnv);
const entry = { deployment: { name: 'cart', namespace: 'shop', status: 'running' } };

test('keepUnknownStatus keeps fields that the schema does not have, at any depth', () => {
  const live = {
    state: 'ready',
    score: 7,
    subsetsStatus: { 'shop/cart': { ...entry, mood: 'good', deployment: { ...entry.deployment, zone: 'a' } } },
  };
  expect(keep(live, { state: 'degraded', subsetsStatus: { 'shop/cart': entry } })).toEqual({
    state: 'degraded',
    score: 7,
    subsetsStatus: { 'shop/cart': { ...entry, mood: 'good', deployment: { ...entry.deployment, zone: 'a' } } },
  });
});

test('keepUnknownStatus removes known fields, map entries and list items that are no longer planned', () => {
  const live = {
    expiresAt: '2026-01-01T00:00:00Z',
    subsetsStatus: { 'shop/old': entry },
    conditions: [{ type: 'Old', score: 7 }],
  };
  const planned = { subsetsStatus: {}, conditions: [{ type: 'Ready' }] };
  expect(keep(live, planned)).toEqual(planned);
});
