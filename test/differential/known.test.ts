import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { builtinResources } from '../../src/embedded/kinds/index.ts';
import { corpus } from './corpus/index.ts';
import { compareWithKnown, knownDifferences, requestName } from './known.ts';
import type { KnownDifference } from './known.ts';
import { pagePath, withDifferences } from './page.ts';

const page = readFileSync(pagePath, 'utf8');

test('docs/reference/embedded.md lists every known difference with its reason', () => {
  expect(page).toBe(withDifferences(page));
});

test('docs/reference/embedded.md names every served kind', () => {
  const kinds = [...new Set(builtinResources().map(({ kind }) => kind))];
  expect(kinds.filter((kind) => !new RegExp(`\\b${kind}\\b`).test(page))).toEqual([]);
});

test('known.yaml contains only scenarios and requests that exist', () => {
  const requests = new Map(
    Object.values(corpus)
      .flat()
      .map((scenario) => [scenario.name, scenario.steps.map((_step, index) => requestName(scenario, index))]),
  );
  const missing = knownDifferences.flatMap(({ everywhere, showsIn = '', scenarios = {} }) => [
    ...(everywhere === undefined || requests.has(showsIn) ? [] : [showsIn]),
    ...Object.entries(scenarios).flatMap(([name, entries]) =>
      Object.keys(entries).filter((request) => requests.get(name)?.includes(request) !== true),
    ),
  ]);
  expect(missing).toEqual([]);
});

const known: KnownDifference[] = [
  { reason: 'a', everywhere: { '*hash': { real: '…' } }, showsIn: 't' },
  { reason: 'b', scenarios: { s: { '1 GET /x': { 'body.message': { real: 'no "…" here', embedded: 'none' } } } } },
];
const request = '1 GET /x';
const difference = { request, path: 'body.message', real: 'no "pod" here', embedded: 'none' };

test('compareWithKnown accepts a difference only when both sides match', () => {
  expect(compareWithKnown({ name: 's' }, [difference], known)).toEqual({ unknown: [], stale: [] });
  const worse = { ...difference, embedded: 'nothing' };
  expect(compareWithKnown({ name: 's' }, [difference, worse], known).unknown).toEqual([worse]);
  const elsewhere = { ...difference, request: '2 GET /x' };
  expect(compareWithKnown({ name: 's' }, [difference, elsewhere], known).unknown).toEqual([elsewhere]);
  expect(compareWithKnown({ name: 'other' }, [difference], known).unknown).toEqual([difference]);
});

test('compareWithKnown accepts a difference that is known everywhere in any scenario, when both sides match', () => {
  const hash = { request, path: 'body.items[0].hash', real: 'abc', embedded: undefined };
  expect(compareWithKnown({ name: 'other' }, [hash], known).unknown).toEqual([]);
  const wrong = { ...hash, embedded: 'abd' };
  expect(compareWithKnown({ name: 'other' }, [wrong], known).unknown).toEqual([wrong]);
});

test('compareWithKnown reports a known difference that no longer occurs as stale, unless it occurs only sometimes', () => {
  expect(compareWithKnown({ name: 't' }, [], known).stale).toMatchObject([{ path: '*hash' }]);
  const { stale } = compareWithKnown({ name: 's' }, [], known);
  expect(stale).toMatchObject([{ request, path: 'body.message' }]);
  const rare = known.map((entry) => ({ ...entry, sometimes: true }));
  expect(compareWithKnown({ name: 's' }, [], rare).stale).toEqual([]);
});
