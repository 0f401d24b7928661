// Waiting in tests: for a condition, with a deadline, and never for a time.
import { setImmediate, setTimeout } from 'node:timers/promises';

/** As long as it may take on a busy machine; less than the time-out of a test, so that it is told what was waited for. */
const DEADLINE_MS = 25_000;

/** Resolves when the condition holds; rejects, naming it and what is found instead, when it does not within the deadline. */
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

/** Resolves when a manager has had nothing to do for several turns of the event loop in a row. */
export async function settled(manager: { readonly idle: boolean }, deadlineMs = DEADLINE_MS): Promise<void> {
  let quiet = 0;
  await until(() => (quiet = manager.idle ? quiet + 1 : 0) >= 10, deadlineMs);
}
