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

test('ignores listed differences, and specs that fail on both sides', () => {
  const outcomes = { embedded: outcome('converts', 'flakes'), real: outcome('lists pods', 'lists nodes', 'flakes') };
  expect(compare(outcomes, known)).toEqual({ unknown: [], stale: [] });
});

test('reports a difference that is not listed, with its error', () => {
  const outcomes = { embedded: outcome('converts', 'watches'), real: outcome('lists pods', 'gets') };
  expect(compare(outcomes, known).unknown).toEqual([
    'fails on the embedded cluster alone: watches: refused',
    'fails on the real cluster alone: gets: refused',
  ]);
});

test('reports an entry whose specs no longer fail as stale', () => {
  expect(compare({ embedded: outcome(), real: outcome() }, known).stale).toEqual([
    'does not fail on the embedded cluster alone any more: converts',
    'does not fail on the real cluster alone any more: lists *',
  ]);
});

test('never reports an entry that fails only sometimes as stale', () => {
  const entries = known.map((entry) => ({ ...entry, sometimes: true }));
  expect(compare({ embedded: outcome(), real: outcome() }, entries).stale).toEqual([]);
});
