// The back end for the objects of the App Mesh controller (`appmesh.k8s.aws/v1beta2`).
import type { KubeObject } from '../../kube/objects.ts';
import { problems } from '../errors.ts';
import type { Problem } from '../errors.ts';
import { keyOf } from '../model.ts';
import type { HostRoutes, Mode, Workload } from '../model.ts';
import { byText, isLabel, objectName, sanitize } from '../names.ts';
import {
  allParts,
  backendsOf,
  CAPABILITIES,
  hostLimit,
  limits,
  MESH,
  PROTOCOL,
  routerCollision,
  routesOf,
  servicesOf,
  workloadsById,
} from './appmesh.ts';
import type { AppMeshService, Parts, Topology } from './appmesh.ts';
import type { Backend } from './backend.ts';

const API_VERSION = 'appmesh.k8s.aws/v1beta2';

/** Every namespace has this label with its own name. */
const NAMESPACE_NAME = 'kubernetes.io/metadata.name';

export const appMeshCrd: Backend<readonly KubeObject[]> = {
  name: 'appmesh-crd',
  about: `AWS App Mesh: objects of its Kubernetes controller, \`${API_VERSION}\``,
  mesh: MESH,
  capabilities: CAPABILITIES,
  nodeName: (workload) => keyOf(nodeNameOf(workload)),
  routerName: sanitize,
  limits,
  hostLimit,
  emit: (plan, mode) => allParts(crdParts, plan, mode),
};

/** Name and namespace of an object. */
interface NamespacedName {
  readonly name: string;
  readonly namespace: string;
}

export const crdParts: Parts<KubeObject> = {
  // In strict mode such names are already left out.
  problem: (topology, mode) =>
    mode === 'compat' ? (routerCollision(topology) ?? nodeNameProblem(topology)) : undefined,
  warnings: ({ workloads }) =>
    workloads
      .filter(({ selector }) => Object.keys(selector).length === 0)
      .map(({ id }) => problems.podSelectorEmpty(id)),
  mesh: meshObject,
  nodes: (topology) => virtualNodes(topology.workloads, servicesOf(topology)),
  router: (topology, routes, mode) => [virtualRouter(topology, routes, mode)],
  services: (topology) => servicesOf(topology).map((each) => virtualService(each, workloadsById(topology))),
};

function virtualRouter(topology: Topology, hostRoutes: HostRoutes, mode: Mode): KubeObject {
  const { host, service, port } = hostRoutes;
  const workloads = workloadsById(topology);
  const objectKey = { name: sanitize(host), namespace: service.namespace };
  const routes = routesOf(hostRoutes, mode).map(({ name, priority, match, targets }) => ({
    name,
    ...(priority !== undefined && { priority }),
    httpRoute: {
      match,
      action: {
        weightedTargets: targets.map(({ workload, weight }) => ({
          virtualNodeRef: refFrom(objectKey, nodeNameOf(workloads.get(workload)!)),
          weight,
        })),
      },
    },
  }));
  return object('VirtualRouter', objectKey, { awsName: objectKey.name, listeners: [listenerOn(port)], routes });
}

/** The mesh itself, with a selector for all namespaces of its workloads and services. */
function meshObject({ name, workloads, services }: Topology): KubeObject {
  const namespaces = [
    ...workloads.map(({ namespace }) => namespace),
    ...services.map(({ service }) => service.namespace),
  ];
  const values = [...new Set(namespaces)].sort(byText);
  const matchExpressions = [{ key: NAMESPACE_NAME, operator: 'In', values }];
  return object(
    'Mesh',
    { name: objectName(name) },
    {
      awsName: name,
      ...(values.length > 0 && { namespaceSelector: { matchExpressions } }),
    },
  );
}

function virtualNodes(workloads: readonly Workload[], services: readonly AppMeshService[]): KubeObject[] {
  // The reference to a service is the same for all workloads of a namespace.
  const byNamespace = Map.groupBy(workloads, ({ namespace }) => namespace);
  const backends = new Map(
    [...byNamespace].flatMap(([namespace, same]) => [
      ...backendsOf(same, services, ({ service }) => ({
        virtualService: { virtualServiceRef: refFrom({ namespace }, service) },
      })),
    ]),
  );
  return workloads.map((workload) => {
    const { id, host, ports, selector } = workload;
    return object('VirtualNode', nodeNameOf(workload), {
      awsName: id,
      ...(Object.keys(selector).length > 0 && { podSelector: { matchLabels: selector } }),
      ...(host !== undefined && {
        listeners: ports.map(listenerOn),
        serviceDiscovery: { dns: { hostname: host } },
      }),
      backends: backends.get(workload)!,
    });
  });
}

function virtualService({ host, service, provider }: AppMeshService, nodes: ReadonlyMap<string, Workload>): KubeObject {
  const of =
    'router' in provider
      ? { virtualRouter: { virtualRouterRef: { name: provider.router } } }
      : { virtualNode: { virtualNodeRef: refFrom(service, nodeNameOf(nodes.get(provider.workload)!)) } };
  return object('VirtualService', service, { awsName: host, provider: of });
}

function object(kind: string, { name, namespace }: { name: string; namespace?: string }, spec: object): KubeObject {
  const metadata = { name, ...(namespace !== undefined && { namespace }) };
  return { apiVersion: API_VERSION, kind, metadata, spec } as KubeObject;
}

const listenerOn = (port: number): object => ({ portMapping: { port, protocol: PROTOCOL } });

const nodeNameOf = ({ id, namespace }: Workload): NamespacedName => ({ name: objectName(id), namespace });

/** A reference, without the namespace if it is the same. */
function refFrom({ namespace }: { readonly namespace: string }, to: NamespacedName): object {
  return to.namespace === namespace ? { name: to.name } : { name: to.name, namespace: to.namespace };
}

/** A name that two virtual nodes of a namespace would share, or that Kubernetes refuses. */
function nodeNameProblem({ name: mesh, workloads }: Topology): Problem | undefined {
  const isRefused = (name: string): boolean => !isLabel(sanitize(name));
  const refused = (what: string, name: string): Problem =>
    problems.nameInvalid(
      what,
      sanitize(name),
      'an object of Kubernetes has a name of small letters, digits and hyphens',
    );
  if (isRefused(mesh)) return refused('the Mesh of the controller', mesh);
  const idOf = new Map<string, string>();
  for (const workload of workloads) {
    const { id } = workload;
    const { name, namespace } = nodeNameOf(workload);
    if (isRefused(id)) return refused(`the VirtualNode for ${id}`, id);
    const other = idOf.get(`${namespace}/${name}`);
    if (other !== undefined) return problems.nameCollision('virtual nodes', [other, id], name);
    idOf.set(`${namespace}/${name}`, id);
  }
}
