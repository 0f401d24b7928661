import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { builtinResources } from '../../src/embedded/kinds/index.ts';
import { corpus } from './corpus/index.ts';
import { knownDifferences } from './known.ts';
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
  const scenarios = Object.values(corpus).flat();
  const lost = knownDifferences.filter(
    ({ scenario, request }) =>
      scenario !== undefined &&
      !scenarios.some(
        ({ name, steps }) => name === scenario && (request === undefined || JSON.stringify(steps).includes(request)),
      ),
  );
  expect(lost).toEqual([]);
});
