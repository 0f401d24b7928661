// Jobs: they run pods to completion, and then report success or failure.
import { withAnnotations } from '../../../../kube/annotations.ts';
import { timestamp } from '../../../../kube/times.ts';
import { sameJson } from '../../../patch/json.ts';
import { jobs, pods as podCollection } from '../../../kinds/types.ts';
import type { Condition, Job, JobStatus, Pod } from '../../../kinds/types.ts';
import type { Controller } from '../../loop.ts';
import { createPod, burst, claim, deletePod, isActive, isReady, isTerminating, podFrom } from '../../pods/pods.ts';
import { conditionOf, ownersOrSelectors, safeSelector, self, withCondition } from '../../values.ts';
import type { World } from '../../world.ts';
import { controllerManager, deleteOf, nothing, statusOf, updateOf } from '../../writes.ts';
import type { NewObject, Plan, Write } from '../../writes.ts';

/** The finalizer that keeps a finished pod until it is counted. */
const trackingFinalizer = 'batch.kubernetes.io/job-tracking';
const indexAnnotation = 'batch.kubernetes.io/job-completion-index';
const firstBackoffMs = 10_000;
const longestBackoffMs = 600_000;

interface Outcome {
  readonly succeeded: boolean;
  readonly reason: string;
  readonly message: string;
}

/** How a job finished; undefined while it runs. */
export function finishedAs(job: Job): 'Complete' | 'Failed' | undefined {
  return (['Complete', 'Failed'] as const).find((type) => conditionOf(job.status?.conditions, type)?.status === 'True');
}

export function planJob(world: World, job: Job): Plan {
  const now = world.now();
  if (job.metadata.deletionTimestamp !== undefined) return nothing;
  const { owned, writes: claimed } = claim(world, job, podCollection, safeSelector(job.spec.selector));
  if (claimed.length > 0) return { writes: claimed };
  if (finishedAs(job) !== undefined) return afterFinish(job, owned, now);
  const { status: counted, released } = count(job, owned);
  const active = owned.filter(isActive);
  const suspended = job.spec.suspend === true;
  const outcome = outcomeOf(job, counted, active, now);
  const stops = suspended || outcome !== undefined;
  const missing = stops ? [] : newPods(job, counted, owned, now);
  const surplus = stops ? active : active.slice(0, Math.max(0, active.length - parallelism(job, counted)));
  const conditions = conditionsOf(job, outcome, active.length === 0 && isAllCounted(counted), now);
  const startTime = suspended ? undefined : (counted.startTime ?? timestamp(now));
  const ready = active.filter(isReady).length;
  const finished = conditions.some((one) => one.type === 'Complete');
  const { startTime: _start, ...rest } = counted;
  const status: JobStatus = {
    ...(conditions.length > 0 && { conditions }),
    ...(startTime !== undefined && { startTime }),
    ...(finished && { completionTime: timestamp(now) }),
    ...rest,
    ...(active.length > 0 && { active: active.length }),
    terminating: owned.filter(isTerminating).length,
    ready,
  };
  const writes: Write[] = [
    ...released.map((pod) => updateOf(pod)),
    ...(missing === 'later' ? [] : missing.map((pod) => createPod(pod, job))),
    ...surplus.map((pod) => deletePod(pod, job)),
  ];
  if (!sameJson(status, job.status ?? {})) writes.push(statusOf(job, status));
  const requeueAfterMs = requeueInMs(
    job,
    missing === 'later' ? backoffInMs(counted, owned, now) : undefined,
    status,
    now,
  );
  return { writes, ...(requeueAfterMs !== undefined && { requeueAfterMs }) };
}

/**
 * Counts finished pods: first their uids are recorded in the status, then their finalizer is removed, and only then are
 * they counted. So no pod is lost or counted twice, wherever this is interrupted.
 */
