// How an environment is: in one word, as a count, and as a verdict for whoever waits for it.
import type { CloneStatus, DynamicEnv, StatusError, SubsetStatus } from '../../api/dynamicenv.ts';
import { conditionsOf } from '../../controller/conditions.ts';
import { notSeenYet } from '../../api/description/controllers-hint.ts';
import { isAsleep, wakeText } from '../lifecycle/sleep.ts';
import { isPaused, PAUSED } from '../lifecycle/paused.ts';
import { lifetimeOf } from '../lifecycle/ttl.ts';
import { timestamp } from '../../kube/times.ts';
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

/** Why an environment is as `stateOf` says, in one sentence; undefined for one that is ready. */
export function reasonOf(env: DynamicEnv): string | undefined {
  const { deletionTimestamp, finalizers = [] } = env.metadata;
  if (deletionTimestamp !== undefined) return `waits for the finalizers ${finalizers.join(', ')}`;
  if (env.status?.state === undefined) return notSeenYet('environments');
  if (!isCurrent(env)) return 'the controller has not observed the latest change yet';
  const conditions = conditionsOf(env);
  if (isPaused(env)) {
    const unmet = conditions.filter(
      ({ type, status }) => status === 'False' && (type === 'WorkloadsReady' || type === 'Routed'),
    );
    return [PAUSED.message, ...unmet.map(({ message }) => message)].join('; ');
  }
  if (isAsleep(env)) return wakeText(env);
  const verdict = verdictOf(env);
  if (verdict.is === 'ready') return undefined;
  return verdict.is === 'stalled' ? verdict.reason : conditions.find(({ type }) => type === 'Ready')?.message;
}

/** Why no request is led to an environment, as far as it says so itself. */
export function whyUnrouted(env: DynamicEnv, now: number): string | undefined {
  if (env.metadata.deletionTimestamp !== undefined) return 'it is being deleted';
  const { expiresAt } = lifetimeOf(env, now) ?? {};
  if (expiresAt !== undefined && expiresAt <= now) return `it expired at ${timestamp(expiresAt)}`;
  if (isPaused(env)) return `it is paused: ${PAUSED.message}`;
  if (isAsleep(env)) return `it is asleep: ${wakeText(env)}`;
  const unreached = Object.entries(env.status?.subsetsStatus ?? {}).flatMap(([key, status]) =>
    status.unreached === undefined ? [] : [`${key}: ${status.unreached}`],
  );
  return unreached.length === 0 ? undefined : unreached.join('; ');
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

/** Subsets that run as they should and that requests reach, and consumers that run, of all: `1/2`. */
export function readyCount(env: DynamicEnv): string {
  const { subsets, consumers } = itemsOf(env);
  const { status } = env;
  const total = subsets.length + consumers.length;
  // The original operator says nothing about requests.
  if (status?.observedGeneration === undefined) return `${status?.totalReady ?? 0}/${total}`;
  const runs = (clone: CloneStatus | undefined): boolean => clone?.status === 'running' && clone.message === undefined;
  const reached = subsets.filter((subset) => {
    const entry = status.subsetsStatus[statusKey(subset)];
    return runs(entry?.deployment) && entry?.unreached === undefined;
  });
  const running = consumers.filter((consumer) => runs(status.consumersStatus?.[statusKey(consumer)]));
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
