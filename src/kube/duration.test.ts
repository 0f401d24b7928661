import { expect, test } from 'vitest';
import { parseDuration } from './duration.ts';

test.each([
  ['90s', 90_000],
  ['1h30m', 5_400_000],
  ['2d', 172_800_000],
  ['1.5h', 5_400_000],
  ['250ms', 250],
  ['0s', 0],
])('parseDuration reads %s', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(['', '5', 's', '-1h', '1h 30m', '1w', 'h1', '1hh'])('"%s" is not a duration', (text) => {
  expect(parseDuration(text)).toBeUndefined();
});
