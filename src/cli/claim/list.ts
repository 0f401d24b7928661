// `offshoot claim list`: lists claims with their state, once or with -w as they change.
import type { DeploymentTargetClaim } from '../../api/targets.ts';
import { EXPIRES_AT, phaseOf, problemOf, warningsOf } from '../../targets/index.ts';
import { CLAIM } from './nouns.ts';
import { listObjects } from '../objects/list.ts';
import type { Columns, ListOptions } from '../objects/list.ts';

export function listClaims(names: readonly string[], options: ListOptions): Promise<void> {
  return listObjects(CLAIM, columns, names, options);
}

const columns: Columns<DeploymentTargetClaim> = {
  middle: [
    { heading: 'PHASE', cell: phaseOf, state: true },
    { heading: 'CLASS', cell: ({ spec }) => spec.deploymentTargetClassName },
    { heading: 'TARGET', cell: ({ spec }) => spec.targetName ?? '' },
  ],
  wide: [
    { heading: 'EXPIRES', cell: ({ metadata }) => metadata.annotations?.[EXPIRES_AT] ?? '' },
    { heading: 'REASON', cell: (claim) => problemOf(claim) ?? warningsOf(claim)[0] ?? '' },
  ],
};
