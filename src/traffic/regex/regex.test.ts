// Which regular expressions Envoy refuses, and what they match. A real Envoy refused those in the first list.
import { expect, test } from 'vitest';
import { matchesRegex, regexProblem } from './regex.ts';

/** Every second letter from U+00C0 to U+013E. Their cases and the letters between them make one range. */
const LETTERS = Array.from({ length: 64 }, (_none, i) => String.fromCodePoint(0xc0 + 2 * i)).join('');

const BYTES =
  'some proxies read bytes, and a range in brackets ends before it begins: put `-` last, and letters beyond ASCII instead of escapes';

test.each([
  ['(', 'missing closing ): `(`'],
  ['([', 'missing closing ]: `[`'],
  ['*a', 'missing argument to repetition operator: `*`'],
  ['a\\', 'trailing backslash at end of expression'],
  ['a(?=b)', 'invalid or unsupported Perl syntax: `(?=`'],
  ['(?<!a)b', 'invalid named capture: `(?<!a)b`'],
  ['(a)\\1', 'invalid escape sequence: `\\1`'],
  ['a{1,2000}', 'invalid repeat count: `{1,2000}`'],
  ['a{1000}'.repeat(40), 'it is too large once its repetitions are expanded'],
  ['(?:中){1000}'.repeat(11), 'it is too large once its repetitions are expanded'],
  [String.raw`a\x{100}`, 'invalid escape sequence: `\\x{100}`: it is more than one byte'],
  [String.raw`[\x{0}-\x{10FFFF}]`, 'invalid escape sequence: `\\x{10FFFF}`: it is more than one byte'],
  [String.raw`\400`, 'invalid escape sequence: `\\400`: it is more than one byte'],
  [String.raw`\p{^Greek}{1000}`, 'it is too large once its repetitions are expanded'],
  [String.raw`\p{Latin}(?i-s){999}`, 'it is too large once its repetitions are expanded'],
  [String.raw`\pL\Q\E{999}`, 'it is too large once its repetitions are expanded'],
  [String.raw`(?:\P{Cf}|\S|(?s:.)){0,347}`, 'it is too large once its repetitions are expanded'],
  [String.raw`(?:\b中\b){1000}`.repeat(8), 'it is too large once its repetitions are expanded'],
  [String.raw`(?:\b*中){1000}`.repeat(6), 'it is too large once its repetitions are expanded'],
  ['(?:中+){1000}'.repeat(7), 'it is too large once its repetitions are expanded'],
  ['(?:中{00}){1000}'.repeat(6), 'it is too large once its repetitions are expanded'],
  ['(?:k+|){1000}'.repeat(8), 'it is too large once its repetitions are expanded'],
  ['(?:(?:a{999}){0}){2}', 'invalid repeat count: `{2}`'],
  [`[${LETTERS}]{400}`, 'it is too large once its repetitions are expanded'],
  [`(?i:a)[${LETTERS}]{400}`, 'it is too large once its repetitions are expanded'],
  ['a'.repeat(1_025), '1025 bytes are more than 1024'],
  [String.raw`\p{Uppercase}.*`, 'not every proxy knows the character class `\\p{Uppercase}`: write \\p{Lu}'],
  [String.raw`[^\P{White_Space}]`, 'not every proxy knows the character class `\\P{White_Space}`: write \\S'],
  [String.raw`\p{^Ascii}`, 'not every proxy knows the character class `\\p{^Ascii}`: write [[:^ascii:]]'],
  [
    String.raw`(?i)[a\p{Kawi}]`,
    'not every proxy knows the character class `\\p{Kawi}`: write a general category or a script of Unicode 13, such as \\p{L} or \\p{Greek}',
  ],
  ['[а-я-_]+', BYTES],
  [String.raw`[\xe0-ž]`, BYTES],
  ['a((?<name>b))', 'not every proxy knows the group `(?<name>`: write `(?P<name>`'],
])('regexProblem refuses %s', (regex, problem) => {
  expect(regexProblem(regex)).toBe(problem);
  expect(matchesRegex(regex, 'a')).toBe(false);
});

test.each([
  String.raw`\x{ff}\377`,
  String.raw`\Q\x{100}\E`,
  String.raw`\\x{5}`,
  '.*',
  'a{1,1000}',
  '(?i)alice',
  '(?P<name>a|b)',
  '[[:alpha:]]+',
  '\\pL',
  String.raw`\p{^L}[\P{Greek}\p{Any}]`,
  String.raw`\Q\p{Emoji}(?<name>\E\\p{Emoji}`,
  '[(?<name>[:alpha:](?<]',
  '[^](?<name>]',
  String.raw`\(?<name>`,
  String.raw`\pL{20}`,
  String.raw`\p{L}{1,20}`,
  '[^/]{1000}',
  '[^/]{1,1000}/[^/]{1,1000}',
  '(?i)k{1000}',
  '(?:[^/,;]+,){500}',
  '(?:a|b|c|d|e){1000}',
  '(?:(?:a{5}){0}){200}',
  'a{1000}'.repeat(32),
  'ä*',
  '[а-яё_-]+',
  '[À-ž\\-_]',
  '',
])('regexProblem accepts %s', (regex) => {
  expect(regexProblem(regex)).toBeUndefined();
});

test('a regular expression matches the whole value, and flags apply', () => {
  expect(matchesRegex('a', 'ab')).toBe(false);
  expect(matchesRegex('a|ab', 'ab')).toBe(true);
  expect(matchesRegex('(?i)alice', 'ALICE')).toBe(true);
});
