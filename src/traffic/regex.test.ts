// What Envoy would refuse, and what fits: the first list was refused by a real one.
import { expect, test } from 'vitest';
import { fitsRegex, regexProblem } from './regex.ts';

test.each([
  ['(', 'missing closing ): `(`'],
  ['([', 'missing closing ]: `[`'],
  ['*a', 'missing argument to repetition operator: `*`'],
  ['a\\', 'trailing backslash at end of expression'],
  ['a(?=b)', 'invalid or unsupported Perl syntax: `(?=`'],
  ['(?<!a)b', 'invalid named capture: `(?<!a)b`'],
  ['(a)\\1', 'invalid escape sequence: `\\1`'],
  ['a{1,2000}', 'invalid repeat count: `{1,2000}`'],
  ['a{1000}'.repeat(40), 'it is too large once its repetitions are written out'],
  ['a'.repeat(1_025), '1025 bytes are more than 1024'],
])('%s would be refused', (regex, problem) => {
  expect(regexProblem(regex)).toBe(problem);
  expect(fitsRegex(regex, 'a')).toBe(false);
});

test.each(['.*', 'a{1,1000}', '(?i)alice', '(?P<name>a|b)', '[[:alpha:]]+', '\\pL', 'ä*', ''])(
  '%s is good',
  (regex) => {
    expect(regexProblem(regex)).toBeUndefined();
  },
);

test('a value fits as a whole, and flags count', () => {
  expect(fitsRegex('a', 'ab')).toBe(false);
  expect(fitsRegex('a|ab', 'ab')).toBe(true);
  expect(fitsRegex('(?i)alice', 'ALICE')).toBe(true);
});
