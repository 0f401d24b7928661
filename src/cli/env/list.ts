// `offshoot env list`: environments and how they are, once or as they change.
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import { itemsOf, statusKey } from '../../environments/names.ts';
import { keyOf } from '../../kube/objects.ts';
import { ENVIRONMENT } from './get.ts';
import { formatMatches } from './match.ts';
import { stateOf } from './state.ts';
import { listObjects } from '../objects/list.ts';
import type { Columns, ListOptions } from '../objects/list.ts';

/** Prints the environments of a namespace, or of all. */
export function listEnvironments(options: ListOptions): Promise<void> {
  return listObjects(ENVIRONMENT, columns, options);
}

const deployments = (of: 'subsets' | 'consumers') => (env: DynamicEnv) => itemsOf(env)[of].map(keyOf).join(',');

const columns: Columns<DynamicEnv> = {
  middle: [
    { heading: 'STATUS', cell: stateOf, state: true },
    { heading: 'READY', cell: readyCount },
    { heading: 'MATCH', cell: (env) => formatMatches(env.spec?.istioMatches ?? []) },
  ],
  wide: [
    { heading: 'SUBSETS', cell: deployments('subsets') },
    { heading: 'CONSUMERS', cell: deployments('consumers') },
  ],
};

/** Subsets that requests reach, and consumers that run. */
function readyCount(env: DynamicEnv): string {
  const { subsets, consumers } = itemsOf(env);
  const { status } = env;
  const total = subsets.length + consumers.length;
  // The original operator says nothing about requests.
  if (status?.observedGeneration === undefined) return `${status?.totalReady ?? 0}/${total}`;
  const reached = subsets.filter((subset) => {
    const entry = status.subsetsStatus[statusKey(subset)];
    return entry !== undefined && entry.unreached === undefined;
  });
  const running = consumers.filter((consumer) => {
    const entry = status.consumersStatus?.[statusKey(consumer)];
    return entry?.status === 'running' && entry.message === undefined;
  });
  return `${reached.length + running.length}/${total}`;
}
