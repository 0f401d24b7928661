// `offshoot routing list`: lists rules with their state, once or with -w as they change.
import type { RoutingRule } from '../../api/routing.ts';
import { problemsOf, stateOf } from '../../routing/index.ts';
import { listObjects } from '../objects/list.ts';
import type { Columns, ListOptions } from '../objects/list.ts';
import { RULE } from './nouns.ts';

export function listRules(names: readonly string[], options: ListOptions): Promise<void> {
  return listObjects(RULE, columns, names, options);
}

const columns: Columns<RoutingRule> = {
  middle: [
    { heading: 'STATE', cell: stateOf, state: true },
    { heading: 'MESH', cell: ({ spec }) => spec?.targetMesh?.name ?? '' },
  ],
  wide: [{ heading: 'REASON', cell: (rule) => problemsOf(rule)[0] ?? '' }],
};
