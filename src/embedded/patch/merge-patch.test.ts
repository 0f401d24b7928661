import { deepFreeze } from '../../watchable/index.ts';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from './json.ts';
import { applyMergePatch } from './merge-patch.ts';
import { refusal } from './testdata/support.ts';

function patched(document: JsonObject, patch: unknown): JsonObject {
  return applyMergePatch(deepFreeze(document), deepFreeze(patch));
}

describe('merge patch', () => {
  test.each([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    [{ a: 1 }, { a: { b: null, c: 2 } }, { a: { c: 2 } }],
    [{}, { a: [{ b: null }, null] }, { a: [{}, null] }],
  ])('%j with %j is %j', (document, patch, expected) => {
    expect(patched(document, patch)).toEqual(expected);
  });

  test('refuses a patch that is not an object', () => {
    for (const patch of [[], 'text', 1, null]) {
      expect(refusal(() => patched({}, patch))).toMatchObject({ code: 400, reason: 'BadRequest' });
    }
  });

  test('shares unchanged parts', () => {
    const document = deepFreeze({ a: { b: [1] }, c: { d: 1 } });
    expect(patched(document, { a: { b: [1] }, none: null })).toBe(document);
    expect(patched(document, { c: { d: 2 } })['a']).toBe(document.a);
  });
});
