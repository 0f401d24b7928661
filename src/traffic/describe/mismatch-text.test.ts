import { expect, test } from 'vitest';
import { baggageRegex } from '../baggage.ts';
import { mismatchText } from './mismatch-text.ts';

test('mismatchText names the key in the baggage instead of the regular expression', () => {
  const wanted = { name: 'baggage', value: { regex: baggageRegex('pr-7') }, negated: false };
  expect(mismatchText({ on: 'header', wanted, found: [] })).toBe('header baggage is missing and must hold env=pr-7');
  expect(mismatchText({ on: 'header', wanted, found: ['env=pr-77'] })).toBe(
    'header baggage is "env=pr-77" and does not hold env=pr-7',
  );
});
