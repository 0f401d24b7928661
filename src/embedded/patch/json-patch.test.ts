import { deepFreeze } from '../../watchable/index.ts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PatchError } from './errors.ts';
import { applyJsonPatch } from './json-patch.ts';
import type { JsonObject } from './json.ts';
import { refusal } from './testdata/support.ts';

const document = deepFreeze({ a: { b: 1 }, list: ['x', 'y'], 'we/ird~key': 0, nothing: null });

function patched(...operations: JsonObject[]): JsonObject {
  return applyJsonPatch(document, deepFreeze(operations));
}

function refused(...operations: JsonObject[]): PatchError {
  return refusal(() => patched(...operations));
}

describe('JSON patch', () => {
  test.each([
    ['add to an object', [{ op: 'add', path: '/a/c', value: 2 }], { a: { b: 1, c: 2 } }],
    ['add replaces a key', [{ op: 'add', path: '/a/b', value: 2 }], { a: { b: 2 } }],
    ['add without a value adds null', [{ op: 'add', path: '/a/c' }], { a: { b: 1, c: null } }],
    ['insert into a list', [{ op: 'add', path: '/list/1', value: 'n' }], { list: ['x', 'n', 'y'] }],
    ['append to a list', [{ op: 'add', path: '/list/-', value: 'n' }], { list: ['x', 'y', 'n'] }],
    ['insert at the end by number', [{ op: 'add', path: '/list/2', value: 'n' }], { list: ['x', 'y', 'n'] }],
    ['count from the end', [{ op: 'replace', path: '/list/-1', value: 'n' }], { list: ['x', 'n'] }],
    ['remove an item', [{ op: 'remove', path: '/list/0' }], { list: ['y'] }],
    ['replace creates a key', [{ op: 'replace', path: '/a/new', value: 1 }], { a: { b: 1, new: 1 } }],
    ['unescape a pointer', [{ op: 'replace', path: '/we~1ird~0key', value: 1 }], { 'we/ird~key': 1 }],
    ['move', [{ op: 'move', from: '/a/b', path: '/list/0' }], { a: {}, list: [1, 'x', 'y'] }],
    ['copy', [{ op: 'copy', from: '/list', path: '/a/b' }], { a: { b: ['x', 'y'] } }],
    [
      'test, then change',
      [
        { op: 'test', path: '/a', value: { b: 1 } },
        { op: 'remove', path: '/a/b' },
      ],
      { a: {} },
    ],
    ['null equals absent in a test', [{ op: 'test', path: '/a/none', value: null }], {}],
  ])('%s', (_, operations, changes) => {
    expect(patched(...operations)).toEqual({ ...document, ...changes });
  });

  test('replaces the whole document', () => {
    expect(patched({ op: 'replace', path: '', value: { new: true } })).toEqual({ new: true });
    expect(refused({ op: 'replace', path: '', value: 1 }).message).toContain('must be object or array');
    expect(refused({ op: 'replace', path: '', value: [] }).message).toContain('must be an object');
  });

  test.each([
    ['index past the end', { op: 'add', path: '/list/3', value: 1 }, '/list/3'],
    ['index before the start', { op: 'remove', path: '/list/-3' }, '/list/-3'],
    ['index that is not a number', { op: 'add', path: '/list/one', value: 1 }, 'one'],
    ['replace at index -', { op: 'replace', path: '/list/-', value: 1 }, '/list/-'],
    ['remove a missing key', { op: 'remove', path: '/a/none' }, '/a/none'],
    ['remove below a missing key', { op: 'remove', path: '/none/b' }, '/none/b'],
    ['add below a scalar', { op: 'add', path: '/a/b/c', value: 1 }, '/a/b/c'],
    ['add below null', { op: 'add', path: '/nothing/b', value: 1 }, '/nothing/b'],
    ['move from a missing key', { op: 'move', from: '/none', path: '/a' }, '/none'],
    ['pointer without a slash', { op: 'add', path: 'a/b', value: 1 }, '"a/b"'],
    ['unknown operation', { op: 'merge', path: '/a' }, 'merge'],
    ['no path', { op: 'add', value: 1 }, 'path'],
    ['no from', { op: 'copy', path: '/a' }, 'from'],
  ])('refuses: %s', (_, operation, mention) => {
    const error = refused(operation);
    expect(error).toMatchObject({ code: 422, reason: 'Invalid' });
    expect(error.message).toContain(mention);
  });

  test('names the path of a failed test', () => {
    const error = refused({ op: 'test', path: '/a/b', value: 2 });
    expect(error).toMatchObject({ code: 422, reason: 'Invalid', message: 'testing value /a/b failed: test failed' });
  });

  test('refuses a body that is not a list of operations', () => {
    expect(refusal(() => applyJsonPatch(document, {}))).toMatchObject({ code: 400 });
    expect(refusal(() => applyJsonPatch(document, [1]))).toMatchObject({ code: 400 });
  });

  test('refuses more than 10000 operations and copies beyond 3 MiB', () => {
    const many = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/a/b', value: 1 }));
    expect(refused(...many)).toMatchObject({ code: 413 });
    const doubling = Array.from({ length: 25 }, (_, index) => ({ op: 'copy', from: '/a', path: `/a/${index}` }));
    expect(refused(...doubling).message).toContain('exceeding the limit 3145728');
  });

  test('treats keys of Object.prototype as ordinary keys', () => {
    expect(refused({ op: 'remove', path: '/constructor' }).message).toContain('constructor');
    const added = patched({ op: 'add', path: '/__proto__', value: { polluted: true } });
    expect(Object.keys(added)).toContain('__proto__');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test('preserves big integers and shares unchanged parts', () => {
    const big = deepFreeze({ a: { id: 2n ** 60n }, b: { c: 1 } });
    const result = applyJsonPatch(big, [
      { op: 'test', path: '/a/id', value: 2n ** 60n },
      { op: 'copy', from: '/a/id', path: '/b/id' },
    ]);
    expect(result).toEqual({ a: { id: 2n ** 60n }, b: { c: 1, id: 2n ** 60n } });
    expect(result['a']).toBe(big.a);
  });

  test('changes nothing when the last operation fails', () => {
    const operation = fc.oneof(
      fc.record({ op: fc.constant('add'), path: fc.constantFrom('/a/x', '/list/-', '/new'), value: fc.jsonValue() }),
      fc.record({ op: fc.constant('replace'), path: fc.constantFrom('/a/b', '/list/0'), value: fc.jsonValue() }),
    );
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 5 }), (operations) => {
        const before = structuredClone(document);
        refused(...operations, { op: 'test', path: '/a/never', value: 'there' });
        expect(document).toEqual(before);
      }),
    );
  });
});
