import { Writable } from 'node:stream';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Lines } from './lines.ts';

const BEAT_MS = 10_000;

/** An answer whose reader takes a chunk whenever it is told to, and no more than `room` bytes besides. */
class SlowAnswer extends Writable {
  readonly chunks: string[] = [];
  #taken: (() => void) | undefined;

  constructor(room: number) {
    super({ highWaterMark: room });
  }

  writeHead(): this {
    return this;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.chunks.push(chunk.toString());
    this.#taken = done;
  }

  /** The reader takes what was sent last. */
  take(): void {
    const taken = this.#taken;
    this.#taken = undefined;
    taken?.();
  }

  get lines(): readonly unknown[] {
    return this.chunks.map((chunk) => JSON.parse(chunk) as unknown);
  }
}

const linesTo = (answer: SlowAnswer): Lines => new Lines(answer as unknown as ServerResponse, {});
const turn = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'], now: 0 }));
afterEach(() => void vi.useRealTimers());

test('a quiet stream says every ten seconds that it is alive, until it ends', async () => {
  const answer = new SlowAnswer(1_000);
  const lines = linesTo(answer);
  for (const second of [10, 20]) {
    vi.advanceTimersByTime(BEAT_MS);
    await turn();
    expect(answer.lines.at(-1)).toEqual({ beat: `1970-01-01T00:00:${second}.000Z` });
    answer.take();
  }
  lines.end();
  expect(lines.signal.aborted).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

test('a reader that is behind gets no beats on top of what it has not read', async () => {
  const answer = new SlowAnswer(10);
  const lines = linesTo(answer);
  void lines.write({ snapshot: 'a long line' });
  await turn();
  vi.advanceTimersByTime(10 * BEAT_MS);
  await turn();
  expect(answer.lines).toEqual([{ snapshot: 'a long line' }]);
  lines.end();
});

test('a line is written when the reader has room for it, in order', async () => {
  const answer = new SlowAnswer(10);
  const lines = linesTo(answer);
  const written: number[] = [];
  for (const n of [1, 2, 3]) void lines.write({ line: n, text: 'x'.repeat(20) }).then(() => written.push(n));
  await turn();
  await new Promise(setImmediate);
  expect(answer.chunks).toHaveLength(1);
  expect(written).toEqual([]);
  answer.take();
  await vi.waitFor(() => expect(answer.chunks).toHaveLength(2));
  expect(written).toEqual([1]);
  answer.take();
  await vi.waitFor(() => expect(written).toEqual([1, 2]));
  lines.end();
});

test('whoever waits for room is let go when the reader leaves', async () => {
  const answer = new SlowAnswer(1);
  const lines = linesTo(answer);
  const waiting = lines.write({ line: 1 });
  await turn();
  answer.destroy();
  await waiting;
  expect(lines.signal.aborted).toBe(true);
  await lines.write({ line: 2 });
  expect(answer.chunks).toHaveLength(1);
});
