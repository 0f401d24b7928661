import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { builtinResources } from '../../src/embedded/kinds/index.ts';
import { corpus } from './corpus/index.ts';
import { judge, knownDifferences, requestName } from './known.ts';
import type { KnownDifference } from './known.ts';
import { pagePath, withDifferences } from './page.ts';

const page = readFileSync(pagePath, 'utf8');

test('the reference page lists every known difference with its reason', () => {
  expect(page).toBe(withDifferences(page));
});

test('the reference page names every kind that is served', () => {
  const kinds = [...new Set(builtinResources().map(({ kind }) => kind))];
  expect(kinds.filter((kind) => !new RegExp(`\\b${kind}\\b`).test(page))).toEqual([]);
});

test('known differences are about scenarios and requests that exist', () => {
  const requests = new Map(
    Object.values(corpus)
      .flat()
      .map((scenario) => [scenario.name, scenario.steps.map((_step, index) => requestName(scenario, index))]),
  );
  const lost = knownDifferences.flatMap(({ everywhere, showsIn = '', scenarios = {} }) => [
    ...(everywhere === undefined || requests.has(showsIn) ? [] : [showsIn]),
    ...Object.entries(scenarios).flatMap(([name, entries]) =>
      Object.keys(entries).filter((request) => requests.get(name)?.includes(request) !== true),
    ),
  ]);
  expect(lost).toEqual([]);
});

const known: KnownDifference[] = [
  { reason: 'a', everywhere: { '*hash': { real: '…' } }, showsIn: 't' },
  { reason: 'b', scenarios: { s: { '1 GET /x': { 'body.message': { real: 'no "…" here', embedded: 'none' } } } } },
];
const request = '1 GET /x';
const shown = { request, path: 'body.message', real: 'no "pod" here', embedded: 'none' };

test('a difference is known by both of its sides', () => {
  expect(judge({ name: 's' }, [shown], known)).toEqual({ unknown: [], stale: [] });
  const worse = { ...shown, embedded: 'nothing' };
  expect(judge({ name: 's' }, [shown, worse], known).unknown).toEqual([worse]);
  const elsewhere = { ...shown, request: '2 GET /x' };
  expect(judge({ name: 's' }, [shown, elsewhere], known).unknown).toEqual([elsewhere]);
  expect(judge({ name: 'other' }, [shown], known).unknown).toEqual([shown]);
});

test('what holds everywhere needs no scenario, but its sides', () => {
  const hash = { request, path: 'body.items[0].hash', real: 'abc', embedded: undefined };
  expect(judge({ name: 'other' }, [hash], known).unknown).toEqual([]);
  const wrong = { ...hash, embedded: 'abd' };
  expect(judge({ name: 'other' }, [wrong], known).unknown).toEqual([wrong]);
});

test('a known difference that does not show any more is stale, unless it shows only sometimes', () => {
  expect(judge({ name: 't' }, [], known).stale).toMatchObject([{ path: '*hash' }]);
  const { stale } = judge({ name: 's' }, [], known);
  expect(stale).toMatchObject([{ request, path: 'body.message' }]);
  const rare = known.map((entry) => ({ ...entry, sometimes: true }));
  expect(judge({ name: 's' }, [], rare).stale).toEqual([]);
});
