// The timeline of an environment: created, clone ready, rule settled, routed, ready; each step with its time, or with
// what it waits for.
import type { ProgressStep } from '../../api/description/tree.ts';
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import { conditionsOf } from '../../controller/index.ts';
import { environmentSteps, verdictOf } from '../../environments/index.ts';
import type { TimelineStep } from '../data.ts';

/** The steps, in order. `ruleCreated` is the creation time of its first DestinationRule. */
export function timelineOf(env: DynamicEnv, ruleCreated: string | undefined): readonly TimelineStep[] {
  const steps = environmentSteps(env);
  const of = (suffix: string): readonly ProgressStep[] => steps.filter(({ label }) => label.endsWith(` ${suffix}`));
  const since = (type: string): string | undefined =>
    conditionsOf(env).find((each) => each.type === type && each.status === 'True')?.lastTransitionTime;
  const { creationTimestamp: created } = env.metadata;
  const hasRoutes = of('routes').length > 0;
  return [
    { label: 'created', state: 'done', ...at(created) },
    stepOf('clone ready', of('clone'), since('WorkloadsReady')),
    ...(hasRoutes
      ? [stepOf('rule settled', of('rule'), ruleCreated), stepOf('routed', of('routes'), since('Routed'))]
      : []),
    readyStep(env, since('Ready')),
  ];
}

const at = (time: string | undefined): { readonly at?: string } => (time === undefined ? {} : { at: time });

/** One step for all workloads: it is done when all of them are. */
function stepOf(label: string, steps: readonly ProgressStep[], reached: string | undefined): TimelineStep {
  const open =
    steps.find(({ state }) => state === 'failed') ??
    steps.find(({ state }) => state === 'working') ??
    steps.find(({ state }) => state === 'waiting');
  if (open === undefined) return { label, state: 'done', ...at(reached) };
  const whose = steps.length > 1 ? `${open.label.split(' ')[0]}: ` : '';
  return { label, state: open.state, note: `${whose}${open.note}` };
}

function readyStep(env: DynamicEnv, reached: string | undefined): TimelineStep {
  const verdict = verdictOf(env);
  if (verdict.is === 'ready') return { label: 'ready', state: 'done', ...at(reached) };
  if (verdict.is === 'stalled') return { label: 'ready', state: 'failed', note: verdict.reason };
  return { label: 'ready', state: 'waiting' };
}
