import { describe, expect, test } from 'vitest';
import { nextTime, parseSchedule } from './schedule.ts';

function next(schedule: string, after: string, timeZone?: string): string | undefined {
  const time = nextTime(parseSchedule(schedule)!, Date.parse(after), timeZone);
  return time === undefined ? undefined : new Date(time).toISOString().slice(0, 16);
}

describe('cron schedules', () => {
  test.each([
    ['* * * * *', '2026-03-01T10:00:30Z', '2026-03-01T10:01'],
    ['*/15 * * * *', '2026-03-01T10:00:00Z', '2026-03-01T10:15'],
    ['30 2 * * *', '2026-03-01T02:30:00Z', '2026-03-02T02:30'],
    ['0 9-17/4 * * mon-fri', '2026-03-06T17:30:00Z', '2026-03-09T09:00'],
    ['0 0 1 jan,jul *', '2026-03-01T00:00:00Z', '2026-07-01T00:00'],
    ['0 0 29 2 *', '2026-03-01T00:00:00Z', '2028-02-29T00:00'],
    ['0 0 13 * fri', '2026-03-01T00:00:00Z', '2026-03-06T00:00'],
    ['0 0 * * 7', '2026-03-02T00:00:00Z', '2026-03-08T00:00'],
    ['@hourly', '2026-03-01T10:59:59Z', '2026-03-01T11:00'],
    ['0 0 31 2 *', '2026-03-01T00:00:00Z', undefined],
  ])('find the next time of %s after %s', (schedule, after, expected) => {
    expect(next(schedule, after)).toBe(expected);
  });

  test('respect the time zone, including daylight saving time', () => {
    expect(next('0 9 * * *', '2026-03-28T12:00:00Z', 'Europe/Berlin')).toBe('2026-03-29T07:00');
    expect(next('0 9 * * *', '2026-03-27T12:00:00Z', 'Europe/Berlin')).toBe('2026-03-28T08:00');
  });

  test.each(['', '* * * *', '60 * * * *', '* * 0 * *', 'x * * * *', '5-1 * * * *', '*/0 * * * *', '@never'])(
    'do not accept %j',
    (text) => {
      expect(parseSchedule(text)).toBeUndefined();
    },
  );
});
