// MeshPlan → the parts of a mesh for a back end, each recomputed only when its input has changed.
import { defineModel } from '../../controller/index.ts';
import type { Facts, Model } from '../../controller/index.ts';
import { derive } from '../../watchable/index.ts';
import type { DerivedValues } from '../../watchable/index.ts';
import type { Parts, Topology } from '../backends/appmesh.ts';
import type { Problem } from '../errors.ts';
import type { Mode } from '../model.ts';
import { hostKey } from './plans.ts';
import type { HostKey, PlanModels } from './plans.ts';

export interface PartModels<T> {
  readonly routers: Model<DerivedValues<HostKey, readonly T[]>>;
  /** The mesh, its virtual nodes and its virtual services, by the key of the mesh. */
  readonly others: Model<DerivedValues<string, Others<T>>>;
}

interface Others<T> {
  /** Why the mesh cannot be emitted. */
  readonly problem?: Problem;
  readonly warnings: readonly Problem[];
  readonly mesh: readonly T[];
  readonly nodes: readonly T[];
  readonly services: readonly T[];
}

export function partModels<T>(plans: PlanModels, parts: Parts<T>, mode: Mode): PartModels<T> {
  return {
    routers: defineModel((facts) =>
      derive(
        'routers',
        (read, key: HostKey): readonly T[] | undefined => {
          const topology = read.get(facts(read).model(plans.topologies), key.mesh);
          const routes = read.get(facts(read).model(plans.hostRoutes), key);
          return topology && routes && parts.router(topology, routes, mode);
        },
        { key: hostKey },
      ),
    ),
    others: defineModel((facts) =>
      derive('nodes and services', (read, key: string): Others<T> | undefined => {
        const topology = read.get(facts(read).model(plans.topologies), key);
        return topology && othersOf(topology, parts, mode);
      }),
    ),
  };
}

function othersOf<T>(topology: Topology, parts: Parts<T>, mode: Mode): Others<T> {
  const problem = parts.problem(topology, mode);
  if (problem !== undefined) return { problem, warnings: [], mesh: [], nodes: [], services: [] };
  const mesh = parts.mesh(topology);
  return {
    warnings: parts.warnings(topology),
    mesh: mesh === undefined ? [] : [mesh],
    nodes: parts.nodes(topology),
    services: parts.services(topology),
  };
}

/** All parts of a mesh, or why there are none. */
export function partsIn<T>(
  facts: Facts,
  plans: PlanModels,
  models: PartModels<T>,
  mesh: string,
): { readonly parts: readonly T[]; readonly warnings: readonly Problem[] } | { readonly problem: Problem } | undefined {
  const topology = facts.read.get(facts.model(plans.topologies), mesh);
  const others = facts.read.get(facts.model(models.others), mesh);
  if (topology === undefined || others === undefined) return undefined;
  if (others.problem !== undefined) return { problem: others.problem };
  const routers = facts.model(models.routers);
  const parts = [
    ...others.mesh,
    ...others.nodes,
    ...topology.routed.flatMap((host) => facts.read.get(routers, { mesh, host }) ?? []),
    ...others.services,
  ];
  return { parts, warnings: others.warnings };
}
