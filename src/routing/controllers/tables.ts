// The kinds that routing reads.
import { Mesh, MeshGroup, RoutingRule } from '../../api/routing.ts';
import { Upstream } from '../../api/upstream.ts';
import { reading } from '../../kube/index.ts';
import type { TableDeclaration } from '../../kube/index.ts';
import { Pod, Service } from '../objects.ts';

export const routingTables: readonly TableDeclaration[] = [
  reading(Mesh),
  reading(MeshGroup),
  reading(RoutingRule),
  reading(Upstream),
  reading(Pod),
  reading(Service),
];