function count(job: Job, pods: readonly Pod[]): { readonly status: JobStatus; readonly released: readonly Pod[] } {
  const recorded = job.status?.uncountedTerminatedPods ?? {};
  const tracked = pods.filter((pod) => pod.metadata.finalizers?.includes(trackingFinalizer) === true);
  const tally = (phase: string, before: readonly string[] = []): { uids: string[]; done: number } => {
    const ended = tracked.filter(
      (pod) => hasEnded(pod) && (pod.status?.phase === 'Succeeded') === (phase === 'Succeeded'),
    );
    const uids = ended.map((pod) => pod.metadata.uid!);
    return { uids, done: before.filter((uid) => !uids.includes(uid)).length };
  };
  const succeeded = tally('Succeeded', recorded.succeeded);
  const failed = tally('Failed', recorded.failed);
  const known = new Set([...(recorded.succeeded ?? []), ...(recorded.failed ?? [])]);
  const released = tracked
    .filter((pod) => known.has(pod.metadata.uid!))
    .map((pod) => {
      const finalizers = pod.metadata.finalizers?.filter((one) => one !== trackingFinalizer) ?? [];
      return { ...pod, metadata: { ...pod.metadata, finalizers } };
    });
  const total = (before: number | undefined, more: number): number => (before ?? 0) + more;
  const indexes = completedIndexes(job, pods);
  const status: JobStatus = {
    ...(job.status?.startTime !== undefined && { startTime: job.status.startTime }),
    ...positive('succeeded', total(job.status?.succeeded, succeeded.done)),
    ...positive('failed', total(job.status?.failed, failed.done)),
    ...(indexes !== '' && { completedIndexes: indexes }),
    uncountedTerminatedPods: {
      ...(succeeded.uids.length > 0 && { succeeded: succeeded.uids }),
      ...(failed.uids.length > 0 && { failed: failed.uids }),
    },
  };
  return { status, released };
}

function positive<K extends string>(name: K, value: number): { [name in K]?: number } {
  return (value > 0 ? { [name]: value } : {}) as { [name in K]?: number };
}

function hasEnded(pod: Pod): boolean {
  const phase = pod.status?.phase;
  return phase === 'Succeeded' || phase === 'Failed';
}

function isAllCounted({ uncountedTerminatedPods: { succeeded = [], failed = [] } = {} }: JobStatus): boolean {
  return succeeded.length + failed.length === 0;
}

/** How many pods may run in parallel. */
function parallelism(job: Job, status: JobStatus): number {
  const { parallelism: allowed = 1, completions } = job.spec;
  if (completions === undefined) return (status.succeeded ?? 0) > 0 ? 0 : allowed;
  return Math.min(allowed, Math.max(0, completions - (status.succeeded ?? 0)));
}

/** The pods to create now; `later` while the job backs off after a failure. */
function newPods(job: Job, status: JobStatus, pods: readonly Pod[], now: number): readonly NewObject[] | 'later' {
  const active = pods.filter(isActive);
  const uncounted = status.uncountedTerminatedPods?.succeeded?.length ?? 0;
  const missing = parallelism(job, status) - active.length - (job.spec.completions === undefined ? 0 : uncounted);
  if (missing <= 0) return [];
  const podCount = Math.min(missing, burst);
  if (backoffInMs(status, pods, now) > 0) return 'later';
  const template = job.spec.template;
  const metadata = { ...template.metadata, finalizers: [trackingFinalizer] };
  if (job.spec.completionMode !== 'Indexed') {
    return Array.from({ length: podCount }, () => podFrom({ ...template, metadata }, job));
  }
  return freeIndexes(job, pods, podCount).map((index) => {
    const text = String(index);
    const labels = { ...metadata.labels, [indexAnnotation]: text };
    const spec = { ...template.spec, hostname: `${job.metadata.name}-${text}` };
    const indexed = withAnnotations({ spec, metadata: { ...metadata, labels } }, { [indexAnnotation]: text });
    const pod = podFrom(indexed, job);
    return { ...pod, metadata: { ...pod.metadata, generateName: `${job.metadata.name}-${text}-` } };
  });
}

function indexOf(pod: Pod): number {
  return Number(pod.metadata.annotations?.[indexAnnotation] ?? -1);
}

function freeIndexes(job: Job, pods: readonly Pod[], podCount: number): number[] {
  const taken = new Set(pods.filter((pod) => isActive(pod) || pod.status?.phase === 'Succeeded').map(indexOf));
  const free: number[] = [];
  for (let index = 0; index < (job.spec.completions ?? 0) && free.length < podCount; index++) {
    if (!taken.has(index)) free.push(index);
  }
  return free;
}

/** The indexes that succeeded, as in `0-2,5`. */
function completedIndexes(job: Job, pods: readonly Pod[]): string {
  if (job.spec.completionMode !== 'Indexed') return '';
  const done = [...new Set(pods.filter((pod) => pod.status?.phase === 'Succeeded').map(indexOf))].sort((a, b) => a - b);
  const ranges: [number, number][] = [];
  for (const index of done) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === index - 1) last[1] = index;
    else ranges.push([index, index]);
  }
  return ranges
    .map(([from, to]) => (from === to ? String(from) : `${from}${to === from + 1 ? ',' : '-'}${to}`))
    .join(',');
}

/** The remaining backoff after the latest failure; it doubles with every failure. */
function backoffInMs(status: JobStatus, pods: readonly Pod[], now: number): number {
  const failures = (status.failed ?? 0) + (status.uncountedTerminatedPods?.failed?.length ?? 0);
  if (failures === 0) return 0;
  const ends = pods.filter((pod) => pod.status?.phase === 'Failed').map((pod) => endOf(pod) ?? 0);
  const wait = Math.min(firstBackoffMs * 2 ** (failures - 1), longestBackoffMs);
  return Math.max(0, Math.max(0, ...ends) + wait - now);
}

