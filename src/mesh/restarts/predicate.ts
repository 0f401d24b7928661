// Restart predicates: functions of one pod that return why it must be replaced, if so.
import type { Pod } from '../workloads/workloads.ts';

/** Returns the reason as text; undefined if there is none. */
export type RestartPredicate = (pod: Pod) => string | undefined;

/** Combines predicates; the first reason wins. */
export function anyOf(predicates: readonly RestartPredicate[]): RestartPredicate {
  return (pod) => {
    for (const predicate of predicates) {
      const why = predicate(pod);
      if (why !== undefined) return why;
    }
    return undefined;
  };
}

/** Applies a predicate only if the condition holds. */
export function where(condition: (pod: Pod) => boolean, predicate: RestartPredicate): RestartPredicate {
  return (pod) => (condition(pod) ? predicate(pod) : undefined);
}

/** Restarts every pod for the given reason, or none without one. */
export function always(why: string | undefined): RestartPredicate {
  return () => why;
}
