// How long this thread works without letting anybody else run. Counted in processor time: a busy machine does not count.
import { usedMs } from '../schema/cel/interruptible.ts';

/** The longest turn of the event loop, in milliseconds of processor time, until the work is done. */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
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
