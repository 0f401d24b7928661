import { expect, test } from 'vitest';
import { opensAt, parseWindow } from './window.ts';

const at = (text: string): number => Date.parse(text);
const next = (window: string, now: string): string => new Date(opensAt(parseWindow(window)!, at(now))).toISOString();

// 2026-01-01 is a Thursday.
test.each([
  ['Sat-Sun 00:00-04:00', '2026-01-01T12:00:00Z', '2026-01-03T00:00:00.000Z'],
  ['Sat-Sun 00:00-04:00', '2026-01-03T03:59:59Z', '2026-01-03T03:59:59.000Z'],
  ['Sat-Sun 00:00-04:00', '2026-01-03T04:00:00Z', '2026-01-04T00:00:00.000Z'],
  ['Sat-Sun 00:00-04:00', '2026-01-04T04:00:00Z', '2026-01-10T00:00:00.000Z'],
  ['Thu 22:00-02:00', '2026-01-02T01:00:00Z', '2026-01-02T01:00:00.000Z'],
  ['Thu 22:00-02:00', '2026-01-02T02:00:00Z', '2026-01-08T22:00:00.000Z'],
  ['Thu 10:00-11:00', '2026-01-01T11:00:00Z', '2026-01-08T10:00:00.000Z'],
  ['mon,wed-thu 10:00-11:00', '2026-01-01T11:00:00Z', '2026-01-05T10:00:00.000Z'],
  ['Fri-Mon 10:00-11:00', '2026-01-04T12:00:00Z', '2026-01-05T10:00:00.000Z'],
  ['02:00-03:00', '2026-01-01T12:00:00Z', '2026-01-02T02:00:00.000Z'],
  ['Sat 00:00-24:00', '2026-01-03T23:59:00Z', '2026-01-03T23:59:00.000Z'],
])('the window %s, at %s, opens at %s', (window, now, opens) => {
  expect(next(window, now)).toBe(opens);
});

test.each([
  '',
  'Sat',
  'Sat 4-5',
  'Caturday 00:00-04:00',
  '25:00-26:00',
  '00:60-01:00',
  '04:00-04:00',
  'Sat--Sun 00:00-01:00',
  '24:00-01:00',
])('parseWindow refuses "%s"', (text) => {
  expect(parseWindow(text)).toBeUndefined();
});
