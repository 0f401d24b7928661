// Calls that are made again, later and later, as long as AWS is only busy; and many of them at once, but not too many.
import { delay } from '../../kube/index.ts';
import type { Clock } from '../../kube/index.ts';
import { meaningOf } from './api.ts';

export interface Patience {
  readonly clock: Clock;
  /** How often a call is made at most. */
  readonly attempts: number;
  readonly firstDelayMs: number;
  readonly random: () => number;
}

export const patience = (clock: Clock): Patience => ({
  clock,
  attempts: 6,
  firstDelayMs: 200,
  random: Math.random,
});

/** How many calls are under way at once. */
const AT_ONCE = 5;

/** Makes a call until it succeeds, fails for good, or has been tried often enough. */
export async function patiently<T>(
  call: () => Promise<T>,
  { clock, attempts, firstDelayMs, random }: Patience,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (attempt >= attempts || meaningOf(error) !== 'transient') throw error;
      await delay(clock, firstDelayMs * 2 ** (attempt - 1) * (0.5 + random() / 2));
    }
  }
}

/** Runs a function for each item, a few at once. The first failure is thrown when all that had begun have ended. */
export async function eachOf<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const entries = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of entries) results[index] = await run(item);
  };
  const ended = await Promise.allSettled(Array.from({ length: Math.min(AT_ONCE, items.length) }, worker));
  const failed = ended.find((each) => each.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return results;
}
