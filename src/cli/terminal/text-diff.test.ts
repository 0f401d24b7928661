import { expect, test } from 'vitest';
import { textDiff } from './text-diff.ts';

test('textDiff shows the lines that differ in a file', () => {
  const before = 'a: 1\nb: 2\nc:\n  d: 3\n';
  expect(textDiff(before, 'a: 1\nb: 3\nc:\n  d: 3\n  e: 4\n')).toEqual(['- b: 2', '+ b: 3', '+   e: 4']);
  expect(textDiff(before, before)).toEqual([]);
});

test('textDiff shows the fields that differ in JSON', () => {
  const before = { global: { tag: '1.30.0', hub: 'h' }, list: [{ a: 1 }], gone: true };
  const after = { global: { tag: '1.31.0', hub: 'h' }, list: [{ a: 1 }, { a: 2 }], more: {} };
  expect(textDiff(JSON.stringify(before), JSON.stringify(after))).toEqual([
    '~ global.tag: "1.30.0" → "1.31.0"',
    '- gone: true',
    '+ list[1].a: 2',
    '+ more: {}',
  ]);
});

test.each([
  ['short', 'a', 'b'],
  ['broken JSON', '{"a":', '{"a":1}'],
  ['very long', 'x\n'.repeat(5000), 'y\n'.repeat(5000)],
])('textDiff has no diff for a text that is %s', (_what, before, after) => {
  expect(textDiff(before, after)).toBeUndefined();
});
