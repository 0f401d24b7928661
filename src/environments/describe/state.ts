// The state of an environment: as one word, as a count, and as a verdict on whether to wait for it.
import type { CloneStatus, DynamicEnv, StatusError, SubsetStatus } from '../../api/dynamicenv.ts';
import { conditionsOf } from '../../controller/conditions.ts';
import { notSeenYet } from '../../api/description/controllers-hint.ts';
import { isAsleep, wakeText } from '../lifecycle/sleep.ts';
import { isPaused, PAUSED } from '../lifecycle/paused.ts';
import { lifetimeOf } from '../lifecycle/ttl.ts';
import { timestamp } from '../../kube/times.ts';
import { FINALIZERS, itemsOf, statusKey } from '../names.ts';
import type { ReasonOf } from '../reasons.ts';
import { messages } from '../status/messages.ts';

/** The results of `stateOf`. */
export const STATES = ['pending', 'processing', 'ready', 'degraded', 'paused', 'asleep', 'deleting'] as const;

/** The state in the status; `deleting`, `paused` and `asleep` come first, and `pending` is for one without a status. */
export function stateOf(env: DynamicEnv): string {
  if (env.metadata.deletionTimestamp !== undefined) return 'deleting';
  if (isPaused(env)) return 'paused';
  if (isAsleep(env)) return 'asleep';
  return env.status?.state ?? 'pending';
}

/** The reason for `stateOf`, in one sentence; undefined for a ready environment. */
export function reasonOf(env: DynamicEnv): string | undefined {
  const { deletionTimestamp, finalizers = [] } = env.metadata;
  if (deletionTimestamp !== undefined) {
    const why = deletionReport(env);
    return `waits for the finalizers ${finalizers.join(', ')}${why === undefined ? '' : `: ${why}`}`;
  }
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

/** What the controllers report about the deletion of an environment that is not over; undefined if they say nothing. */
export function deletionReport(env: DynamicEnv): string | undefined {
  const { deletionTimestamp, finalizers = [] } = env.metadata;
  const isOurs = finalizers.some((each) => FINALIZERS.some((own) => own === each));
  // Once our finalizers are removed, the report is outdated.
  if (deletionTimestamp === undefined || !isOurs) return undefined;
  const reports = conditionsOf(env).filter(({ reason }) => reason === 'Deleting');
  const isStalled = reports.find(({ type, status }) => type === 'Stalled' && status === 'True');
  const { message } = isStalled ?? reports.find(({ type }) => type === 'Ready') ?? {};
  return message === messages.removing ? undefined : message;
}

/** Why no request is routed to an environment, according to its spec and status. */
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
  /** Nothing will change until a user changes it. */
  | { readonly is: 'held'; readonly reason: string }
  | { readonly is: 'open' };

/** Reasons not to be ready that a user has chosen. */
const HELD = new Set(['Asleep', 'Paused']);

/** Whether to go on waiting for an environment. */
export function verdictOf(env: DynamicEnv): Verdict {
  if (!isCurrent(env) || isAsleep(env) !== isReportedAsleep(env)) return { is: 'open' };
  const conditions = conditionsOf(env);
  const stalled = conditions.find(({ type, status }) => type === 'Stalled' && status === 'True');
  if (stalled !== undefined) return { is: 'stalled', reason: stalled.message || stalled.reason };
  const ready = conditions.find(({ type }) => type === 'Ready');
  // The original operator writes no conditions, only the state.
  const isReady = ready === undefined ? env.status?.state === 'ready' : ready.status === 'True';
  if (isReady) return { is: 'ready' };
  return HELD.has(ready?.reason ?? '') ? { is: 'held', reason: ready!.message } : { is: 'open' };
}

/** Reasons of conditions that are false while everything goes as it should, or as a user has chosen. */
const EXPECTED: Readonly<Record<string, ReadonlySet<string>>> = {
  Routed: new Set<ReasonOf<'Routed'>>([
    'WaitingForWorkloads',
    'WaitingForRules',
    'WaitingForRoutes',
    'Asleep',
    'Paused',
  ]),
  WorkloadsReady: new Set<ReasonOf<'WorkloadsReady'>>(['NotRunning', 'Asleep', 'Paused']),
};

/**
 * What is wrong with an environment; undefined while it only makes progress. The state of one whose clone crashes or
 * does not start is `processing`, because it recovers by itself once the clone runs.
 */
export function problemOf(env: DynamicEnv): string | undefined {
  const verdict = verdictOf(env);
  if (verdict.is === 'stalled') return verdict.reason;
  if (verdict.is === 'ready' || !isCurrent(env)) return undefined;
  const conditions = conditionsOf(env);
  // Whether requests fail matters most, and the message says why.
  const [problem] = ['Routed', 'WorkloadsReady'].flatMap((name) =>
    conditions.filter(
      ({ type, status, reason }) => type === name && status === 'False' && !EXPECTED[name]!.has(reason),
    ),
  );
  if (problem !== undefined) return problem.message || problem.reason;
  // The original operator writes no conditions, only the state.
  return stateOf(env) === 'degraded' ? (reasonOf(env) ?? 'it is degraded') : undefined;
}

/** Whether the status says that an environment is asleep, or would if it were not paused. */
function isReportedAsleep(env: DynamicEnv): boolean {
  const isReported = conditionsOf(env).some(({ type, reason }) => type === 'Ready' && reason === 'Asleep');
  return isPaused(env) ? isAsleep(env) : isReported;
}

/** Whether an environment is asleep, with no work left to do. */
export function isFastAsleep(env: DynamicEnv): boolean {
  const isReconciling = conditionsOf(env).some(({ type, status }) => type === 'Reconciling' && status === 'True');
  return verdictOf(env).is === 'held' && isReportedAsleep(env) && !isReconciling;
}

/** How many subsets run and are reached by requests, and how many consumers run, of all: `1/2`. */
export function readyCount(env: DynamicEnv): string {
  const { subsets, consumers } = itemsOf(env);
  const { status } = env;
  const total = subsets.length + consumers.length;
  // The original operator does not report whether requests reach a subset.
  if (status?.observedGeneration === undefined) return `${status?.totalReady ?? 0}/${total}`;
  const runs = (clone: CloneStatus | undefined): boolean => clone?.status === 'running' && clone.message === undefined;
  const reached = subsets.filter((subset) => {
    const entry = status.subsetsStatus[statusKey(subset)];
    return runs(entry?.deployment) && entry?.unreached === undefined;
  });
  const running = consumers.filter((consumer) => runs(status.consumersStatus?.[statusKey(consumer)]));
  return `${reached.length + running.length}/${total}`;
}

/** The errors of one part of a subset in the status. */
export function partErrors(
  status: SubsetStatus | undefined,
  part: keyof NonNullable<SubsetStatus['subsetErrors']>,
): string[] {
  return errorTexts(status?.subsetErrors?.[part]);
}

/** The messages of errors in a status. */
export function errorTexts(errors: readonly StatusError[] | undefined): string[] {
  return (errors ?? []).map(({ error }) => error);
}
