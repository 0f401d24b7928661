// How an environment is, in one word and as a verdict. Read by every command that shows or waits for one.
import type { DynamicEnv, StatusError, SubsetStatus } from '../../api/dynamicenv.ts';
import { conditionsOf } from '../../controller/conditions.ts';

/** One word: that of the status, or what is to be said of one that has none or is on its way out. */
export function stateOf(env: DynamicEnv): string {
  if (env.metadata.deletionTimestamp !== undefined) return 'deleting';
  return env.status?.state ?? 'pending';
}

/** Whether the status is about the spec as it is now. */
export function isCurrent({ metadata, status }: DynamicEnv): boolean {
  if (status?.state === undefined) return false;
  const { observedGeneration } = status;
  return observedGeneration === undefined || observedGeneration >= (metadata.generation ?? 0);
}

export type Verdict =
  | { readonly is: 'ready' }
  /** Nothing will change by itself. */
  | { readonly is: 'stalled'; readonly reason: string }
  | { readonly is: 'open' };

/** Whether waiting for an environment is over. */
export function verdictOf(env: DynamicEnv): Verdict {
  if (!isCurrent(env)) return { is: 'open' };
  const conditions = conditionsOf(env);
  const stalled = conditions.find(({ type, status }) => type === 'Stalled' && status === 'True');
  if (stalled !== undefined) return { is: 'stalled', reason: stalled.message || stalled.reason };
  const ready = conditions.find(({ type }) => type === 'Ready');
  // An operator that writes no conditions says it with the state alone.
  const isReady = ready === undefined ? env.status?.state === 'ready' : ready.status === 'True';
  return isReady ? { is: 'ready' } : { is: 'open' };
}

/** What the status says is wrong with the parts of a subset. */
export function errorsOf(
  status: SubsetStatus | undefined,
  part: keyof NonNullable<SubsetStatus['subsetErrors']>,
): string[] {
  return textsOf(status?.subsetErrors?.[part]);
}

/** The texts of errors in a status. */
export function textsOf(errors: readonly StatusError[] | undefined): string[] {
  return (errors ?? []).map(({ error }) => error);
}
