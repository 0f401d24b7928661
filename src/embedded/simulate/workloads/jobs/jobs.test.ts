import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../../../../test/support/fake-clock.ts';
import { cronJobs, jobs, pods } from '../../../kinds/types.ts';
import { testCluster } from '../../testing/cluster.ts';
import { job, reason, simulate } from '../../testing/objects.ts';

describe('jobs', () => {
  test('complete after the given completions, and respect parallelism', async () => {
    const cluster = await testCluster();
    let most = 0;
    cluster.embedded.store.subscribe('pods', () => {
      most = Math.max(most, cluster.list(pods).filter((pod) => pod.status?.phase !== 'Succeeded').length);
    });
    await cluster.create(job('sum', { completions: 5, parallelism: 2 }));
    await cluster.settle();
    const { status } = cluster.must(jobs, 'default/sum');
    expect(status).toMatchObject({
      succeeded: 5,
      ready: 0,
      uncountedTerminatedPods: {},
      completionTime: expect.any(String),
    });
    expect(status?.conditions?.map((one) => [one.type, one.reason])).toEqual([
      ['SuccessCriteriaMet', 'CompletionsReached'],
      ['Complete', 'CompletionsReached'],
    ]);
    expect(most).toBeLessThanOrEqual(2);
    expect(cluster.list(pods).every((pod) => pod.metadata.finalizers === undefined)).toBe(true);
  });

  test('label the pods of an indexed job with their index', async () => {
    const cluster = await testCluster();
    await cluster.create(job('parts', { completions: 3, parallelism: 3, completionMode: 'Indexed' }));
    await cluster.settle();
    expect(cluster.must(jobs, 'default/parts').status?.completedIndexes).toBe('0-2');
    const indexes = cluster.list(pods).map((pod) => pod.metadata.labels?.['batch.kubernetes.io/job-completion-index']);
    expect(new Set(indexes)).toEqual(new Set(['0', '1', '2']));
  });

  test('fail after the backoff limit, with backoff between the pods', async () => {
    const clock = new FakeClock(new Date().toISOString());
    const cluster = await testCluster({ clock });
    await cluster.create(job('bad', { backoffLimit: 1 }, { [simulate]: 'fail' }));
    await cluster.settle();
    expect(cluster.list(pods)).toHaveLength(1);
    await clock.advance(11_000);
    await cluster.settle();
    const { status } = cluster.must(jobs, 'default/bad');
    expect(status?.failed).toBe(2);
    expect(status?.conditions?.map((one) => [one.type, one.reason, one.message])).toEqual([
      ['FailureTarget', 'BackoffLimitExceeded', 'Job has reached the specified backoff limit'],
      ['Failed', 'BackoffLimitExceeded', 'Job has reached the specified backoff limit'],
    ]);
  });

  test('fail at their deadline, wait while suspended, and are deleted after their TTL', async () => {
    const clock = new FakeClock(new Date().toISOString());
    const cluster = await testCluster({ clock });
    await cluster.create(
      job('slow', { activeDeadlineSeconds: 5 }, { [simulate]: 'pending' }),
      job('still', { suspend: true }),
      job('brief', { ttlSecondsAfterFinished: 20 }),
    );
    await cluster.settle();
    expect(reason(cluster.must(jobs, 'default/still').status?.conditions, 'Suspended')).toBe('JobSuspended');
    expect(cluster.get(jobs, 'default/brief')).toBeDefined();
    await clock.advance(7_000);
    await cluster.settle();
    expect(reason(cluster.must(jobs, 'default/slow').status?.conditions, 'Failed')).toBe('DeadlineExceeded');
    await clock.advance(21_000);
    await cluster.settle();
    expect(cluster.get(jobs, 'default/brief')).toBeUndefined();
    await cluster.change(jobs, 'default/still', (one) => ({ ...one, spec: { ...one.spec, suspend: false } }));
    await cluster.settle();
    expect(cluster.must(jobs, 'default/still').status?.succeeded).toBe(1);
  });

  test('are created by a cron job at each time of its schedule', async () => {
    const clock = new FakeClock(new Date().toISOString());
    const cluster = await testCluster({ clock });
    const { spec } = job('', {}) as { spec: object };
    await cluster.create({
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'tick', namespace: 'default' },
      spec: { schedule: '* * * * *', jobTemplate: { spec } },
    });
    await cluster.settle();
    expect(cluster.list(jobs)).toHaveLength(0);
    await clock.advance(60_000);
    await cluster.settle();
    expect(cluster.list(jobs)).toHaveLength(1);
    await clock.advance(300_000);
    await cluster.settle();
    expect(cluster.list(jobs)).toHaveLength(3);
    expect(cluster.must(cronJobs, 'default/tick').status).toMatchObject({
      lastScheduleTime: expect.any(String),
      lastSuccessfulTime: expect.any(String),
    });
  });
});
