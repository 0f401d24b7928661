// The back end for the AWS App Mesh API: the bodies of its Create calls, by name.
import type { HostRoutes, MeshPlan, Mode } from '../model.ts';
import { byKey, sanitize } from '../names.ts';
import {
  allParts,
  backendsOf,
  CAPABILITIES,
  hostLimit,
  limits,
  MESH,
  PROTOCOL,
  routesOf,
  servicesOf,
} from './appmesh.ts';
import type { Parts, Topology } from './appmesh.ts';
import type { Backend, Emission } from './backend.ts';

type ByName = Readonly<Record<string, object>>;

/** All resources of a mesh. */
export interface AppMeshResources {
  readonly meshName: string;
  readonly virtualNodes: ByName;
  readonly virtualServices: ByName;
  readonly virtualRouters: ByName;
  readonly routes: ByName;
}

/** The body of one Create call. */
export type Body =
  | { readonly virtualNodeName: string; readonly meshName: string; readonly spec: object }
  | { readonly virtualServiceName: string; readonly meshName: string; readonly spec: object }
  | {
      readonly virtualRouterName: string;
      readonly routeName?: undefined;
      readonly meshName: string;
      readonly spec: object;
    }
  | {
      readonly routeName: string;
      readonly virtualRouterName: string;
      readonly meshName: string;
      readonly spec: object;
    };

export const appMeshApi: Backend<AppMeshResources> = {
  name: 'appmesh-api',
  about: 'AWS App Mesh: the bodies of the calls of its API',
  mesh: MESH,
  capabilities: CAPABILITIES,
  nodeName: ({ id }) => id,
  routerName: sanitize,
  limits,
  hostLimit,
  emit,
};

export const apiParts: Parts<Body> = {
  // In SuperGloo, one of two routers with the same name overwrites the other.
  problem: () => undefined,
  warnings: () => [],
  // A mesh has only a name, which is part of every body.
  mesh: () => undefined,
  nodes: virtualNodes,
  router: virtualRouter,
  services: (topology) =>
    servicesOf(topology).map(({ host, provider }): Body => {
      const of =
        'router' in provider
          ? { virtualRouter: { virtualRouterName: provider.router } }
          : { virtualNode: { virtualNodeName: provider.workload } };
      return { meshName: topology.name, virtualServiceName: host, spec: { provider: of } };
    }),
};

const listenerOn = (port: number): object => ({ portMapping: { port, protocol: PROTOCOL } });

function emit(plan: MeshPlan, mode: Mode): Emission<AppMeshResources> {
  const emission = allParts(apiParts, plan, mode);
  if ('failure' in emission) return emission;
  const nodes: [string, object][] = [];
  const services: [string, object][] = [];
  const routers: [string, object][] = [];
  const routes: [string, object][] = [];
  for (const body of emission.output) {
    if ('virtualNodeName' in body) nodes.push([body.virtualNodeName, body]);
    else if ('virtualServiceName' in body) services.push([body.virtualServiceName, body]);
    else if (body.routeName === undefined) routers.push([body.virtualRouterName, body]);
    else routes.push([body.routeName, body]);
  }
  const output: AppMeshResources = {
    meshName: plan.name,
    virtualNodes: byKey(nodes),
    virtualServices: byKey(services),
    virtualRouters: byKey(routers),
    routes: byKey(routes),
  };
  return { output, warnings: emission.warnings };
}

function virtualNodes(topology: Topology): readonly Body[] {
  const { name: meshName, workloads } = topology;
  const backends = backendsOf(workloads, servicesOf(topology), ({ host }) => ({
    virtualService: { virtualServiceName: host },
  }));
  return workloads.map((workload) => {
    const { id, host, ports } = workload;
    const listening = host !== undefined && {
      listeners: ports.map(listenerOn),
      serviceDiscovery: { dns: { hostname: host } },
    };
    return { meshName, virtualNodeName: id, spec: { backends: backends.get(workload)!, ...listening } };
  });
}

function virtualRouter({ name: meshName }: Topology, hostRoutes: HostRoutes, mode: Mode): readonly Body[] {
  const virtualRouterName = sanitize(hostRoutes.host);
  const routes = routesOf(hostRoutes, mode).map(({ name, priority, match, targets }): Body => {
    const weightedTargets = targets.map(({ workload, weight }) => ({ virtualNode: workload, weight }));
    const spec = { ...(priority !== undefined && { priority }), httpRoute: { match, action: { weightedTargets } } };
    return { meshName, routeName: name, virtualRouterName, spec };
  });
  return [{ meshName, virtualRouterName, spec: { listeners: [listenerOn(hostRoutes.port)] } }, ...routes];
}
