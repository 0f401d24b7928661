import { Writable } from 'node:stream';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Lines } from './lines.ts';

const BEAT_MS = 10_000;

/** A response whose reader takes one chunk per call of `take`; `room` is the size of the buffer. */
class SlowResponse extends Writable {
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

const linesTo = (response: SlowResponse): Lines => new Lines(response as unknown as ServerResponse, {});
const turn = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'], now: 0 }));
afterEach(() => void vi.useRealTimers());

test('a quiet stream sends a heartbeat every ten seconds until it ends', async () => {
  const response = new SlowResponse(1_000);
  const lines = linesTo(response);
  for (const second of [10, 20]) {
    vi.advanceTimersByTime(BEAT_MS);
    await turn();
    expect(response.lines.at(-1)).toEqual({ beat: `1970-01-01T00:00:${second}.000Z` });
    response.take();
  }
  lines.end();
  expect(lines.signal.aborted).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

test('a slow reader gets no heartbeats in addition to unread lines', async () => {
  const response = new SlowResponse(10);
  const lines = linesTo(response);
  void lines.write({ snapshot: 'a long line' });
  await turn();
  vi.advanceTimersByTime(10 * BEAT_MS);
  await turn();
  expect(response.lines).toEqual([{ snapshot: 'a long line' }]);
  lines.end();
});

test('lines are written in order, each when the reader has room for it', async () => {
  const response = new SlowResponse(10);
  const lines = linesTo(response);
  const written: number[] = [];
  for (const n of [1, 2, 3]) void lines.write({ line: n, text: 'x'.repeat(20) }).then(() => written.push(n));
  await turn();
  await new Promise(setImmediate);
  expect(response.chunks).toHaveLength(1);
  expect(written).toEqual([]);
  response.take();
  await vi.waitFor(() => expect(response.chunks).toHaveLength(2));
  expect(written).toEqual([1]);
  response.take();
  await vi.waitFor(() => expect(written).toEqual([1, 2]));
  lines.end();
});

test('a pending write resolves when the reader disconnects', async () => {
  const response = new SlowResponse(1);
  const lines = linesTo(response);
  const waiting = lines.write({ line: 1 });
  await turn();
  response.destroy();
  await waiting;
  expect(lines.signal.aborted).toBe(true);
  await lines.write({ line: 2 });
  expect(response.chunks).toHaveLength(1);
});
