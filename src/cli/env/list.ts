// `offshoot env list`: lists environments with their state, once or with -w as they change.
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import { formatRequests, isolationOf, itemsOf, readyCount, stateOf } from '../../environments/index.ts';
import { keyOf } from '../../kube/objects.ts';
import { ENVIRONMENT } from './get.ts';
import { listObjects } from '../objects/list.ts';
import { timeLeft } from '../terminal/table.ts';
import type { Columns, ListOptions } from '../objects/list.ts';

export function listEnvironments(names: readonly string[], options: ListOptions): Promise<void> {
  return listObjects(ENVIRONMENT, columns, names, options);
}

const deployments = (of: 'subsets' | 'consumers') => (env: DynamicEnv) => itemsOf(env)[of].map(keyOf).join(',');

const columns: Columns<DynamicEnv> = {
  middle: [
    { heading: 'STATUS', cell: stateOf, state: true },
    { heading: 'READY', cell: readyCount },
    { heading: 'ISOLATED', cell: (env) => isolationOf(env)?.status ?? '' },
    { heading: 'MATCH', cell: formatRequests },
    { heading: 'EXPIRES', cell: ({ status }) => timeLeft(status?.expiresAt, Date.now()) },
  ],
  wide: [
    { heading: 'SUBSETS', cell: deployments('subsets') },
    { heading: 'CONSUMERS', cell: deployments('consumers') },
  ],
};
