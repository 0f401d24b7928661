import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { frozenCopy } from './freeze.ts';
import { deepFreeze, freezeParsed } from './index.ts';

function isDeeplyFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isDeeplyFrozen);
}

class Secret {
  #hidden = 1;
  reveal = (): number => this.#hidden;
}

describe('deepFreeze', () => {
  it('freezes any JSON value in place, and a frozen copy equals it and shares nothing', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = JSON.stringify(value);
        const copy = frozenCopy(value);
        expect(copy).toEqual(value);
        expect(copy === value).toBe(typeof value !== 'object' || value === null);
        expect(deepFreeze(value)).toBe(value);
        expect([isDeeplyFrozen(value), isDeeplyFrozen(copy), JSON.stringify(value)]).toEqual([true, true, text]);
      }),
    );
  });

  it('has a faster variant for the output of a parser, which freezes all of it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = JSON.stringify(value);
        const parsed: unknown = JSON.parse(text);
        expect(freezeParsed(parsed)).toBe(parsed);
        expect([isDeeplyFrozen(parsed), JSON.stringify(parsed)]).toEqual([true, text]);
      }),
    );
  });

  it.each([null, undefined, 1, 'text', true, 10n, Symbol.iterator])('accepts the primitive %s', (value) => {
    expect(deepFreeze({ value }).value).toBe(value);
    expect(deepFreeze(value)).toBe(value);
  });

  it('does not descend into values that are already frozen', () => {
    const inner = { open: {} };
    deepFreeze({ inner: Object.freeze(inner) });
    expect(Object.isFrozen(inner.open)).toBe(false);
  });

  it('accepts objects of another realm and without a prototype', () => {
    const foreign = runInNewContext('({ list: [{}] })') as { list: object[] };
    expect(isDeeplyFrozen(deepFreeze(foreign))).toBe(true);
    expect(Object.isFrozen(deepFreeze(Object.create(null) as object))).toBe(true);
  });

  it('terminates on cycles, and on sub-trees shared so often that walking every path would not end', () => {
    let shared: object = {};
    for (let level = 0; level < 60; level++) shared = { left: shared, right: shared };
    const cycle: Record<string, unknown> = { shared };
    cycle['again'] = [cycle, cycle];
    const copy = frozenCopy(cycle);
    expect((copy['again'] as unknown[])[1]).toBe(copy);
    deepFreeze(cycle);
    expect(Object.isFrozen(cycle['again'])).toBe(true);
  });

  const unsupported: [string, unknown, RegExp][] = [
    ['Date', { spec: { at: new Date(0) } }, /^value\.spec\.at is a Date, .*ISO string/],
    ['Map', [{}, { 'a b': new Map() }], /^value\[1\]\["a b"\] is a Map/],
    ['Set', { set: new Set() }, /^value\.set is a Set/],
    ['Buffer', { bytes: Buffer.from('a') }, /^value\.bytes is a Buffer/],
    ['typed array', { bytes: new Uint8Array(1) }, /^value\.bytes is a Uint8Array/],
    ['class instance', { secret: new Secret() }, /^value\.secret is a Secret/],
    ['function', { run: () => 1 }, /^value\.run is a function/],
    ['root', new Date(0), /^value is a Date/],
    ['frozen Date', { at: Object.freeze(new Date(0)) }, /^value\.at is a Date/],
  ];
  it.each(unsupported)('rejects a %s, names its path, and freezes nothing', (_name, value, message) => {
    const wasFrozen = Object.isFrozen(value);
    for (const isolate of [deepFreeze, deepFreeze, frozenCopy]) {
      expect(() => isolate(value)).toThrow(TypeError);
      expect(() => isolate(value)).toThrow(message);
    }
    expect(Object.isFrozen(value)).toBe(wasFrozen);
  });

  it('keeps a property named __proto__ a property', () => {
    const copy = frozenCopy(JSON.parse('{"__proto__":{"a":1}}') as object);
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"a":1}}');
  });
});
