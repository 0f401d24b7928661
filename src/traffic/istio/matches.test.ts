// A combined match must hold exactly when both of its parts do, whatever they ask for.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { combine, includes, unusable } from './matches.ts';
import type { HeaderMatch, HttpMatch } from './objects.ts';
import { fits, fitsConditions } from '../testing/naive-routes.ts';

const value = fc.constantFrom('a', 'ab', 'abc', 'b');
const condition = fc.oneof(
  fc.record({ exact: value }),
  fc.record({ prefix: value }),
  fc.record({ regex: fc.constantFrom('a.*', '.*b', 'ab?c?', '.*', '(?i)A.+', '*') }),
);
const present = fc.oneof(condition, fc.constantFrom({}, { exact: '' }));
const labels = fc.dictionary(fc.constantFrom('app', 'tier'), fc.constantFrom('x', 'y'), { maxKeys: 2 });
const base = fc.record(
  {
    headers: fc.dictionary(fc.constantFrom('user', '__proto__'), present),
    withoutHeaders: fc.dictionary(fc.constantFrom('user', 'User'), present),
    sourceLabels: labels,
    sourceNamespace: fc.constantFrom('a', 'b'),
    gateways: fc.constantFrom([], ['mesh'], ['mesh', 'b/edge']),
  },
  { requiredKeys: [] },
);
const wanted = fc.record(
  { headers: fc.dictionary(fc.constantFrom('user', 'USER', '__proto__'), condition), sourceLabels: labels },
  { requiredKeys: [] },
);
const request = fc.record({
  headers: fc.dictionary(fc.constantFrom('user', '__proto__'), value),
  labels,
  namespace: fc.constantFrom('a', 'b'),
  path: fc.constant('/'),
  method: fc.constant('GET'),
});

test('a combined match fits a request exactly when both parts do', () => {
  fc.assert(
    fc.property(base, wanted, request, (entry, match, sent) => {
      const result = combine(entry, match);
      const both = fits(entry, sent) && fitsConditions(match, sent);
      expect('match' in result && fits(result.match, sent)).toBe(both);
    }),
    { numRuns: 2_000 },
  );
});

test('a match includes another only if it fits every request that the other fits', () => {
  fc.assert(
    fc.property(base, base, request, (wide, narrow, sent) => {
      expect(!includes(wide, narrow) || fits(wide, sent) || !fits(narrow, sent)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test('a match includes every one that asks for more', () => {
  fc.assert(
    fc.property(base, wanted, (entry, match) => {
      // Which gateways an entry is for that names none is not known here.
      fc.pre(!entry.gateways?.length || !match.sourceLabels);
      const result = combine(entry, match);
      expect('contradiction' in result || includes(entry, result.match)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

const user = (match: HeaderMatch): HttpMatch => ({ headers: { user: match } });

test.each<[string, HttpMatch, HttpMatch, boolean | undefined]>([
  ['a prefix and a regular expression', user({ prefix: 'b' }), user({ regex: 'bo+' }), true],
  ['the same the other way round', user({ regex: 'bo+' }), user({ prefix: 'b' }), false],
  ['an exact value and a regular expression', user({ exact: 'b' }), user({ regex: 'b' }), true],
  ['two regular expressions', user({ regex: 'b.*' }), user({ regex: 'bo+' }), true],
  ['any path and none', { uri: { prefix: '/' } }, user({ exact: 'a' }), true],
  ['paths', { uri: { prefix: '/a' } }, { uri: { exact: '/a/b' } }, true],
  ['paths of any case', { uri: { prefix: '/a' }, ignoreUriCase: true }, { uri: { exact: '/a' } }, undefined],
  ['methods', { method: { regex: 'GET|HEAD' } }, { method: { exact: 'GET' } }, true],
  ['fewer gateways', { gateways: ['a', 'b'] }, { gateways: ['b'] }, true],
  ['a header that nobody speaks of', { withoutHeaders: { x: {} } }, user({ exact: 'a' }), false],
  ['a header that is always there', { withoutHeaders: { user: {} } }, user({ exact: 'a' }), false],
  ['a header that must not be so', { withoutHeaders: { user: { exact: 'b' } } }, user({ exact: 'a' }), undefined],
  ['what is too large to look into', user({ regex: 'a{600}' }), user({ regex: 'a{700}' }), undefined],
])('whether a match includes another: %s', (_what, wide, narrow, is) => {
  expect(includes(wide, narrow)).toBe(is);
});

test('what a route asks for besides stays as it is', () => {
  const entry = { uri: { prefix: '/x' }, gateways: ['mesh'], port: 80, queryParams: { q: { exact: '1' } } };
  const headers = { user: { exact: 'a' } };
  expect(combine(entry, { headers })).toEqual({ match: { ...entry, headers } });
});

test('labels of callers take the place of gateways, beside which proxies do not look at them', () => {
  const entry = { uri: { prefix: '/x' }, sourceLabels: { app: 'other' }, sourceNamespace: 'other' };
  const sourceLabels = { app: 'test' };
  expect(combine({ ...entry, gateways: ['edge', 'mesh'] }, { sourceLabels })).toEqual({
    match: { uri: { prefix: '/x' }, sourceLabels },
  });
  expect(combine({ ...entry, gateways: ['edge'] }, { sourceLabels })).toEqual({
    contradiction: 'source labels are ignored where a match names gateways (edge)',
  });
});

test.each([
  [{}, 'it asks for nothing'],
  [{ headers: {}, sourceLabels: {} }, 'it asks for nothing'],
  [{ headers: { user: {} } }, 'it has neither exact, prefix nor regex for header user'],
  [{ headers: { user: { exact: '' } } }, 'it has neither exact, prefix nor regex for header user'],
  [{ headers: { user: { regex: '(' } } }, 'header user: regex "(": not valid RE2 (missing closing ): `(`)'],
  [{ headers: { user: { regex: '*' } } }, undefined],
  [{ headers: { user: { prefix: 'a' } } }, undefined],
  [{ sourceLabels: { app: 'test' } }, undefined],
])('%j: %s', (match, problem) => {
  expect(unusable(match)).toBe(problem);
});
