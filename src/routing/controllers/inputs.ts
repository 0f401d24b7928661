// What must be known before anything is written, and how far writing may go.
import { MeshGroup, RoutingRule } from '../../api/routing.ts';
import { Upstream } from '../../api/upstream.ts';
import type { Facts } from '../../controller/index.ts';
import type { AnyKind } from '../../kube/index.ts';
import type { Mesh, MeshPlan } from '../model.ts';
import type { Guards } from '../reconcile/decide.ts';

/** Kinds without which a translation would take everything for gone. */
const INPUTS = [MeshGroup, RoutingRule, Upstream] as readonly AnyKind[];

/** Those of them that are not installed. */
export function missingInputs(facts: Facts): readonly string[] {
  return INPUTS.filter((kind) => !facts.served(kind)).map(({ plural, group }) => `${plural}.${group}`);
}

/** Without a plan: those of a mesh that is being deleted. */
export function guardsOf(mesh: Mesh, plan?: Pick<MeshPlan, 'unresolved' | 'unresolvedHosts'>): Guards {
  const { adopt, allowEmpty, maxDeleteFraction } = mesh;
  const { unresolved = [], unresolvedHosts = [] } = plan ?? {};
  return { unresolved, unresolvedHosts, adopt, allowEmpty, maxDeleteFraction, isEnding: plan === undefined };
}
