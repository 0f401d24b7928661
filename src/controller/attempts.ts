// Carries out plans of controllers that decide after each write what to write next: definitions with `write`.
import { delay } from '../kube/clock.ts';
import type { Clock } from '../kube/clock.ts';
import { isForbidden } from '../kube/errors.ts';
import type { Outcome } from '../kube/write/apply.ts';
import type { Step } from '../kube/write/steps.ts';
import { untracked } from '../watchable/index.ts';
import type { Attempt, Notes } from './definition.ts';
import { isRefusal, refusalText } from './plan-and-apply.ts';

export interface AttemptOptions {
  /** Carries out steps in order; rejects as `Applier.apply` does. */
  readonly apply: (steps: readonly Step[]) => Promise<readonly Outcome[]>;
  readonly clock: Clock;
  /** The pause between two writes. */
  readonly paceMs: number;
  readonly signal: AbortSignal;
}

/** Tries each step that is yielded. Rejects with any error but the refusal of a write. */
export async function carryOutAttempts(
  attempts: Generator<Step, void, Attempt>,
  { apply, clock, paceMs, signal }: AttemptOptions,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (let next = attempts.next(); !next.done;) {
    if (paceMs > 0 && outcomes.length > 0) await delay(clock, paceMs, signal);
    const attempt = await tryStep(next.value, apply);
    if (attempt.did !== 'refused') outcomes.push({ step: next.value, ...attempt });
    next = attempts.next(attempt);
  }
  return outcomes;
}

async function tryStep(step: Step, apply: AttemptOptions['apply']): Promise<Attempt> {
  try {
    const [outcome] = await apply([step]);
    return outcome!;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { did: 'refused', message: refusalText(error), isForbidden: isForbidden(error.cause) };
  }
}

/** Notes that everybody can read. */
export function sharedNotes(clock: Clock): Notes {
  return {
    read: untracked,
    store: (map, key, value) => map.store(key, value),
    delete: (map, key) => void map.delete(key),
    now: () => clock.now(),
  };
}
