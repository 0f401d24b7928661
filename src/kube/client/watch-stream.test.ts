import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Clock } from '../clock.ts';
import { eachLine, IdleTimer, Lines } from './watch-stream.ts';

test('the lines are the same, however the bytes are split', () => {
  const line = fc.string({ unit: 'grapheme', maxLength: 30 }).map((text) => text.replaceAll('\n', ' '));
  fc.assert(
    fc.property(fc.array(line), fc.string({ maxLength: 5 }), fc.array(fc.nat(200)), (lines, rest, cuts) => {
      const tail = rest.replaceAll('\n', '');
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join('') + tail);
      const got: string[] = [];
      const cutter = new Lines((some) => eachLine(some, (piece) => got.push(piece.toString('utf8'))));
      const places = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
      places.slice(1).forEach((end, index) => cutter.push(bytes.subarray(places[index], end)));
      expect(got).toEqual(lines);
      expect(cutter.open).toBe(tail !== '');
    }),
  );
});

test('a line of many megabytes in many pieces is assembled once', () => {
  const piece = Buffer.alloc(64 * 1024, 'x');
  let length = 0;
  const cutter = new Lines((lines) => (length = lines.length));
  for (let count = 0; count < 256; count++) cutter.push(piece);
  expect(length).toBe(0);
  cutter.push(Buffer.from('\n'));
  expect(length).toBe(256 * 64 * 1024);
});

test('the idle timer waits for silence, not for the time since the start', () => {
  let now = 0;
  let armed: { run: () => void; at: number } | undefined;
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    setTimeout: (run, ms) => {
      armed = { run, at: now + ms };
      return { cancel: () => (armed = undefined) };
    },
  };
  const advance = (to: number): void => {
    while (armed !== undefined && armed.at <= to) {
      const due = armed;
      armed = undefined;
      now = due.at;
      due.run();
    }
    now = to;
  };
  let idle = 0;
  const timer = new IdleTimer(clock, 100, () => idle++);
  advance(90);
  timer.touch();
  advance(180);
  timer.touch();
  advance(279);
  expect(idle).toBe(0);
  advance(280);
  expect(idle).toBe(1);
  expect(armed).toBeUndefined();
});
