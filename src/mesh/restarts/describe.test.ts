import { expect, test } from 'vitest';
import { isUnfinished, restartSummary } from './describe.ts';
import type { PendingWorkload, RestartPlan } from './plan.ts';
import type { RestartProgress } from './progress.ts';

const NOTHING: RestartPlan = {
  restart: [],
  replace: [],
  restarting: [],
  waiting: [],
  unchanged: [],
  progress: { total: 0, done: 0 },
};
const pending = (on: PendingWorkload['on'], more: Partial<PendingWorkload> = {}): PendingWorkload => ({
  workload: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'a' },
  why: 'old image',
  waiting: 'something',
  on,
  ...more,
});
const progress = (plan: Partial<RestartPlan> = {}, more: Partial<RestartProgress> = {}): RestartProgress => ({
  lots: [],
  plan: { ...NOTHING, ...plan },
  manual: [],
  uninjected: [],
  gatewaysDone: false,
  sidecarsDone: false,
  injected: 0,
  failures: [],
  ...more,
});

test('restartSummary says if no workload is outdated', () => {
  expect(restartSummary(progress())).toEqual(['No workload is outdated.']);
  expect(isUnfinished(progress())).toBe(false);
});

test('restartSummary counts each workload once, so that the counts add up', () => {
  const waiting = [
    pending('rollouts'),
    pending('rollouts'),
    pending('time'),
    pending('people'),
    pending('people', { isExcluded: true }),
  ];
  const restarts = {
    restarting: [pending('rollouts')],
    waiting,
    unchanged: [pending('people')],
    progress: { total: 10, done: 3 },
  };
  const manual = [{ namespace: 'shop', name: 'job', why: 'old image', problem: 'it is owned by a Job' }];
  expect(restartSummary(progress(restarts, { manual }))).toEqual([
    '3 of 10 workloads are up to date.',
    '1 is restarting.',
    '2 wait for the next batch.',
    '1 waits for a maintenance window.',
    '2 need a manual restart.',
    '1 is excluded by annotation.',
    '1 pod must be restarted by hand.',
    'See offshoot mesh restart --outdated --dry-run.',
  ]);
});

test.each<[string, RestartProgress, boolean]>([
  ['a workload that waits for a maintenance window', progress({ waiting: [pending('time')] }), true],
  ['a workload that needs a manual restart', progress({ waiting: [pending('people')] }), true],
  [
    'a pod that must be restarted by hand',
    progress({}, { manual: [{ namespace: 'a', name: 'b', why: '', problem: '' }] }),
    true,
  ],
  ['a workload that is excluded', progress({ waiting: [pending('people', { isExcluded: true })] }), false],
])('isUnfinished for %s', (_what, made, isLeft) => {
  expect(isUnfinished(made)).toBe(isLeft);
});
