// Waits in tests for a condition with a deadline, never for a fixed time.
import { setImmediate, setTimeout } from 'node:timers/promises';

/** Enough for a busy machine; shorter than a test's timeout, so that the error names the condition. */
const DEADLINE_MS = 25_000;
const PAUSE_MS = 5;
const MAX_PAUSE_MS = 1_000;

/** Resolves when the condition holds; after the deadline rejects with the condition and what was `found` instead. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  deadlineMs = DEADLINE_MS,
  found?: () => unknown,
): Promise<void> {
  const end = performance.now() + deadlineMs;
  for (let tries = 0; ; tries++) {
    const began = performance.now();
    if (await condition()) return;
    if (performance.now() > end) {
      const instead = found === undefined ? '' : `, but ${JSON.stringify(await found(), undefined, 1)}`;
      throw new Error(`not within ${deadlineMs} ms: ${condition.toString()}${instead}`);
    }
    const pause = pauseAfter(began, PAUSE_MS);
    if (tries < 50 && pause === PAUSE_MS) await setImmediate();
    else await setTimeout(pause);
  }
}

/** The time to the next check, in ms: a check that takes long must not keep busy what it waits for. */
export function pauseAfter(began: number, least: number): number {
  return Math.max(least, Math.min(MAX_PAUSE_MS, 2 * (performance.now() - began)));
}

/** Resolves when a manager has been idle for several turns of the event loop in a row. */
export async function settled(manager: { readonly idle: boolean }, deadlineMs = DEADLINE_MS): Promise<void> {
  let quiet = 0;
  await until(() => (quiet = manager.idle ? quiet + 1 : 0) >= 10, deadlineMs);
}
