// A world made from objects: from a folder of manifests, from a cluster that was listed once, or in a test.
import { keyOf } from '../kube/index.ts';
import type { AnyKind, AnyObject, Kind, KubeObject } from '../kube/index.ts';
import { indexBy } from './index-by.ts';
import { delegatesOf, destinationHosts, ruleHost, virtualServiceHosts } from './istio/hosts.ts';
import { DestinationRule, Gateway, ServiceEntry, Sidecar, VirtualService } from './istio/objects.ts';
import { ConfigMap, MESH_CONFIG, settingsOf } from './mesh-config.ts';
import {
  DaemonSet,
  Deployment,
  POD_OWNERS,
  Service,
  StatefulSet,
  meshService,
  meshServicesOf,
  selects,
  serviceOfSlice,
  workloadOf,
  workloadOfPod,
  workloadsOfSlice,
} from './services.ts';
import type { EndpointSlice, Pod } from './services.ts';
import { DEFAULT_MESH } from './world.ts';
import type { MeshService, MeshSettings, World } from './world.ts';

/** The kinds to list from a cluster for a world. Without pods, their owners stand for the workloads. */
export const worldKinds: readonly AnyKind[] = [
  VirtualService,
  DestinationRule,
  Gateway,
  Sidecar,
  ServiceEntry,
  Service,
  Deployment,
  StatefulSet,
  DaemonSet,
];

const GROUPS: ReadonlyMap<string, string> = new Map([
  ...worldKinds.map(({ kind, group }) => [kind, group] as const),
  ['Pod', ''],
  [ConfigMap.kind, ConfigMap.group],
  ['EndpointSlice', 'discovery.k8s.io'],
]);

/** Whether an object is of a kind that affects routing, and not of a kind with the same name in another group. */
export function isOfWorld({ apiVersion, kind }: KubeObject): boolean {
  const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : '';
  return GROUPS.get(kind) === group;
}

/**
 * The world that the objects describe; other kinds are ignored. The workloads of a Service come from its
 * EndpointSlices, else from its pods, else from Deployments and other pod owners. The mesh configuration comes from the
 * ConfigMap of istiod, and `settings` override it.
 */
export function worldOf(objects: Iterable<KubeObject>, settings: Partial<MeshSettings> = {}): World {
  const byKind = Map.groupBy(objects, ({ kind }) => kind);
  const of = <T extends KubeObject>({ kind }: Kind<T>) =>
    (byKind.get(kind) ?? []) as readonly KubeObject[] as readonly T[];
  const config = of(ConfigMap).find(({ metadata }) => keyOf(metadata) === keyOf(MESH_CONFIG));
  const all = { ...DEFAULT_MESH, ...(config && settingsOf(config)), ...settings };
  const { clusterDomain } = all;
  const virtualServices = of(VirtualService);
  const services = [
    ...of(Service).map((each) => meshService(each, clusterDomain)),
    ...of(ServiceEntry).flatMap(meshServicesOf),
  ];
  const byHost = Map.groupBy(services, ({ host }) => host);
  const routes = indexBy(virtualServices, (each) => virtualServiceHosts(each, clusterDomain));
  const rules = indexBy(of(DestinationRule), (each) => [ruleHost(each, clusterDomain)]);
  const byKey = new Map(virtualServices.map((each) => [keyOf(each.metadata), each]));
  const sidecars = Map.groupBy(of(Sidecar), ({ metadata }) => metadata.namespace ?? '');
  const workloads = workloadsIn(byKind);
  const leading = lazily(() => indexBy(virtualServices, (each) => destinationHosts(each, clusterDomain)));
  const roots = lazily(() => indexBy(virtualServices, delegatesOf));
  return {
    settings: all,
    virtualServices: (host) => routes.get(host) ?? [],
    virtualService: (ref) => byKey.get(keyOf(ref)),
    virtualServicesTo: (host) => leading().get(host) ?? [],
    delegatingTo: (ref) => roots().get(keyOf(ref)) ?? [],
    destinationRules: (host) => rules.get(host) ?? [],
    services: (host) => byHost.get(host) ?? [],
    allServices: () => services,
    workloads,
    sidecars: (namespace) => sidecars.get(namespace) ?? [],
    sidecarNamespaces: () => [...sidecars.keys()],
    gateways: () => of(Gateway),
  };
}

function workloadsIn(byKind: ReadonlyMap<string, readonly KubeObject[]>): World['workloads'] {
  const pods = new Map((byKind.get('Pod') ?? []).map((each) => [keyOf(each.metadata), workloadOfPod(each as Pod)]));
  const slices = Map.groupBy(byKind.get('EndpointSlice') ?? [], (each) => serviceOfSlice(each as AnyObject));
  const owners = [...byKind].flatMap(([kind, each]) => (POD_OWNERS.has(kind) ? each.map(workloadOf) : []));
  const candidates = pods.size > 0 ? [...pods.values()] : owners;
  const byLabel = indexBy(candidates, ({ labels }) => Object.entries(labels).map((label) => label.join('=')));
  return (service: MeshService) => {
    if (service.endpoints !== undefined) return service.endpoints;
    const own = service.kind === 'Service' ? slices.get(keyOf(service)) : undefined;
    if (own !== undefined)
      return own.flatMap((slice) => workloadsOfSlice(slice as EndpointSlice, (key) => pods.get(key)));
    const [label] = Object.entries(service.selector ?? {});
    return (byLabel.get(label?.join('=') ?? '') ?? []).filter((each) => selects(service, each));
  };
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
