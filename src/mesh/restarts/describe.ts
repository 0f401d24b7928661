// The progress of restarts, line by line, for people who watch.
import type { ProgressStep } from '../../api/description/tree.ts';
import { workloadKey } from './owners.ts';
import type { PendingWorkload } from './plan.ts';
import type { RestartProgress } from './progress.ts';

/** The maximum number of names in a list. */
const MAX_LISTED = 10;

/** The steps of the progress: all workloads together, those that are restarting, and those that need a person. */
export function restartSteps(progress: RestartProgress): readonly ProgressStep[] {
  const { waiting: missing, plan, manual } = progress;
  if (plan === undefined) return [{ label: 'restarts', state: 'waiting', note: `waiting for ${missing}` }];
  const { restart, restarting, waiting, unchanged, progress: counted } = plan;
  const next = [
    ...restart.map(({ why }) => why),
    ...waiting.filter(({ on }) => on === 'rollouts').map(({ why }) => why),
  ];
  const isOver = next.length + restarting.length === 0;
  return [
    {
      label: 'workloads',
      state: isOver ? 'done' : 'working',
      note: `${counted.done} of ${counted.total} are up to date`,
    },
    ...restarting.map((each) => step(each, 'working')),
    ...(next.length > 0 ? [{ label: 'next', state: 'waiting' as const, note: `${next.length} more: ${next[0]}` }] : []),
    ...some(waiting.filter(({ on }) => on === 'time').map((each) => step(each, 'waiting'))),
    ...some([...waiting.filter(({ on }) => on === 'people'), ...unchanged].map((each) => step(each, 'failed'))),
    ...some(
      manual.map(({ namespace, name, problem }): ProgressStep => {
        return { label: `Pod ${namespace}/${name}`, state: 'failed', note: problem };
      }),
    ),
  ];
}

/** The progress of restarts, in sentences whose counts add up. */
export function restartSummary({ waiting: missing, plan, manual }: RestartProgress): readonly string[] {
  if (plan === undefined) return [`Nothing is restarted yet: waiting for ${missing}.`];
  const { restart, restarting, waiting, unchanged, progress } = plan;
  const excluded = waiting.filter(({ isExcluded }) => isExcluded).length;
  const on = (what: PendingWorkload['on']): number => waiting.filter((each) => each.on === what).length;
  const counts: readonly (readonly [count: number, one: string, many: string])[] = [
    [restarting.length, 'is restarting', 'are restarting'],
    [restart.length + on('rollouts'), 'waits for the next batch', 'wait for the next batch'],
    [on('time'), 'waits for a maintenance window', 'wait for a maintenance window'],
    [on('people') - excluded + unchanged.length, 'needs a manual restart', 'need a manual restart'],
    [excluded, 'is excluded by annotation', 'are excluded by annotation'],
  ];
  const lines = [
    progress.total === 0
      ? 'No workload is outdated.'
      : `${progress.done} of ${progress.total} workloads are up to date.`,
    ...counts.flatMap(([count, one, many]) => (count === 0 ? [] : [`${count} ${count === 1 ? one : many}.`])),
    ...(manual.length > 0
      ? [`${manual.length} ${manual.length === 1 ? 'pod' : 'pods'} must be restarted by hand.`]
      : []),
  ];
  return lines.length === 1 ? lines : [...lines, 'See offshoot mesh restart --outdated --dry-run.'];
}

/** Whether workloads are left that should be restarted and are not excluded. */
export function isUnfinished({ plan, manual }: RestartProgress): boolean {
  if (plan === undefined) return true;
  const { restart, restarting, waiting, unchanged } = plan;
  const left = waiting.filter(({ isExcluded }) => !isExcluded);
  return restart.length + restarting.length + left.length + unchanged.length + manual.length > 0;
}

/** Whether the rest needs a person, or a time that may be days away. */
export function isRestartingOver({ plan }: RestartProgress): boolean {
  if (plan === undefined) return false;
  return plan.restart.length + plan.restarting.length === 0 && plan.waiting.every(({ on }) => on !== 'rollouts');
}

function step({ workload, waiting }: PendingWorkload, state: ProgressStep['state']): ProgressStep {
  return { label: workloadKey(workload), state, note: waiting };
}

function some(steps: readonly ProgressStep[]): readonly ProgressStep[] {
  const more = steps.length - MAX_LISTED;
  if (more <= 0) return steps;
  return [...steps.slice(0, MAX_LISTED), { label: 'others', state: steps[0]!.state, note: `and ${more} more` }];
}
