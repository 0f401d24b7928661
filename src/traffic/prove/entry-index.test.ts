// Finds the same entries by index as a linear search does.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { baggageRegex } from '../baggage.ts';
import { conditionsOf } from '../compile/conditions.ts';
import type { HttpMatch } from '../istio/objects.ts';
import type { Request } from '../request.ts';
import type { Rule } from '../rules.ts';
import type { Entry } from './entries.ts';
import { EntryIndex } from './entry-index.ts';
import { fulfils, literalsOf } from './literals.ts';

const entryOf = (match: HttpMatch, isInserted = false): Entry => {
  const name = isInserted ? 'dynamic-environment-shop-pr-cart-0123456789' : 'main';
  return { literals: literalsOf(conditionsOf(match)), effect: { id: 'any', rule: { name } as Rule }, key: '' };
};

const key = fc.constantFrom('pr-1', 'pr-2', 'pr-12');
const value = fc.oneof(
  key.map((exact) => ({ exact })),
  key.map((prefix) => ({ prefix })),
  key.map((each) => ({ regex: baggageRegex(each) })),
  fc.constant({ regex: 'env=pr-.*' }),
  key.map((each) => ({ exact: `env=${each}` })),
);
const headers = fc.dictionary(fc.constantFrom('x-env', 'baggage', 'user'), value, { maxKeys: 2 });
const match: fc.Arbitrary<HttpMatch> = fc.record(
  {
    headers,
    withoutHeaders: headers,
    sourceLabels: fc.dictionary(fc.constantFrom('team'), key),
    uri: fc.constant({ prefix: '/api' }),
    method: fc.constant({ exact: 'POST' }),
  },
  { requiredKeys: [] },
);
const sent = fc.oneof(
  key,
  key.map((each) => `env=${each}`),
  fc.tuple(key, key).map(([one, other]) => `a=b, env = ${one};ttl=3,env=${other.replace('-', '%2d')}`),
);
const request: fc.Arbitrary<Request> = fc
  .record({
    headers: fc.dictionary(fc.constantFrom('x-env', 'baggage', 'user'), fc.oneof(sent, fc.array(sent))),
    labels: fc.dictionary(fc.constantFrom('team'), key),
    method: fc.constantFrom('GET', 'POST'),
    path: fc.constantFrom('/', '/api/x'),
  })
  .map(({ labels, ...rest }) => ({ host: 'cart', port: 80, source: { namespace: 'shop', labels }, ...rest }));

test('fulfilled finds the same first entry as a linear search', () => {
  let fulfilled = 0;
  fc.assert(
    fc.property(fc.array(match, { maxLength: 8 }), fc.nat(8), request, (matches, before, asked) => {
      const entries = matches.map((each) => entryOf(each));
      const naive = entries.slice(0, before).find(({ literals }) => fulfils(asked, literals));
      expect(new EntryIndex(entries).fulfilled(asked, before)).toBe(naive);
      if (naive !== undefined) fulfilled++;
    }),
    { numRuns: 2_000 },
  );
  expect(fulfilled).toBeGreaterThan(200);
});

test('concerning finds the base entries, and those of environments only for the same header or label', () => {
  const [exact, prefix, regex] = [{ exact: 'pr-1' }, { prefix: 'pr' }, { regex: baggageRegex('pr-1') }];
  const inserted: readonly HttpMatch[] = [
    { headers: { 'x-env': exact } },
    { headers: { 'x-env': { exact: 'pr-2' } } },
    { headers: { 'x-env': prefix } },
    { headers: { baggage: regex } },
    { headers: { baggage: { regex: baggageRegex('pr-2') } } },
    { headers: { baggage: { exact: 'env=pr-1' } } },
    { sourceLabels: { team: 'blue' } },
    {},
  ];
  const entries = [entryOf({ headers: { user: exact } }), ...inserted.map((each) => entryOf(each, true)), entryOf({})];
  const index = new EntryIndex(entries);
  const concerning = (each: HttpMatch): readonly number[] => index.concerning(entryOf(each).literals);
  expect(concerning({ headers: { 'x-env': exact } })).toEqual([0, 1, 3, 8, 9]);
  expect(concerning({ headers: { 'x-env': prefix } })).toEqual([0, 1, 2, 3, 8, 9]);
  expect(concerning({ headers: { baggage: regex } })).toEqual([0, 4, 6, 8, 9]);
  expect(concerning({ headers: { baggage: { exact: 'env=pr-2' } } })).toEqual([0, 5, 8, 9]);
  expect(concerning({ sourceLabels: { team: 'blue' } })).toEqual([0, 7, 8, 9]);
});
