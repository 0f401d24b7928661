import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { linesOn } from './lines.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function stream(isTTY = false) {
  const written: string[] = [];
  return { isTTY, written, write: (chunk: string | Uint8Array) => written.push(String(chunk)) > 0 };
}

test('the end of the last line comes a little later: that write finds out whether anybody reads', () => {
  const out = stream();
  const lines = linesOn(out, 200);
  lines.print('NAME\na\n');
  vi.advanceTimersByTime(199);
  expect(out.written).toEqual(['NAME\na']);
  vi.advanceTimersByTime(1);
  expect(out.written).toEqual(['NAME\na', '\n']);
  vi.advanceTimersByTime(1000);
  expect(out.written).toHaveLength(2);
});

test('nothing is lost or said twice, however lines come and whenever they end', () => {
  const out = stream();
  const lines = linesOn(out, 200);
  lines.print('a\n');
  lines.print('b\nc\n');
  vi.advanceTimersByTime(500);
  lines.print('');
  lines.print('d\n');
  lines.end();
  lines.end();
  vi.advanceTimersByTime(500);
  expect(out.written.join('')).toBe('a\nb\nc\nd\n');
});

test('at a terminal everything is there at once', () => {
  const out = stream(true);
  linesOn(out).print('a\n');
  expect(out.written).toEqual(['a\n']);
});
