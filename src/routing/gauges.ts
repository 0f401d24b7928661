// Metrics of routing: the number of rules and meshes by state.
import { Mesh, RoutingRule } from '../api/routing.ts';
import { countByState } from '../controller/index.ts';
import type { TableGauge } from '../controller/index.ts';
import { STATES, stateOf } from './describe/state.ts';

export const ruleGauges: readonly TableGauge[] = [
  countByState({
    name: 'offshoot_routing_rules',
    help: 'Routing rules by state',
    kind: RoutingRule,
    states: STATES,
    stateOf,
  }),
];

/** Only meshes of AWS App Mesh: no controller here writes the status of others. */
export const meshGauges: readonly TableGauge[] = [
  countByState({
    name: 'offshoot_routing_meshes',
    help: 'Meshes of AWS App Mesh by state',
    kind: Mesh,
    states: STATES,
    stateOf: (mesh) => (mesh.spec?.awsAppMesh ? stateOf(mesh) : undefined),
  }),
];
