import { assert, jsonValue, property } from 'fast-check';
import { expect, test } from 'vitest';
import { duplicateFields } from './duplicate-fields.ts';

test('repeated fields are named by their path, in the order of the text', () => {
  const text = '{"a": {"b":1, "b":[{"c":"{\\"c\\":", "c" : 2}]}, "d":[{"e":1},{"e":1,"e":{}}], "a":0}';
  expect(duplicateFields(text)).toEqual(['a.b', 'a.b[0].c', 'd[1].e', 'a']);
});

test('what has no repetition has none, whatever its strings hold', () => {
  assert(
    property(jsonValue(), (value) => {
      expect(duplicateFields(JSON.stringify(value))).toEqual([]);
    }),
  );
});
