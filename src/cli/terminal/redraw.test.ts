import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { redrawOn } from './redraw.ts';

function stream(isTTY: boolean, size = {}): { text: () => string; clear: () => void } & Parameters<typeof redrawOn>[0] {
  let written = '';
  const write = (text: string): boolean => {
    written += text;
    return true;
  };
  return { isTTY, columns: 20, rows: 5, write, text: () => written, clear: () => (written = ''), ...size };
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubEnv('TERM', 'xterm');
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

test('redrawOn a terminal replaces the previous text', () => {
  const to = stream(true);
  const redrawn = redrawOn(to);
  redrawn.show(() => ['one', 'two']);
  expect(to.text()).toBe('\r\x1b[Jone\ntwo\n');
  to.clear();
  redrawn.show(() => ['three']);
  expect(to.text()).toBe('\x1b[2A\r\x1b[Jthree\n');
  redrawn.end();
});

test('redrawOn a terminal counts wrapped lines, and omits what does not fit', () => {
  const to = stream(true);
  const redrawn = redrawOn(to);
  redrawn.show(() => [`\x1b[31m${'x'.repeat(21)}\x1b[39m`, 'b', 'c', 'd']);
  expect(to.text()).toMatch(/b\nc\n$/);
  to.clear();
  redrawn.show(() => ['short']);
  expect(to.text()).toMatch(/^\x1b\[4A/); // eslint-disable-line no-control-regex -- this is what moves the cursor
  redrawn.end();
});

test('redrawOn a terminal redraws every second until it ends', () => {
  const to = stream(true);
  const redrawn = redrawOn(to);
  let seconds = 0;
  redrawn.show(() => [`${seconds++}s`]);
  vi.advanceTimersByTime(2_000);
  expect(to.text()).toMatch(/0s\n.*1s\n.*2s\n$/s);
  to.clear();
  redrawn.end();
  vi.advanceTimersByTime(2_000);
  expect(to.text()).toBe('');
});

test('redrawOn a pipe prints each changed text after the previous one', () => {
  const to = stream(false);
  const redrawn = redrawOn(to);
  for (const line of ['a', 'a', 'b']) redrawn.show(() => [line]);
  redrawn.end();
  expect(to.text()).toBe('a\n\nb\n');
});
