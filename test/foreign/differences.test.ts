import { expect, test } from 'vitest';
import { compare } from './differences.ts';
import type { Known } from './differences.ts';
import type { Outcome } from './suite.ts';

const outcome = (...failed: string[]): Outcome => ({
  passed: [],
  failed: new Map(failed.map((name) => [name, 'refused'])),
});
const known: readonly Known[] = [
  { reason: 'no webhooks', suite: 'client', fails: 'embedded', specs: ['converts'] },
  { reason: 'controllers', suite: 'client', fails: 'real', specs: ['lists *'] },
];

test('a difference that is listed is none to talk about, and one that fails on both is none', () => {
  const outcomes = { embedded: outcome('converts', 'flakes'), real: outcome('lists pods', 'lists nodes', 'flakes') };
  expect(compare(outcomes, known)).toEqual({ unknown: [], stale: [] });
});

test('a difference that is not listed is told with its reason', () => {
  const outcomes = { embedded: outcome('converts', 'watches'), real: outcome('lists pods', 'gets') };
  expect(compare(outcomes, known).unknown).toEqual([
    'fails on the embedded cluster alone: watches: refused',
    'fails on the real cluster alone: gets: refused',
  ]);
});

test('an entry that does not show any more is stale', () => {
  expect(compare({ embedded: outcome(), real: outcome() }, known).stale).toEqual([
    'does not fail on the embedded cluster alone any more: converts',
    'does not fail on the real cluster alone any more: lists *',
  ]);
});

test('an entry of what fails by chance is not', () => {
  const entries = known.map((entry) => ({ ...entry, sometimes: true }));
  expect(compare({ embedded: outcome(), real: outcome() }, entries).stale).toEqual([]);
});
