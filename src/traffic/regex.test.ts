// What Envoy would refuse, and what fits: the first list was refused by a real one.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { fitsRegex, fitsWhatever, regexProblem } from './regex.ts';

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

test.each([
  ['.*', ''],
  ['^.*$', ''],
  ['(.*)', ''],
  ['.+', 'a'],
  ['a.*', 'ab'],
  ['(?:[ab]+.*)', 'b'],
])('%s takes all that begins with "%s"', (regex, beginning) => {
  expect(fitsWhatever(regex, beginning)).toBe(true);
});

test('a regular expression takes all that begins so only if it does', () => {
  const regex = fc.constantFrom(
    '.*',
    '.+',
    'a.*',
    'a.+',
    'a|b.*',
    'a$.*',
    '\\.*',
    '\\Qa.*',
    '(a|b).*',
    'a\\b.*',
    '(b).+',
  );
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 3 });
  fc.assert(
    fc.property(regex, text, text, (each, beginning, rest) => {
      expect(!fitsWhatever(each, beginning) || fitsRegex(each, beginning + rest)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});
