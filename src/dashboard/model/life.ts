// The life line of an environment: created, clone ready, rule settled, routed, ready; each with its time, or what it
// waits for.
import type { ProgressStep } from '../../api/description/tree.ts';
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import { conditionsOf } from '../../controller/index.ts';
import { environmentSteps, verdictOf } from '../../environments/index.ts';
import type { LifeStep } from '../data.ts';

/** The stations, in order. `ruleMade` is when its first DestinationRule was made. */
export function lifeOf(env: DynamicEnv, ruleMade: string | undefined): readonly LifeStep[] {
  const steps = environmentSteps(env);
  const of = (suffix: string): readonly ProgressStep[] => steps.filter(({ label }) => label.endsWith(` ${suffix}`));
  const since = (type: string): string | undefined =>
    conditionsOf(env).find((each) => each.type === type && each.status === 'True')?.lastTransitionTime;
  const { creationTimestamp: created } = env.metadata;
  const hasRoutes = of('routes').length > 0;
  return [
    { label: 'created', state: 'done', ...at(created) },
    station('clone ready', of('clone'), since('WorkloadsReady')),
    ...(hasRoutes
      ? [station('rule settled', of('rule'), ruleMade), station('routed', of('routes'), since('Routed'))]
      : []),
    readyStation(env, since('Ready')),
  ];
}

const at = (time: string | undefined): { readonly at?: string } => (time === undefined ? {} : { at: time });

/** One station for all workloads: as far as the last of them is. */
function station(label: string, steps: readonly ProgressStep[], reached: string | undefined): LifeStep {
  const open =
    steps.find(({ state }) => state === 'failed') ??
    steps.find(({ state }) => state === 'working') ??
    steps.find(({ state }) => state === 'waiting');
  if (open === undefined) return { label, state: 'done', ...at(reached) };
  const whose = steps.length > 1 ? `${open.label.split(' ')[0]}: ` : '';
  return { label, state: open.state, note: `${whose}${open.note}` };
}

function readyStation(env: DynamicEnv, reached: string | undefined): LifeStep {
  const verdict = verdictOf(env);
  if (verdict.is === 'ready') return { label: 'ready', state: 'done', ...at(reached) };
  if (verdict.is === 'stalled') return { label: 'ready', state: 'failed', note: verdict.reason };
  return { label: 'ready', state: 'waiting' };
}
