import { expect, test } from 'vitest';
import { microTime, timestamp } from './times.ts';

const moment = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

test('timestamps of objects are truncated to seconds, those of Leases and Events have microseconds', () => {
  expect(timestamp(moment)).toBe('2026-01-02T03:04:05Z');
  expect(microTime(moment)).toBe('2026-01-02T03:04:05.678000Z');
});
