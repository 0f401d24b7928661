// Waiting for something in a cluster: unlike `until`, with a pause between looks, for a look is a request or several.
import { setTimeout } from 'node:timers/promises';

const PAUSE_MS = 40;

/** Resolves when the condition holds; rejects when it does not within the deadline. */
export async function poll(condition: () => Promise<boolean>, deadlineMs: number): Promise<void> {
  const end = performance.now() + deadlineMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`not within ${deadlineMs} ms: ${condition.toString()}`);
    await setTimeout(PAUSE_MS);
  }
}
