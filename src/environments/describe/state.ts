// How an environment is: in one word, as a count, and as a verdict for whoever waits for it.
import type { DynamicEnv, StatusError, SubsetStatus } from '../../api/dynamicenv.ts';
import { conditionsOf } from '../../controller/conditions.ts';
import { isAsleep } from '../lifecycle/sleep.ts';
import { isPaused } from '../lifecycle/paused.ts';
import { itemsOf, statusKey } from '../names.ts';

/** The words of `stateOf`. */
export const STATES = ['pending', 'processing', 'ready', 'degraded', 'paused', 'asleep', 'deleting'] as const;

/** One word: that of the status, or what is to be said of one that has none or is on its way out. */
export function stateOf(env: DynamicEnv): string {
  if (env.metadata.deletionTimestamp !== undefined) return 'deleting';
  if (isPaused(env)) return 'paused';
  if (isAsleep(env)) return 'asleep';
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
  /** Nothing will change until somebody wants it to. */
  | { readonly is: 'held'; readonly reason: string }
  | { readonly is: 'open' };

/** Reasons not to be ready that people have chosen. */
const HELD = new Set(['Asleep', 'Paused']);

/** Whether waiting for an environment is over. */
export function verdictOf(env: DynamicEnv): Verdict {
  if (!isCurrent(env) || isAsleep(env) !== tellsOfSleep(env)) return { is: 'open' };
  const conditions = conditionsOf(env);
  const stalled = conditions.find(({ type, status }) => type === 'Stalled' && status === 'True');
  if (stalled !== undefined) return { is: 'stalled', reason: stalled.message || stalled.reason };
  const ready = conditions.find(({ type }) => type === 'Ready');
  // An operator that writes no conditions says it with the state alone.
  const isReady = ready === undefined ? env.status?.state === 'ready' : ready.status === 'True';
  if (isReady) return { is: 'ready' };
  return HELD.has(ready?.reason ?? '') ? { is: 'held', reason: ready!.message } : { is: 'open' };
}

/** Whether the status says that an environment sleeps, or would if it were not paused. */
function tellsOfSleep(env: DynamicEnv): boolean {
  const isTold = conditionsOf(env).some(({ type, reason }) => type === 'Ready' && reason === 'Asleep');
  return isPaused(env) ? isAsleep(env) : isTold;
}

/** Whether an environment sleeps, and nothing of it is still on the way to that. */
export function isFastAsleep(env: DynamicEnv): boolean {
  const isReconciling = conditionsOf(env).some(({ type, status }) => type === 'Reconciling' && status === 'True');
  return verdictOf(env).is === 'held' && tellsOfSleep(env) && !isReconciling;
}

/** Subsets that requests reach and consumers that run, of all: `1/2`. */
export function readyCount(env: DynamicEnv): string {
  const { subsets, consumers } = itemsOf(env);
  const { status } = env;
  const total = subsets.length + consumers.length;
  // The original operator says nothing about requests.
  if (status?.observedGeneration === undefined) return `${status?.totalReady ?? 0}/${total}`;
  const reached = subsets.filter((subset) => {
    const entry = status.subsetsStatus[statusKey(subset)];
    return entry !== undefined && entry.unreached === undefined;
  });
  const running = consumers.filter((consumer) => {
    const entry = status.consumersStatus?.[statusKey(consumer)];
    return entry?.status === 'running' && entry.message === undefined;
  });
  return `${reached.length + running.length}/${total}`;
}

/** What the status says is wrong with the parts of a subset. */
export function partErrors(
  status: SubsetStatus | undefined,
  part: keyof NonNullable<SubsetStatus['subsetErrors']>,
): string[] {
  return errorTexts(status?.subsetErrors?.[part]);
}

/** The texts of errors in a status. */
export function errorTexts(errors: readonly StatusError[] | undefined): string[] {
  return (errors ?? []).map(({ error }) => error);
}
