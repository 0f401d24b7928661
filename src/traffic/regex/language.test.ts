// Answers about two regular expressions must hold for every value, and small expressions must always be decided.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matchesRegex } from './regex.ts';
import { commonBeginning, intersects, isSubset } from './language.ts';

describe('isSubset', () => {
  test.each([
    ['bo+', 'b.*', true],
    ['b.*', 'bo+', false],
    ['.*', '.*', true],
    ['.+', '.*', true],
    ['.*', '.+', false],
    ['[a-z]+', '(?i)[A-Z]+', true],
    ['(.*,)?env=alice(,.*)?', '.*env=al.*', true],
    ['(.*,)?env=alice(,.*)?', '(.*,)?env=bob(,.*)?', false],
    ['a|b|c', '[a-c]', true],
    ['(?:ab)*', '^(ab)*$', true],
    ['foo', '\\bfoo\\b', true],
    ['foo.*', '\\bfoo\\b.*', false],
    ['', 'a?', true],
    ['é+', '[^a]+', true],
    ['ж', 'a.*', false],
    ['ж|x', '[ж-я]|x', true],
    ['[ж-я]', '[а-л]', false],
    ['(?i)ж', 'ж', false],
  ])('of %s in %s: %s', (narrow, wide, is) => {
    expect(isSubset(narrow, wide)).toBe(is);
  });

  test('is undefined for expressions that are invalid or too large', () => {
    expect(isSubset('(', '.*')).toBeUndefined();
    expect(isSubset('a{600}', '.*')).toBeUndefined();
    expect(isSubset('(a|b)*a(a|b){12}', '(a|b)*b(a|b){12}')).toBe(false);
    expect(isSubset('(a|b)*a(a|b){12}', '(a|b)*a(a|b){12}|x')).toBeUndefined();
  });
});

test.each([
  ['a.*', '.*b', true],
  ['a.*', 'b.*', false],
  ['a+', '[^a]*', false],
  ['(?i)ALICE', 'al.*', true],
  ['a?ж+', '.*', true],
  ['[ж-м]', '[л-я]', true],
  ['a$b', '.*', false],
])('intersects %s and %s: %s', (one, other, is) => {
  expect([intersects(one, other), intersects(other, one)]).toEqual([is, is]);
});

const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '(?i:A)', '\\b', '^', '$', '\\w', 'ab');
const { regex } = fc.letrec<{ regex: string }>((tie) => ({
  regex: fc.oneof(
    { maxDepth: 3 },
    atom,
    fc.tuple(tie('regex'), tie('regex')).map(([a, b]) => `${a}${b}`),
    fc.tuple(tie('regex'), tie('regex')).map(([a, b]) => `(?:${a}|${b})`),
    fc.tuple(tie('regex'), fc.constantFrom('*', '+', '?')).map(([a, times]) => `(?:${a})${times}`),
  ),
}));
const values = ['', ...allTexts(['a', 'b', 'A', ' '], 4)];

test('isSubset and intersects are true of every short value', () => {
  let subsets = 0;
  let undecided = 0;
  fc.assert(
    fc.property(regex, regex, (one, other) => {
      const [subset, common] = [isSubset(one, other), intersects(one, other)];
      if (subset) subsets++;
      if (subset === undefined || common === undefined) undecided++;
      const fitting = values.filter((value) => matchesRegex(one, value));
      const [both, firstOnly] = [true, false].map((is) => fitting.some((value) => matchesRegex(other, value) === is));
      expect({ subset: subset === true && firstOnly, common: common === false && both }).toEqual({
        subset: false,
        common: false,
      });
    }),
    { numRuns: 300 },
  );
  expect(subsets).toBeGreaterThan(20);
  expect(undecided).toBe(0);
});

function allTexts(letters: readonly string[], length: number): string[] {
  if (length === 0) return [];
  const shorter = allTexts(letters, length - 1);
  return letters.flatMap((letter) => [letter, ...shorter.map((text) => letter + text)]);
}

test.each([
  ['/items/[0-9]+', '/items/'],
  ['/(users|uploads)/.*', '/u'],
  ['(/a/b|/a/c).*', '/a/'],
  ['.*\\.png', ''],
  ['/a?', '/'],
  ['/a', '/a'],
  ['(?i)/a', '/'],
  ['/a\\.b{2}c*', '/a.bb'],
  ['/é', '/'],
  ['(a+)+', 'a'],
  ['(', ''],
])('commonBeginning of %s is %j', (regex, beginning) => {
  expect(commonBeginning(regex)).toBe(beginning);
});
