import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { linesOn } from './lines.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function stream(isTTY = false) {
  const written: string[] = [];
  return { isTTY, written, write: (chunk: string | Uint8Array) => written.push(String(chunk)) > 0 };
}

test('the newline of the last line is written after a delay, to detect a closed pipe', () => {
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

test('no line is lost or repeated', () => {
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

test('on a terminal, lines are written at once', () => {
  const out = stream(true);
  linesOn(out).print('a\n');
  expect(out.written).toEqual(['a\n']);
});
