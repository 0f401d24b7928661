// Whether two environments match the same requests, compared with a naive matcher.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { IstioMatch } from '../../api/dynamicenv.ts';
import { baggageRegex } from '../baggage.ts';
import type { HeaderMatch } from '../istio/objects.ts';
import { matchesConditions } from '../testing/naive-routes.ts';
import { overlapOf } from './overlap.ts';

const user = (match: HeaderMatch): IstioMatch => ({ headers: { user: match } });
const from = (sourceLabels: Readonly<Record<string, string>>): IstioMatch => ({ sourceLabels });
const baggage = (regex: string): IstioMatch => ({ headers: { baggage: { regex } } });

test.each<[IstioMatch, IstioMatch, string | undefined, string | undefined]>([
  [user({ exact: 'abc' }), { headers: { User: { exact: 'abc' } } }, 'same', 'same'],
  [user({ regex: 'a|b' }), user({ regex: '[ab]' }), 'same', 'same'],
  [user({ exact: 'abc' }), { headers: { User: { prefix: 'ab' } } }, 'covered', 'overlapping'],
  [user({ exact: 'abc' }), { ...user({ exact: 'abc' }), sourceLabels: { app: 'x' } }, 'overlapping', 'covered'],
  [user({ exact: 'abc' }), user({ regex: '.*' }), 'covered', 'overlapping'],
  [user({ regex: '[a-z]+' }), user({ regex: '.*' }), 'covered', 'overlapping'],
  [user({ regex: 'bo+' }), user({ prefix: 'b' }), 'covered', 'overlapping'],
  [user({ regex: 'a.*' }), user({ regex: '.*b' }), 'overlapping', 'overlapping'],
  [user({ regex: 'a{600}' }), user({ regex: 'a{700}' }), 'undecided', 'undecided'],
  [user({ exact: 'abc' }), user({ exact: 'b' }), undefined, undefined],
  [user({ exact: 'abc' }), { headers: { other: { exact: 'abc' } } }, undefined, undefined],
  [user({ exact: 'abc' }), user({ regex: '[0-9]+' }), undefined, undefined],
  [user({ exact: 'abc' }), {}, undefined, undefined],
  [user({ exact: 'a' }), { headers: { user: { exact: 'a' }, team: { exact: 'x' } } }, 'overlapping', 'covered'],
  [
    { headers: { user: { exact: 'a' }, team: { exact: 'x' } } },
    { headers: { user: { exact: 'a' }, tier: { exact: 'y' } } },
    'overlapping',
    'overlapping',
  ],
  [from({ app: 'x' }), from({ app: 'x' }), 'same', 'same'],
  [from({ app: 'x' }), from({ app: 'y' }), undefined, undefined],
  [from({ app: 'x' }), from({ tier: 'y' }), undefined, undefined],
  [from({ app: 'x', tier: 'y' }), from({ app: 'x', team: 'z' }), 'overlapping', 'overlapping'],
  [
    { ...user({ exact: 'a' }), ...from({ app: 'x' }) },
    { ...user({ exact: 'a' }), ...from({ app: 'y' }) },
    undefined,
    undefined,
  ],
  [baggage(baggageRegex('a')), baggage(baggageRegex('a')), 'same', 'same'],
  [baggage(baggageRegex('a')), baggage(baggageRegex('ab')), undefined, undefined],
  [baggage(baggageRegex('a')), baggage('(.*,)?env=a(,.*)?'), 'overlapping', 'covered'],
  [baggage('(.*,)?env=a(,.*)?'), baggage('(.*,)?env=b(,.*)?'), undefined, undefined],
  [baggage(baggageRegex('a')), user({ exact: 'a' }), undefined, undefined],
])('overlapOf %j and %j is %s, and in reverse %s', (a, b, there, back) => {
  expect([overlapOf(a, b)?.relation, overlapOf(b, a)?.relation]).toEqual([there, back]);
});

test('the example of overlapOf matches both, with one value for each header', () => {
  const value: fc.Arbitrary<string> = fc.constantFrom('a', 'ab', 'abc', 'b');
  const condition = fc.oneof(
    fc.record({ exact: value }),
    fc.record({ prefix: value }),
    fc.record({ regex: fc.constantFrom('a.*', '.*b', 'ab?c?', '(?i)A.+') }),
  );
  const match: fc.Arbitrary<IstioMatch> = fc.record(
    {
      headers: fc.dictionary(fc.constantFrom('user', 'team'), condition, { maxKeys: 2 }),
      sourceLabels: fc.dictionary(fc.constantFrom('app', 'tier'), fc.constantFrom('x', 'y'), { maxKeys: 1 }),
    },
    { requiredKeys: [] },
  );
  const sent = fc.record({
    headers: fc.dictionary(fc.constantFrom('user', 'team'), value),
    labels: fc.dictionary(fc.constantFrom('app', 'tier'), fc.constantFrom('x', 'y') as fc.Arbitrary<string>),
  });
  let found = 0;
  fc.assert(
    fc.property(match, match, sent, (one, other, request) => {
      const whole = { namespace: '', path: '/', method: 'GET' };
      const isOf = (each: IstioMatch, of: typeof request): boolean => matchesConditions(each, { ...whole, ...of });
      const overlap = overlapOf(one, other);
      const [isOurs, isTheirs] = [isOf(one, request), isOf(other, request)];
      const names = Object.keys(one.headers ?? {}).filter((name) => other.headers?.[name] !== undefined);
      // A request that matches different headers carries two keys.
      expect(overlap === undefined && names.length > 0 && isOurs && isTheirs).toBe(false);
      fc.pre(overlap !== undefined);
      found++;
      const { headers = {}, source } = overlap.example!;
      const example = { headers: headers as Record<string, string>, labels: { ...source.labels } };
      expect([isOf(one, example), isOf(other, example)]).toEqual([true, true]);
      expect(overlap.relation === 'covered' && isOurs && !isTheirs).toBe(false);
      expect(overlap.relation === 'same' && isOurs !== isTheirs).toBe(false);
    }),
    { numRuns: 500, maxSkipsPerRun: 100 },
  );
  expect(found).toBe(500);
});
