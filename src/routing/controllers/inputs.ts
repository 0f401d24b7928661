// The kinds that must be installed before anything is written, and the guards for writes.
import { MeshGroup, RoutingRule } from '../../api/routing.ts';
import { Upstream } from '../../api/upstream.ts';
import type { Facts } from '../../controller/index.ts';
import type { AnyKind } from '../../kube/index.ts';
import type { Mesh, MeshPlan } from '../model.ts';
import type { Guards } from '../reconcile/decide.ts';

/** Kinds without which a translation would remove everything. */
const INPUTS = [MeshGroup, RoutingRule, Upstream] as readonly AnyKind[];

/** The input kinds that are not installed. */
export function missingInputs(facts: Facts): readonly string[] {
  return INPUTS.filter((kind) => !facts.served(kind)).map(({ plural, group }) => `${plural}.${group}`);
}

/** The guards of a mesh; without a plan, of a mesh that is being deleted. */
export function guardsOf(mesh: Mesh, plan?: Pick<MeshPlan, 'unresolved' | 'unresolvedHosts'>): Guards {
  const { adopt, allowEmpty, maxDeleteFraction } = mesh;
  const { unresolved = [], unresolvedHosts = [] } = plan ?? {};
  return { unresolved, unresolvedHosts, adopt, allowEmpty, maxDeleteFraction, isDeleting: plan === undefined };
}
