// Metrics of targets: how many claims and targets are in which phase.
import { DeploymentTarget, DeploymentTargetClaim } from '../api/targets.ts';
import { countByState } from '../controller/index.ts';
import type { TableGauge } from '../controller/index.ts';
import { phaseOf } from './describe/state.ts';

export const claimGauges: readonly TableGauge[] = [
  countByState({
    name: 'offshoot_claims',
    help: 'Claims by phase',
    label: 'phase',
    kind: DeploymentTargetClaim,
    states: ['Pending', 'Bound', 'Lost', 'Deleting'],
    stateOf: phaseOf,
  }),
];

export const targetGauges: readonly TableGauge[] = [
  countByState({
    name: 'offshoot_targets',
    help: 'Deployment targets by phase',
    label: 'phase',
    kind: DeploymentTarget,
    states: ['Pending', 'Available', 'Bound', 'Released', 'Failed', 'Deleting'],
    stateOf: phaseOf,
  }),
];
