import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matchesConditions } from '../testing/naive-routes.ts';
import type { HeaderMatch, HttpMatch, HttpRoute } from './objects.ts';
import { takerOf } from './shadow.ts';

const user = (condition: HeaderMatch, more: HttpMatch = {}): HttpMatch => ({ headers: { user: condition }, ...more });
const route = (...match: readonly HttpMatch[]): HttpRoute => ({ match });

describe('earlier routes take all requests of a match together if', () => {
  test.each<[string, readonly HttpRoute[], HttpMatch]>([
    [
      'their regular expressions share its values among them',
      [route(user({ regex: 'a[a-m].*' })), route(user({ regex: 'a[^a-m].*|a' }))],
      user({ prefix: 'a' }),
    ],
    [
      'they are entries of one route',
      [route(user({ regex: '[ab].*' }), user({ regex: '[^ab].*' }), user({ exact: '' }))],
      user({}),
    ],
    [
      'their other conditions are those of the match',
      [route(user({ regex: 'x|y' }, { uri: { prefix: '/' } })), route({ headers: { User: { exact: 'z' } } })],
      user({ regex: 'x|y|z' }, { uri: { prefix: '/a' } }),
    ],
  ])('%s', (_title, earlier, match) => {
    expect(takerOf(earlier, [match])).toEqual({ route: earlier[0], isCertain: true });
  });
});

describe('a match keeps requests if', () => {
  test.each<[string, readonly HttpRoute[], HttpMatch]>([
    [
      'a value is left',
      [route(user({ regex: 'a[a-m].*' })), route(user({ regex: 'a[^a-m].*' }))],
      user({ prefix: 'a' }),
    ],
    [
      'one of the earlier routes asks for another header',
      [route(user({ exact: 'x' })), route({ headers: { user: { exact: 'y' }, beta: { exact: 'yes' } } })],
      user({ regex: 'x|y' }),
    ],
    [
      'one of the earlier routes asks for another path',
      [route(user({ exact: 'x' })), route(user({ exact: 'y' }, { uri: { exact: '/' } }))],
      user({ regex: 'x|y' }),
    ],
  ])('%s', (_title, earlier, match) => {
    expect(takerOf(earlier, [match])).toBeUndefined();
  });
});

test('takerOf is certain only if every value goes to an earlier route', () => {
  const values = ['a', 'b', 'aa', 'ab', 'ba', 'bb', ''];
  const condition = fc.oneof(
    fc.record({ regex: fc.constantFrom('a.*', '.*a', '.*b', 'b.*', 'ab?', 'a|b', '..', '.+') }),
    fc.record({ prefix: fc.constantFrom('a', 'b') }),
    fc.record({ exact: fc.constantFrom('a', 'ab') }),
  );
  let together = 0;
  fc.assert(
    fc.property(fc.array(condition, { minLength: 1, maxLength: 4 }), condition, (conditions, narrow) => {
      const earlier = conditions.map((each) => route(user(each)));
      const isTaken = takerOf(earlier, [user(narrow)])?.isCertain === true;
      if (!isTaken) return;
      if (!earlier.some((each) => takerOf([each], [user(narrow)])?.isCertain)) together++;
      for (const value of values) {
        const request = { headers: { user: value }, labels: {}, namespace: 'shop', path: '/', method: 'GET' };
        if (!matchesConditions(user(narrow), request)) continue;
        expect(conditions.some((each) => matchesConditions(user(each), request))).toBe(true);
      }
    }),
    { numRuns: 1_000 },
  );
  expect(together).toBeGreaterThan(0);
});
