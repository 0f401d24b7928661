// The progress of an environment, part by part, which `--wait` shows.
import { conditionsOf } from '../../controller/conditions.ts';
import type { CloneStatus, DynamicEnv, ResourceStatus, Subset, SubsetStatus } from '../../api/dynamicenv.ts';
import { itemsOf, statusKey } from '../names.ts';
import { keyOf } from '../../kube/objects.ts';
import { partErrors, isCurrent, errorTexts } from './state.ts';
import type { ProgressStep } from '../../api/description/tree.ts';

const UNSEEN = 'waits for the controller';

/** Clone, rule and routes of every subset, and the clone of every consumer. */
export function environmentSteps(env: DynamicEnv): readonly ProgressStep[] {
  const status = isCurrent(env) ? env.status : undefined;
  const { subsets, consumers } = itemsOf(env);
  return [
    ...subsets.flatMap((subset) => subsetSteps(subset, status?.subsetsStatus[statusKey(subset)])),
    ...consumers.map((consumer) => {
      const found = status?.consumersStatus?.[statusKey(consumer)];
      return cloneStep(consumer, found, errorTexts(found?.errors));
    }),
  ];
}

/** The same while an environment falls asleep: routes first, then clones; rules are kept. */
export function sleepingSteps(env: DynamicEnv): readonly ProgressStep[] {
  const { subsets, consumers } = itemsOf(env);
  const isSeen = conditionsOf(env).some(({ type, reason }) => type === 'Ready' && reason === 'Asleep');
  return [
    ...subsets.flatMap((subset) => {
      const status = env.status?.subsetsStatus[statusKey(subset)];
      const routed = runningKeys(status?.virtualServices);
      return [
        routeRemoval(`${statusKey(subset)} routes`, routed, isSeen),
        cloneRemoval(`${statusKey(subset)} clone`, status?.deployment, isSeen && routed.length === 0),
      ];
    }),
    ...consumers.map((consumer) =>
      cloneRemoval(`${statusKey(consumer)} clone`, env.status?.consumersStatus?.[statusKey(consumer)], isSeen),
    ),
  ];
}

function routeRemoval(label: string, routed: readonly string[], isSeen: boolean): ProgressStep {
  if (routed.length === 0) return { label, state: 'done', note: 'taken out' };
  if (!isSeen) return { label, state: 'waiting', note: UNSEEN };
  return { label, state: 'working', note: `being removed from VirtualService ${routed.join(', ')}` };
}

function cloneRemoval(label: string, clone: CloneStatus | undefined, isDraining: boolean): ProgressStep {
  if (clone === undefined || clone.status === 'missing' || clone.status === 'unknown') {
    return { label, state: 'done', note: 'not there' };
  }
  if (clone.status === 'asleep') return { label, state: 'done', note: `scaled to zero (Deployment ${keyOf(clone)})` };
  return isDraining
    ? { label, state: 'working', note: 'scaled to zero once in-flight requests have drained' }
    : { label, state: 'waiting', note: 'waits until its routes are removed' };
}

function subsetSteps(subset: Subset, status: SubsetStatus | undefined): ProgressStep[] {
  return [
    cloneStep(subset, status?.deployment, partErrors(status, 'deployment')),
    ruleStep(subset, status),
    routeStep(subset, status),
  ];
}

function cloneStep(subset: Subset, clone: CloneStatus | undefined, errors: readonly string[]): ProgressStep {
  const label = `${statusKey(subset)} clone`;
  if (errors.length > 0) return { label, state: 'failed', note: errors.join('; ') };
  if (clone === undefined) return { label, state: 'waiting', note: UNSEEN };
  const state = clone.name === '' ? clone.status : `${clone.status} (Deployment ${keyOf(clone)})`;
  const note = clone.message === undefined ? state : `${state}: ${clone.message}`;
  if (clone.status === 'running' && clone.message === undefined) return { label, state: 'done', note };
  return { label, state: clone.status === 'failed' ? 'failed' : 'working', note };
}

function ruleStep(subset: Subset, status: SubsetStatus | undefined): ProgressStep {
  const label = `${statusKey(subset)} rule`;
  const errors = partErrors(status, 'destinationRule');
  if (errors.length > 0) return { label, state: 'failed', note: errors.join('; ') };
  const running = runningKeys(status?.destinationRules);
  if (running.length === 0)
    return { label, state: 'waiting', note: status === undefined ? UNSEEN : 'waits for the clone' };
  return { label, state: 'done', note: `running (DestinationRule ${running.join(', ')})` };
}

function routeStep(subset: Subset, status: SubsetStatus | undefined): ProgressStep {
  const label = `${statusKey(subset)} routes`;
  const errors = [...partErrors(status, 'virtualServices'), ...partErrors(status, 'subset')];
  const running = runningKeys(status?.virtualServices);
  // A missing delegate is an error of one VirtualService; the routes in the others still work.
  if (running.length > 0 && partErrors(status, 'subset').length === 0) {
    if (status?.unreached !== undefined) return { label, state: 'failed', note: status.unreached };
    return { label, state: 'done', note: `running (VirtualService ${running.join(', ')})` };
  }
  if (errors.length > 0) return { label, state: 'failed', note: errors.join('; ') };
  return { label, state: 'waiting', note: status === undefined ? UNSEEN : waitsFor(status) };
}

/** Routes wait for the clone to run, and then for proxies to know its rule and pods. */
function waitsFor({ deployment }: SubsetStatus): string {
  if (deployment.status === 'asleep') return 'removed while it is asleep';
  return deployment.status === 'running' ? 'waits for proxies to pick up its rule and pods' : 'waits for the clone';
}

function runningKeys(resources: readonly ResourceStatus[] = []): string[] {
  return resources.filter(({ status }) => status === 'running').map(keyOf);
}
