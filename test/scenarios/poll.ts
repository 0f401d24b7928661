// Waits for a condition in a cluster: unlike `until`, with a pause between checks, because each check sends requests.
import { setTimeout } from 'node:timers/promises';
import { pauseAfter } from '../support/until.ts';

const PAUSE_MS = 40;

/** Resolves when the condition holds; rejects if it does not within the deadline. */
export async function poll(condition: () => Promise<boolean>, deadlineMs: number): Promise<void> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const began = performance.now();
    if (await condition()) return;
    if (performance.now() > end) throw new Error(`not within ${deadlineMs} ms: ${condition.toString()}`);
    await setTimeout(pauseAfter(began, PAUSE_MS));
  }
}
