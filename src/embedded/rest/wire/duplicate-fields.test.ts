import { assert, jsonValue, property } from 'fast-check';
import { expect, test } from 'vitest';
import { duplicateFields } from './duplicate-fields.ts';

test('duplicateFields returns the paths of repeated fields, in the order of the text', () => {
  const text = '{"a": {"b":1, "b":[{"c":"{\\"c\\":", "c" : 2}]}, "d":[{"e":1},{"e":1,"e":{}}], "a":0}';
  expect(duplicateFields(text)).toEqual(['a.b', 'a.b[0].c', 'd[1].e', 'a']);
});

test('duplicateFields finds nothing in JSON without repeated fields, whatever its strings contain', () => {
  assert(
    property(jsonValue(), (value) => {
      expect(duplicateFields(JSON.stringify(value))).toEqual([]);
    }),
  );
});
