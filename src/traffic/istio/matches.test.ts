// A combined match must hold exactly when both of its parts hold.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { combine, includes } from './matches.ts';
import type { HeaderMatch, HttpMatch } from './objects.ts';
import { fits, matchesConditions } from '../testing/naive-routes.ts';

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

test('combine: the result matches a request exactly when both parts match it', () => {
  fc.assert(
    fc.property(base, wanted, request, (entry, match, sent) => {
      const result = combine(entry, match);
      const both = fits(entry, sent) && matchesConditions(match, sent);
      expect('match' in result && fits(result.match, sent)).toBe(both);
    }),
    { numRuns: 2_000 },
  );
});

test('includes: the wide match matches every request that the narrow one matches', () => {
  fc.assert(
    fc.property(base, base, request, (wide, narrow, sent) => {
      expect(!includes(wide, narrow) || fits(wide, sent) || !fits(narrow, sent)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test('includes: a match includes every match with additional conditions', () => {
  fc.assert(
    fc.property(base, wanted, (entry, match) => {
      // The gateways of an entry that names none are not known here.
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
  ['a regular expression and a prefix', user({ regex: 'bo+' }), user({ prefix: 'b' }), false],
  ['an exact value and a regular expression', user({ exact: 'b' }), user({ regex: 'b' }), true],
  ['two regular expressions', user({ regex: 'b.*' }), user({ regex: 'bo+' }), true],
  ['any path and none', { uri: { prefix: '/' } }, user({ exact: 'a' }), true],
  ['paths', { uri: { prefix: '/a' } }, { uri: { exact: '/a/b' } }, true],
  ['paths that ignore case', { uri: { prefix: '/a' }, ignoreUriCase: true }, { uri: { exact: '/a' } }, undefined],
  ['methods', { method: { regex: 'GET|HEAD' } }, { method: { exact: 'GET' } }, true],
  ['fewer gateways', { gateways: ['a', 'b'] }, { gateways: ['b'] }, true],
  ['a header without a condition', { withoutHeaders: { x: {} } }, user({ exact: 'a' }), false],
  ['a header that is always present', { withoutHeaders: { user: {} } }, user({ exact: 'a' }), false],
  ['a header with an excluded value', { withoutHeaders: { user: { exact: 'b' } } }, user({ exact: 'a' }), undefined],
  ['regular expressions that are too large', user({ regex: 'a{600}' }), user({ regex: 'a{700}' }), undefined],
])('includes compares %s', (_what, wide, narrow, is) => {
  expect(includes(wide, narrow)).toBe(is);
});

test('combine keeps the other conditions of a route', () => {
  const entry = { uri: { prefix: '/x' }, gateways: ['mesh'], port: 80, queryParams: { q: { exact: '1' } } };
  const headers = { user: { exact: 'a' } };
  expect(combine(entry, { headers })).toEqual({ match: { ...entry, headers } });
});

test('combine replaces gateways with source labels, as proxies ignore labels where an entry names gateways', () => {
  const entry = { uri: { prefix: '/x' }, sourceLabels: { app: 'other' }, sourceNamespace: 'other' };
  const sourceLabels = { app: 'test' };
  expect(combine({ ...entry, gateways: ['edge', 'mesh'] }, { sourceLabels })).toEqual({
    match: { uri: { prefix: '/x' }, sourceLabels },
  });
  expect(combine({ ...entry, gateways: ['edge'] }, { sourceLabels })).toEqual({
    contradiction: 'source labels are ignored where a match names gateways (edge)',
  });
});
