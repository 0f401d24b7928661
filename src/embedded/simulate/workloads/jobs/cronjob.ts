// CronJobs: they create a job at each time of their schedule, and keep only the latest finished jobs.
import type { JsonObject } from '../../../../kube/objects.ts';
import { timestamp } from '../../../../kube/times.ts';
import { sameJson } from '../../../patch/json.ts';
import { cronJobs, jobs } from '../../../kinds/types.ts';
import type { CronJob, Job } from '../../../kinds/types.ts';
import { finishedAs } from './job.ts';
import type { Controller } from '../../loop.ts';
import { managedBy } from '../../pods/pods.ts';
import { nextTime, parseSchedule } from './schedule.ts';
import { byAge, ownersOfKind, self } from '../../values.ts';
import type { World } from '../../world.ts';
import { controllerManager, createOf, deleteOf, nothing, statusOf } from '../../writes.ts';
import type { NewObject, Plan, Write } from '../../writes.ts';

/** The job for one time of the schedule. Its name contains that time, so that it is created only once. */
function jobAt(cron: CronJob, time: number): NewObject {
  const { metadata, spec } = cron.spec.jobTemplate;
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      ...(metadata?.labels !== undefined && { labels: metadata.labels }),
      name: `${cron.metadata.name}-${Math.floor(time / 60_000)}`,
      namespace: cron.metadata.namespace!,
      annotations: { ...metadata?.annotations, 'batch.kubernetes.io/cronjob-scheduled-timestamp': timestamp(time) },
      ownerReferences: [managedBy(cron)],
    },
    spec,
  };
}

export function planCronJob(world: World, cron: CronJob): Plan {
  const now = world.now();
  const schedule = parseSchedule(cron.spec.schedule);
  if (schedule === undefined || cron.metadata.deletionTimestamp !== undefined) return nothing;
  const owned = world.controlled(jobs, cron.metadata.uid).toSorted(byAge);
  const running = owned.filter((job) => finishedAs(job) === undefined);
  const writes: Write[] = jobsBeyondHistory(cron, owned).map((job) =>
    deleteOf(job, { propagationPolicy: 'Background' }),
  );
  const last = Date.parse(cron.status?.lastScheduleTime ?? cron.metadata.creationTimestamp ?? '');
  const deadline = cron.spec.startingDeadlineSeconds;
  const since = deadline === undefined ? last : Math.max(last, now - deadline * 1000);
  let due: number | undefined;
  let next = nextTime(schedule, since, cron.spec.timeZone);
  while (next !== undefined && next <= now) {
    due = next;
    next = nextTime(schedule, next, cron.spec.timeZone);
  }
  const policy = cron.spec.concurrencyPolicy ?? 'Allow';
  const starts = due !== undefined && cron.spec.suspend !== true && (policy !== 'Forbid' || running.length === 0);
  if (starts) {
    if (policy === 'Replace') writes.push(...running.map((job) => deleteOf(job, { propagationPolicy: 'Background' })));
    writes.push(createOf(jobAt(cron, due!)));
  }
  const status = statusAfter(cron, owned, running, starts ? due : undefined);
  if (!sameJson(status, cron.status ?? {})) writes.push(statusOf(cron, status));
  const waits = next !== undefined && cron.spec.suspend !== true;
  return { writes, ...(waits && { requeueAfterMs: next! - now }) };
}

function statusAfter(
  cron: CronJob,
  owned: readonly Job[],
  running: readonly Job[],
  started: number | undefined,
): JsonObject {
  const succeeded = owned.flatMap((job) => (finishedAs(job) === 'Complete' ? (job.status?.completionTime ?? []) : []));
  const lastSuccessfulTime = [...succeeded, cron.status?.lastSuccessfulTime ?? ''].sort().at(-1)!;
  const lastScheduleTime = started === undefined ? cron.status?.lastScheduleTime : timestamp(started);
  const active = running.map(({ apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } }) => ({
    apiVersion,
    kind,
    name,
    namespace,
    resourceVersion,
    uid,
  }));
  const known = (cron.status?.active ?? []).filter((one) => active.some(({ uid }) => uid === one['uid']));
  const added = active.filter(({ uid }) => !known.some((one) => one['uid'] === uid));
  return {
    ...(known.length + added.length > 0 && { active: [...known, ...added] }),
    ...(lastScheduleTime !== undefined && { lastScheduleTime }),
    ...(lastSuccessfulTime !== '' && { lastSuccessfulTime }),
  };
}

/** Finished jobs beyond the history limits, oldest first. */
function jobsBeyondHistory(cron: CronJob, owned: readonly Job[]): Job[] {
  const { successfulJobsHistoryLimit = 3, failedJobsHistoryLimit = 1 } = cron.spec;
  const oldest = (type: 'Complete' | 'Failed', kept: number): Job[] => {
    const ended = owned.filter((job) => finishedAs(job) === type);
    return ended.slice(0, Math.max(0, ended.length - kept));
  };
  return [...oldest('Complete', successfulJobsHistoryLimit), ...oldest('Failed', failedJobsHistoryLimit)];
}

export const cronJobController: Controller = {
  name: 'cronjob-controller',
  writer: controllerManager('cronjob-controller'),
  on: { [cronJobs]: self, [jobs]: ownersOfKind('CronJob') },
  plan: (world, key) => {
    const cron = world.get(cronJobs, key);
    return cron === undefined ? nothing : planCronJob(world, cron);
  },
};
