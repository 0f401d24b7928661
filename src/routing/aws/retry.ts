// Retries calls with exponential backoff while AWS returns transient errors, and limits how many run at once.
import { delay } from '../../kube/index.ts';
import type { Clock } from '../../kube/index.ts';
import { errorKindOf } from './api.ts';

export interface RetryPolicy {
  readonly clock: Clock;
  /** The maximum number of attempts. */
  readonly attempts: number;
  readonly firstDelayMs: number;
  readonly random: () => number;
}

export const retryPolicy = (clock: Clock): RetryPolicy => ({
  clock,
  attempts: 6,
  firstDelayMs: 200,
  random: Math.random,
});

/** The maximum number of concurrent calls. */
const MAX_CONCURRENT = 5;

/** Repeats a call until it succeeds, fails permanently, or runs out of attempts. */
export async function withRetry<T>(
  call: () => Promise<T>,
  { clock, attempts, firstDelayMs, random }: RetryPolicy,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (attempt >= attempts || errorKindOf(error) !== 'transient') throw error;
      await delay(clock, firstDelayMs * 2 ** (attempt - 1) * (0.5 + random() / 2));
    }
  }
}

/** Runs a function for each item, a few at once. Throws the first failure after all started calls have ended. */
export async function eachOf<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const entries = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of entries) results[index] = await run(item);
  };
  const ended = await Promise.allSettled(Array.from({ length: Math.min(MAX_CONCURRENT, items.length) }, worker));
  const failed = ended.find((each) => each.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return results;
}
