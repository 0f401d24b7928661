// A reason to restart: one small interface. A predicate looks at one pod and says why it must be replaced, if it must.
import type { Pod } from '../workloads.ts';

/** Says why, for people; undefined when there is no reason. Everything that it knows beside the pod it was made with. */
export type RestartPredicate = (pod: Pod) => string | undefined;

/** Restarts for any of these reasons, and says the first. */
export function anyOf(predicates: readonly RestartPredicate[]): RestartPredicate {
  return (pod) => {
    for (const predicate of predicates) {
      const why = predicate(pod);
      if (why !== undefined) return why;
    }
    return undefined;
  };
}

/** Restarts for a reason only where the condition holds. */
export function where(condition: (pod: Pod) => boolean, predicate: RestartPredicate): RestartPredicate {
  return (pod) => (condition(pod) ? predicate(pod) : undefined);
}

/** Restarts every pod, for a reason that is known beforehand; none without one. */
export function always(why: string | undefined): RestartPredicate {
  return () => why;
}
