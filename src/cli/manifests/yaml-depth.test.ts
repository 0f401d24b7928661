import { expect, test } from 'vitest';
import { tooDeepJson, tooDeepYaml } from './yaml-depth.ts';

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

test.each([
  ['a hundred levels', nested(100)],
  ['brackets in quotes', `"${'['.repeat(500)}"`],
])('%s are accepted', (_what, text) => {
  expect([tooDeepYaml(text), tooDeepJson(text)]).toEqual([undefined, undefined]);
});

test.each([
  ['brackets in a block scalar', `a: |\n${'  [\n'.repeat(500)}`],
  ['brackets in a comment', `a: 1 # ${'['.repeat(500)}`],
  ['a long list', '- [a, {b: c}]\n'.repeat(500)],
  ['dashes in a scalar', `a: ${'b - - '.repeat(500)}`],
])('%s do not count as nesting in YAML', (_what, text) => {
  expect(tooDeepYaml(text)).toBeUndefined();
});

test('one level too many is reported with its offset', () => {
  expect([tooDeepYaml(nested(101)), tooDeepJson(nested(101))]).toEqual([100, 100]);
  expect(tooDeepYaml(`a: "["\nb: ${nested(101)}`)).toBe(7 + 3 + 100);
  expect(tooDeepYaml('- '.repeat(101))).toBe(200);
});