function endOf(pod: Pod): number | undefined {
  const ends = (pod.status?.containerStatuses ?? []).flatMap(
    ({ state }) => Date.parse(state?.terminated?.finishedAt ?? '') || [],
  );
  return ends.length === 0 ? undefined : Math.max(...ends);
}

function outcomeOf(job: Job, status: JobStatus, active: readonly Pod[], now: number): Outcome | undefined {
  const { completions, backoffLimit = 6, activeDeadlineSeconds, suspend } = job.spec;
  const failed = (status.failed ?? 0) + (status.uncountedTerminatedPods?.failed?.length ?? 0);
  const succeeded = (status.succeeded ?? 0) + (status.uncountedTerminatedPods?.succeeded?.length ?? 0);
  if (failed > backoffLimit) {
    return { succeeded: false, reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' };
  }
  const age = status.startTime === undefined ? 0 : now - Date.parse(status.startTime);
  if (activeDeadlineSeconds !== undefined && suspend !== true && age >= activeDeadlineSeconds * 1000) {
    return { succeeded: false, reason: 'DeadlineExceeded', message: 'Job was active longer than specified deadline' };
  }
  const complete = completions === undefined ? succeeded > 0 && active.length === 0 : succeeded >= completions;
  return complete
    ? { succeeded: true, reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' }
    : undefined;
}

/** Announces the outcome first; it is final once all pods have terminated and are counted. */
function conditionsOf(
  job: Job,
  outcome: Outcome | undefined,
  final: boolean,
  now: number,
): NonNullable<JobStatus['conditions']> {
  const time = timestamp(now);
  const condition = (type: string, status: Condition['status'], reason: string, message: string) => ({
    type,
    status,
    lastProbeTime: time,
    lastTransitionTime: time,
    reason,
    message,
  });
  let conditions = job.status?.conditions ?? [];
  const add = (next: ReturnType<typeof condition>): void => {
    if (conditionOf(conditions, next.type)?.status !== next.status) conditions = withCondition(conditions, next);
  };
  if (outcome !== undefined) {
    const { succeeded, reason, message } = outcome;
    add(condition(succeeded ? 'SuccessCriteriaMet' : 'FailureTarget', 'True', reason, message));
    if (final) add(condition(succeeded ? 'Complete' : 'Failed', 'True', reason, message));
  } else if (job.spec.suspend === true) add(condition('Suspended', 'True', 'JobSuspended', 'Job suspended'));
  else if (conditionOf(conditions, 'Suspended')?.status === 'True') {
    add(condition('Suspended', 'False', 'JobResumed', 'Job resumed'));
  }
  return conditions;
}

/** Removes the finalizers of the pods of a finished job, and deletes the job when its TTL expires. */
function afterFinish(job: Job, pods: readonly Pod[], now: number): Plan {
  const tracked = pods.filter((pod) => pod.metadata.finalizers?.includes(trackingFinalizer) === true);
  const released = tracked.map((pod) => {
    const finalizers = pod.metadata.finalizers?.filter((one) => one !== trackingFinalizer) ?? [];
    return updateOf({ ...pod, metadata: { ...pod.metadata, finalizers } });
  });
  const { ttlSecondsAfterFinished } = job.spec;
  if (ttlSecondsAfterFinished === undefined) return { writes: released };
  const finish = conditionOf(job.status?.conditions, finishedAs(job)!)?.lastTransitionTime;
  const leftMs = Date.parse(finish ?? '') + ttlSecondsAfterFinished * 1000 - now;
  if (leftMs > 0) return { writes: released, requeueAfterMs: leftMs };
  return { writes: [...released, deleteOf(job, { propagationPolicy: 'Foreground' })] };
}

function requeueInMs(job: Job, backoff: number | undefined, status: JobStatus, now: number): number | undefined {
  const { activeDeadlineSeconds } = job.spec;
  const deadline =
    activeDeadlineSeconds === undefined || status.startTime === undefined
      ? undefined
      : Math.max(0, Date.parse(status.startTime) + activeDeadlineSeconds * 1000 - now);
  const times = [backoff, deadline].filter((time) => time !== undefined);
  return times.length === 0 ? undefined : Math.min(...times);
}

export const jobController: Controller = {
  name: 'job-controller',
  writer: controllerManager('job-controller'),
  on: { [jobs]: self, pods: ownersOrSelectors('Job', jobs) },
  plan: (world, key) => {
    const job = world.get(jobs, key);
    return job === undefined ? nothing : planJob(world, job);
  },
};
