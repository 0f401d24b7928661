// The index finds the same routes as a search through all of them.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { baggageRegex } from '../../traffic/baggage.ts';
import type { HttpMatch, HttpRoute } from '../../traffic/istio/objects.ts';
import { indexInserted, keyHeaders } from './inserted-index.ts';
import type { KeyHeaders } from './inserted-index.ts';

const value = fc.constantFrom({ exact: 'a' }, { exact: 'b' }, { prefix: 'a' }, { regex: baggageRegex('a') }, {});
const headers = fc.dictionary(fc.constantFrom('x-env', 'user', 'baggage'), value, { maxKeys: 2 });
const match: fc.Arbitrary<HttpMatch> = fc.record({ headers });
const name = fc
  .tuple(fc.constantFrom('shop-a', 'shop-a-b', 'shop-b'), fc.constantFrom('cart', 'b-cart'))
  .map(([version, workload]) => `dynamic-environment-${version}-${workload}-0123456789`);
const route: fc.Arbitrary<HttpRoute> = fc.record({ name, match: fc.array(match, { maxLength: 2 }) });
const routes = fc.array(fc.option(route, { nil: undefined }), { maxLength: 8 });

function indexOf(all: readonly (HttpRoute | undefined)[]): ReturnType<typeof indexInserted> {
  return indexInserted(all.map((each) => each && { route: each, asked: (each.match ?? []).map(keyHeaders) }));
}

/** Whether some requests with headers may fit a match entry. */
function mayFit(entry: KeyHeaders, own: KeyHeaders, base: ReadonlySet<string>): boolean {
  return [...entry].every(([header, { exact, key }]) => {
    const { exact: value, key: held } = own.get(header) ?? {};
    const isOther = [
      [exact, value],
      [key, held],
    ].some(([one, other]) => one !== undefined && other !== undefined && one !== other);
    return (own.has(header) || base.has(header)) && !isOther;
  });
}

test('asking finds the routes that may take requests with some headers', () => {
  fc.assert(
    fc.property(routes, headers, fc.uniqueArray(fc.constantFrom('x-env', 'user')), (all, own, names) => {
      const [requested, base] = [keyHeaders({ headers: own }), new Set(names)];
      const expected = [...all.keys()].filter((at) => {
        const entries = all[at]?.match?.map(keyHeaders);
        return entries !== undefined && (entries.length === 0 || entries.some((each) => mayFit(each, requested, base)));
      });
      const found = indexOf(all).asking(requested, base);
      expect([...new Set(found)].sort((a, b) => a - b)).toEqual(expected);
    }),
  );
});

test('named finds the routes of a version by their names', () => {
  fc.assert(
    fc.property(routes, fc.constantFrom('shop-a', 'shop-b', 'shop'), (all, version) => {
      const expected = [...all.keys()].filter((at) => all[at]?.name?.startsWith(`dynamic-environment-${version}-`));
      expect(
        indexOf(all)
          .named(version)
          .toSorted((a, b) => a - b),
      ).toEqual(expected);
    }),
  );
});
