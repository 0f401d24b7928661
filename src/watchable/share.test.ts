import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deepFreeze, jsonEqual } from './index.ts';
import { share } from './share.ts';

describe('share', () => {
  it('returns the previous value when both are equal', () => {
    const previous = { a: [1, { b: Number.NaN }], gone: undefined };
    expect(share(previous, { a: [1, { b: Number.NaN }], gone: undefined })).toBe(previous);
  });

  it('keeps equal sub-trees and changes neither argument', () => {
    const previous = deepFreeze({ meta: { name: 'a' }, list: [{ n: 1 }, { n: 2 }] });
    const next = deepFreeze({ meta: { name: 'a' }, list: [{ n: 1 }, { n: 3 }] });
    const shared = share(previous, next);
    expect(shared).toEqual(next);
    expect(shared.meta).toBe(previous.meta);
    expect(shared.list[0]).toBe(previous.list[0]);
    expect(shared.list[1]).toBe(next.list[1]);
  });

  it('returns the next value itself when nothing can be kept', () => {
    const next = { a: 2 };
    expect(share<object>({ a: 1, b: { c: 1 } }, next)).toBe(next);
  });

  it('compares cyclic values without sharing', () => {
    const cycle = (leaf: number): object => {
      const node: Record<string, unknown> = { leaf };
      node['left'] = node['right'] = node;
      return node;
    };
    const [previous, same, next] = [cycle(1), cycle(1), cycle(2)];
    expect(share(previous, same)).toBe(previous);
    expect(share(previous, next)).toBe(next);
  });

  it('always equals the next value, and is the previous one exactly when they are equal', () => {
    const value = fc.jsonValue({ maxDepth: 3 });
    fc.assert(
      fc.property(value, value, (previous, next) => {
        const shared = share<unknown>(previous, next);
        expect(jsonEqual(shared, next)).toBe(true);
        expect(Object.is(shared, previous)).toBe(jsonEqual(previous, next));
      }),
    );
  });
});
