// Metrics of routing: how many rules and meshes are in which state.
import { Mesh, RoutingRule } from '../api/routing.ts';
import type { TableGauge } from '../controller/index.ts';
import type { Kind, KubeObject } from '../kube/index.ts';
import { STATES, stateOf } from './describe/state.ts';

export const ruleGauges: readonly TableGauge[] = [
  byState('offshoot_routing_rules', 'Routing rules by state', RoutingRule, () => true),
];

/** Of meshes, those of AWS App Mesh: nobody here says something of others. */
export const meshGauges: readonly TableGauge[] = [
  byState('offshoot_routing_meshes', 'Meshes of AWS App Mesh by state', Mesh, (each) =>
    Boolean((each as Mesh).spec?.awsAppMesh),
  ),
];

/** A series for every state, so that none disappears when the last object leaves it. */
function byState(
  name: string,
  help: string,
  kind: Kind<KubeObject>,
  isCounted: (object: KubeObject) => boolean,
): TableGauge {
  return {
    name,
    help,
    labels: ['state'],
    series(facts) {
      const states = Map.groupBy(facts.list(kind).filter(isCounted), stateOf);
      return STATES.map((state) => ({ labels: { state }, value: states.get(state)?.length ?? 0 }));
    },
  };
}
