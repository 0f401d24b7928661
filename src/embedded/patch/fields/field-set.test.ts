import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fieldElement, keyElement, parseElement, pathText, sortedElements, valueElement } from './field-path.ts';
import {
  difference,
  fieldPaths,
  fieldSetOf,
  fromFieldsV1,
  intersection,
  isEmpty,
  NO_FIELDS,
  toFieldsV1,
  union,
  type FieldSet,
} from './field-set.ts';

const elements = fc.oneof(
  fc.constantFrom('a', 'b', 'c').map(fieldElement),
  fc.constantFrom('x', 'y', 1, 2n ** 60n, true).map(valueElement),
  fc.record({ name: fc.constantFrom('x', 'y') }).map(keyElement),
);
const sets = fc
  .array(fc.array(elements, { minLength: 1, maxLength: 3 }), { maxLength: 12 })
  .map((paths) => fieldSetOf(...paths));

function texts(set: FieldSet): string[] {
  return [...fieldPaths(set)].map(pathText);
}

const laws: Record<string, (a: FieldSet, b: FieldSet, c: FieldSet) => [FieldSet, FieldSet]> = {
  'union commutes': (a, b) => [union(a, b), union(b, a)],
  'union associates': (a, b, c) => [union(union(a, b), c), union(a, union(b, c))],
  'union with itself is itself': (a) => [union(a, a), a],
  'union with nothing is itself': (a) => [union(a, NO_FIELDS), a],
  'intersection commutes': (a, b) => [intersection(a, b), intersection(b, a)],
  'intersection distributes over union': (a, b, c) => [
    intersection(a, union(b, c)),
    union(intersection(a, b), intersection(a, c)),
  ],
  'difference and intersection add up to the first set': (a, b) => [union(difference(a, b), intersection(a, b)), a],
  'the difference of a union equals successive differences': (a, b, c) => [
    difference(a, union(b, c)),
    difference(difference(a, b), c),
  ],
};

describe('field sets', () => {
  test.each(Object.entries(laws))('%s', (_, law) => {
    fc.assert(
      fc.property(sets, sets, sets, (a, b, c) => {
        const [left, right] = law(a, b, c);
        expect(texts(left)).toEqual(texts(right));
      }),
    );
  });

  test('a difference contains exactly the paths that are only in the first set', () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        const taken = new Set(texts(b));
        expect(texts(difference(a, b))).toEqual(texts(a).filter((path) => !taken.has(path)));
        expect(isEmpty(difference(a, a))).toBe(true);
      }),
    );
  });

  test('FieldsV1 is parsed back to the same set', () => {
    fc.assert(
      fc.property(sets, (set) => {
        const stored = JSON.parse(JSON.stringify(toFieldsV1(set))) as unknown;
        expect(texts(fromFieldsV1(stored))).toEqual(texts(set));
      }),
    );
  });

  test('FieldsV1 is formatted like in Kubernetes', () => {
    const set = fieldSetOf(
      ['f:metadata', 'f:labels'],
      ['f:metadata', 'f:labels', 'f:app'],
      ['f:spec', 'f:ports', 'k:{"port":443,"protocol":"TCP"}'],
      ['f:spec', 'f:ports', 'k:{"port":80,"protocol":"TCP"}'],
      ['f:metadata', 'f:finalizers', 'v:"a/b"'],
    );
    expect(JSON.stringify(toFieldsV1(set))).toBe(
      JSON.stringify({
        'f:metadata': { 'f:finalizers': { 'v:"a/b"': {} }, 'f:labels': { '.': {}, 'f:app': {} } },
        'f:spec': { 'f:ports': { 'k:{"port":80,"protocol":"TCP"}': {}, 'k:{"port":443,"protocol":"TCP"}': {} } },
      }),
    );
  });

  test('elements are normalised, and unknown kinds are skipped', () => {
    expect(parseElement('k:{ "b": 1, "a": "x" }')).toBe('k:{"a":"x","b":1}');
    expect(parseElement('v:"a\\u003cb"')).toBe(valueElement('a<b'));
    expect(texts(fromFieldsV1({ 'z:later': {}, 'f:a': { 'i:0': {} } }))).toEqual(['.a[0]']);
  });

  test.each(['f', 'spec', 'k:{', 'k:1', 'v:', 'i:x'])('refuses the element %j', (element) => {
    expect(() => fromFieldsV1({ [element]: {} })).toThrow(SyntaxError);
  });

  test('paths are formatted like in messages of the API server', () => {
    const path = ['f:spec', keyElement({ protocol: 'TCP', containerPort: 80 }), 'f:x', valueElement('v'), 'i:3'];
    expect(pathText(path)).toBe('.spec[containerPort=80,protocol="TCP"].x[="v"][3]');
  });

  test('elements have a total order', () => {
    fc.assert(
      fc.property(elements, elements, (left, right) => {
        expect(sortedElements([left, right])).toEqual(sortedElements([right, left]));
      }),
    );
  });
});
