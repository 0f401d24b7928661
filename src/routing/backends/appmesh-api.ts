// AWS App Mesh as its API takes it: the bodies of the Create calls, by name.
import type { MeshPlan, Mode } from '../model.ts';
import { byKey, sanitize } from '../names.ts';
import { backendsOf, CAPABILITIES, limits, MESH, PROTOCOL, routerCollision, routesOf, servicesOf } from './appmesh.ts';
import type { Backend, Emission } from './backend.ts';

type ByName = Readonly<Record<string, object>>;

/** Everything that a mesh should have. */
export interface AppMeshResources {
  readonly meshName: string;
  readonly virtualNodes: ByName;
  readonly virtualServices: ByName;
  readonly virtualRouters: ByName;
  readonly routes: ByName;
}

export const appMeshApi: Backend<AppMeshResources> = {
  name: 'appmesh-api',
  about: 'AWS App Mesh: the bodies of the calls of its API',
  mesh: MESH,
  capabilities: CAPABILITIES,
  limits,
  emit,
};

const listenerOn = (port: number): object => ({ portMapping: { port, protocol: PROTOCOL } });

function emit(plan: MeshPlan, mode: Mode): Emission<AppMeshResources> {
  const collision = mode === 'strict' ? routerCollision(plan) : undefined;
  if (collision !== undefined) return { failure: collision };
  const meshName = plan.name;
  const services = servicesOf(plan);
  const backends = backendsOf(plan.workloads, services, ({ host }) => ({
    virtualService: { virtualServiceName: host },
  }));
  const output: AppMeshResources = {
    meshName,
    virtualNodes: byKey(
      plan.workloads.map((workload): [string, object] => {
        const { id, host, ports } = workload;
        const listening = host !== undefined && {
          listeners: ports.map(listenerOn),
          serviceDiscovery: { dns: { hostname: host } },
        };
        return [id, { meshName, virtualNodeName: id, spec: { backends: backends.get(workload)!, ...listening } }];
      }),
    ),
    virtualServices: byKey(
      services.map(({ host, provider }): [string, object] => {
        const of =
          'router' in provider
            ? { virtualRouter: { virtualRouterName: provider.router } }
            : { virtualNode: { virtualNodeName: provider.workload } };
        return [host, { meshName, virtualServiceName: host, spec: { provider: of } }];
      }),
    ),
    virtualRouters: byKey(
      plan.hostRoutes.map(({ host, port }): [string, object] => {
        const virtualRouterName = sanitize(host);
        return [virtualRouterName, { meshName, virtualRouterName, spec: { listeners: [listenerOn(port)] } }];
      }),
    ),
    routes: byKey(
      plan.hostRoutes.flatMap((hostRoutes) =>
        routesOf(hostRoutes, mode).map(({ name, priority, match, targets }): [string, object] => {
          const weightedTargets = targets.map(({ workload, weight }) => ({ virtualNode: workload, weight }));
          const spec = {
            ...(priority !== undefined && { priority }),
            httpRoute: { match, action: { weightedTargets } },
          };
          return [name, { meshName, routeName: name, virtualRouterName: sanitize(hostRoutes.host), spec }];
        }),
      ),
    ),
  };
  return { output, warnings: [] };
}
