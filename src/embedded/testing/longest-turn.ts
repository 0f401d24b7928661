// Measures how long the event loop is blocked, in CPU time: other processes on the machine hardly count.
import { expect } from 'vitest';
import { usedMs } from '../schema/cel/interruptible.ts';

/** How long one request may block the server: long enough to read and write the largest one, several times over. */
const STALL_LIMIT_MS = 200;
const STALL_LIMIT_REFERENCES = 8;
const REFERENCE_BYTES = 3 * 1024 * 1024;

/** Fails if the event loop is blocked for too long during the work. A slow machine has more time. */
export async function expectNoStall(work: () => Promise<unknown>): Promise<void> {
  const before = referenceMs();
  const stallMs = await longestTurn(work);
  const limitMs = Math.max(STALL_LIMIT_MS, STALL_LIMIT_REFERENCES * Math.max(before, referenceMs()));
  expect(stallMs).toBeLessThan(limitMs);
}

/** The longest turn of the event loop during the work, in milliseconds of CPU time. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let [longest, last, isDone] = [0, usedMs(), false];
  const turn = (): void => {
    const now = usedMs();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  isDone = true;
  turn();
  return longest;
}

/** What it costs on this machine, just now, to parse and write the largest request that the server accepts. */
function referenceMs(): number {
  const body = JSON.stringify(
    Array.from({ length: REFERENCE_BYTES / 32 }, (_, index) => ({ name: `n${index}`, size: 1 })),
  );
  const started = usedMs();
  JSON.stringify(JSON.parse(body));
  return usedMs() - started;
}
