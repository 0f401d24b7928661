// Waits in tests for a condition with a deadline, never for a fixed time.
import { setImmediate, setTimeout } from 'node:timers/promises';

/** Enough for a busy machine; shorter than a test's timeout, so that the error names the condition. */
const DEADLINE_MS = 25_000;

/** Resolves when the condition holds; after the deadline rejects with the condition and what was `found` instead. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  deadlineMs = DEADLINE_MS,
  found?: () => unknown,
): Promise<void> {
  const end = performance.now() + deadlineMs;
  for (let tries = 0; !(await condition()); tries++) {
    if (performance.now() > end) {
      const instead = found === undefined ? '' : `, but ${JSON.stringify(await found(), undefined, 1)}`;
      throw new Error(`not within ${deadlineMs} ms: ${condition.toString()}${instead}`);
    }
    if (tries < 50) await setImmediate();
    else await setTimeout(5);
  }
}

/** Resolves when a manager has been idle for several turns of the event loop in a row. */
export async function settled(manager: { readonly idle: boolean }, deadlineMs = DEADLINE_MS): Promise<void> {
  let quiet = 0;
  await until(() => (quiet = manager.idle ? quiet + 1 : 0) >= 10, deadlineMs);
}
