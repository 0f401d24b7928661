import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonEqual } from './index.ts';

const bare = (fields: object): object => Object.assign(Object.create(null) as object, fields);
class Point {
  x = 1;
}

describe('jsonEqual', () => {
  const equal: [string, unknown, unknown][] = [
    ['undefined and absent properties', { a: 1, b: undefined }, { a: 1 }],
    ['another key order', { a: 1, b: 2 }, { b: 2, a: 1 }],
    ['NaN', Number.NaN, Number.NaN],
    ['negative zero', { n: -0 }, { n: 0 }],
    ['objects without a prototype', bare({ a: 1 }), { a: 1 }],
    ['a Date and its ISO string', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
    ['two equal Dates', new Date(5), new Date(5)],
    ['an instance and its fields', new Point(), { x: 1 }],
    ['objects of another realm', runInNewContext('({ a: [1, { b: 2 }] })'), { a: [1, { b: 2 }] }],
    ['bigints', { n: 10n }, { n: 10n }],
  ];
  it.each(equal)('holds for %s', (_name, a, b) => {
    expect([jsonEqual(a, b), jsonEqual(b, a)]).toEqual([true, true]);
  });

  const different: [string, unknown, unknown][] = [
    ['another list order', [1, 2], [2, 1]],
    ['an empty list and none', { a: [] }, {}],
    ['null and absent', { a: null }, {}],
    ['a list and an object', [], {}],
    ['a bigint and a number', 1n, 1],
    ['different Dates', new Date(1), new Date(2)],
    ['Maps with different content', new Map([[1, 1]]), new Map([[1, 2]])],
    ['Sets with different content', new Set([1]), new Set([2])],
    ['bytes with different content', new Uint8Array([1]), new Uint8Array([2])],
    ['an inherited name', { constructor: 1 }, {}],
    ['an own __proto__', JSON.parse('{"__proto__":{}}'), { x: 1 }],
    ['different functions', () => 1, () => 1],
    ['one more property', { a: 1 }, { a: 1, b: 1 }],
  ];
  it.each(different)('does not hold for %s', (_name, a, b) => {
    expect([jsonEqual(a, b), jsonEqual(b, a)]).toEqual([false, false]);
  });

  it('copes with cycles, however they branch', () => {
    const cycle = (leaf: number): object => {
      const node: Record<string, unknown> = { leaf };
      node['left'] = { up: node };
      node['right'] = { up: node };
      return node;
    };
    expect(jsonEqual(cycle(1), cycle(1))).toBe(true);
    expect(jsonEqual(cycle(1), cycle(2))).toBe(false);
  });

  it('agrees with serialising, for everything JSON can hold', () => {
    const canonical = (value: unknown): string =>
      JSON.stringify(value, (_name, inner: unknown) =>
        typeof inner === 'object' && inner !== null && !Array.isArray(inner)
          ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
          : inner,
      );
    const small = fc.jsonValue({ maxDepth: 3 });
    fc.assert(
      fc.property(small, small, (a, b) => {
        expect(jsonEqual(a, b)).toBe(canonical(a) === canonical(b));
        expect(jsonEqual(a, JSON.parse(JSON.stringify(a)))).toBe(true);
      }),
    );
  });
});
