import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareVersions } from './versions.ts';

test('decimal versions of any length are ordered as numbers', () => {
  const version = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 70n }), fc.bigInt({ min: 0n, max: 20n }));
  fc.assert(
    fc.property(version, version, (a, b) => {
      const wanted = a < b ? -1 : a > b ? 1 : 0;
      expect(Math.sign(compareVersions(String(a), String(b))!)).toBe(wanted);
    }),
  );
});

test.each([
  ['1', undefined],
  [undefined, '1'],
  ['1', ''],
  ['a', '1'],
  ['1', '-1'],
  ['01', '1'],
])('%j and %j cannot be compared', (a, b) => {
  expect(compareVersions(a, b)).toBeUndefined();
});
