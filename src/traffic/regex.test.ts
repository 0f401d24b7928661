// Which regular expressions Envoy refuses, and what they match. A real Envoy refused those in the first list.
import { expect, test } from 'vitest';
import { matchesRegex, regexProblem } from './regex.ts';

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
  ['a'.repeat(1_025), '1025 bytes are more than 1024'],
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
  'ä*',
  '',
])('regexProblem accepts %s', (regex) => {
  expect(regexProblem(regex)).toBeUndefined();
});

test('a regular expression matches the whole value, and flags apply', () => {
  expect(matchesRegex('a', 'ab')).toBe(false);
  expect(matchesRegex('a|ab', 'ab')).toBe(true);
  expect(matchesRegex('(?i)alice', 'ALICE')).toBe(true);
});
