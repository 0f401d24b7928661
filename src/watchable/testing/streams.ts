// Helpers for the tests of watchable maps: read a stream, and tell whether a read is still waiting.
import { setImmediate } from 'node:timers/promises';

/** Reads the next element and fails if the stream has ended. */
export async function read<T>(stream: AsyncIterator<T>): Promise<T> {
  const step = await stream.next();
  if (step.done === true) throw new Error('the stream has ended');
  return step.value;
}

/** Whether a promise is still pending after the event loop has turned several times. */
export async function isWaiting(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const settle = (): void => {
    settled = true;
  };
  promise.then(settle, settle);
  for (let turn = 0; turn < 4; turn++) await setImmediate();
  return !settled;
}

/** Lets the event loop turn until the condition holds; fails after two seconds. */
export async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 2_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error('the condition did not come true within two seconds');
    await setImmediate();
  }
}

/** Updates in short form: `+key=value` and `-key=value`. */
export function brief(updates: readonly { key: unknown; delete: boolean; value: unknown }[]): string[] {
  return updates.map((update) => `${update.delete ? '-' : '+'}${String(update.key)}=${JSON.stringify(update.value)}`);
}
