// Services, ServiceEntries and workloads as the mesh sees them.
import { keyOf } from '../kube/index.ts';
import type { AnyObject, KubeObject } from '../kube/index.ts';
import { defineKind } from '../kube/objects.ts';
import { fullHost } from './istio/hosts.ts';
import type { ServiceEntry } from './istio/objects.ts';
import type { MeshService, Workload } from './world.ts';

type Labels = Readonly<Record<string, string>>;

export interface Service extends KubeObject {
  readonly spec?: {
    readonly type?: string;
    readonly clusterIP?: string;
    readonly selector?: Labels;
    readonly ports?: readonly {
      readonly port: number;
      readonly name?: string;
      readonly appProtocol?: string;
      readonly protocol?: string;
    }[];
    readonly [field: string]: unknown;
  };
}
export const Service = defineKind<Service>('v1', 'Service', 'services');

/** A Deployment, StatefulSet or DaemonSet. */
export interface PodOwner extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly template?: { readonly metadata?: { readonly labels?: Labels } };
    readonly [field: string]: unknown;
  };
  readonly status?: {
    readonly readyReplicas?: number;
    /** Only for a DaemonSet. */
    readonly numberReady?: number;
    readonly [field: string]: unknown;
  };
}
export const Deployment = defineKind<PodOwner>('apps/v1', 'Deployment', 'deployments');
export const StatefulSet = defineKind<PodOwner>('apps/v1', 'StatefulSet', 'statefulsets');
export const DaemonSet = defineKind<PodOwner>('apps/v1', 'DaemonSet', 'daemonsets');

/** Kinds with a pod template. */
export const POD_OWNERS: ReadonlySet<string> = new Set([Deployment.kind, StatefulSet.kind, DaemonSet.kind]);

export interface Pod extends KubeObject {
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly [field: string]: unknown;
  };
}

const EXPORT_TO = 'networking.istio.io/exportTo';
/** Protocols that are not HTTP. Other ports are HTTP or sniffed, which makes no difference for an HTTP request. */
const OPAQUE = new Set(['https', 'mongo', 'mysql', 'redis', 'sctp', 'tcp', 'tls', 'udp']);

/** A Service as the mesh sees it. */
export function meshService(service: Service, clusterDomain: string): MeshService {
  const { metadata, spec = {} } = service;
  const { name, namespace = '' } = metadata;
  return {
    host: fullHost(name, namespace, clusterDomain).toLowerCase(),
    namespace,
    name,
    kind: 'Service',
    ports: (spec.ports ?? []).map(({ port, name: portName, appProtocol, protocol = 'TCP' }) => ({
      number: port,
      isHttp: protocol === 'TCP' && isHttp(appProtocol ?? portName),
    })),
    exportTo: (metadata.annotations?.[EXPORT_TO] ?? '*').split(',').map((each) => each.trim()),
    isHeadless: spec.clusterIP === 'None',
    isExternal: spec.type === 'ExternalName',
    ...(spec.selector && { selector: spec.selector }),
  };
}

/** Whether a port is HTTP, by the prefix of its name. */
function isHttp(name = ''): boolean {
  return !OPAQUE.has(name.split('-', 1)[0]!.toLowerCase());
}

/** A ServiceEntry as the mesh sees it: one service for each of its hosts. */
export function meshServicesOf(entry: ServiceEntry): readonly MeshService[] {
  const { metadata, spec = {} } = entry;
  const { name, namespace = '' } = metadata;
  const endpoints = (spec.endpoints ?? []).map(({ address = '', labels = {} }): Workload => ({
    key: `${namespace}/Endpoint/${address}`,
    labels,
    isReady: true,
  }));
  return (spec.hosts ?? []).map((host) => ({
    host: host.toLowerCase(),
    namespace,
    name,
    kind: 'ServiceEntry',
    ports: (spec.ports ?? []).map((port) => ({
      number: port.number,
      isHttp: isHttp(port.protocol ?? 'TCP'),
    })),
    exportTo: spec.exportTo?.length ? spec.exportTo : ['*'],
    isHeadless: false,
    isExternal: spec.workloadSelector === undefined && (spec.resolution ?? 'NONE') !== 'STATIC',
    ...(spec.workloadSelector?.labels && { selector: spec.workloadSelector.labels }),
    ...(endpoints.length > 0 && { endpoints }),
  }));
}

/** The pods of a Deployment, StatefulSet or DaemonSet. Without a status, as in a manifest, they count as ready. */
export function workloadOf({ kind, metadata, spec, status }: PodOwner): Workload {
  const ready = status?.readyReplicas ?? status?.numberReady ?? 0;
  const isReady = status === undefined ? (spec?.replicas ?? 1) > 0 : ready > 0;
  return {
    key: `${metadata.namespace}/${kind}/${metadata.name}`,
    labels: spec?.template?.metadata?.labels ?? {},
    isReady,
  };
}

/** A pod as a workload, with the name of its owner. */
export function workloadOfPod(pod: Pod): Workload {
  const { metadata, status } = pod;
  const { namespace, labels = {}, ownerReferences = [] } = metadata;
  const owner = ownerReferences.find(({ controller }) => controller);
  const hash = labels['pod-template-hash'];
  const isDeployed = owner?.kind === 'ReplicaSet' && hash !== undefined && owner.name.endsWith(`-${hash}`);
  const kind = isDeployed ? 'Deployment' : (owner?.kind ?? 'Pod');
  const name = isDeployed ? owner.name.slice(0, -hash.length - 1) : (owner?.name ?? metadata.name);
  const isReady = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? true;
  return {
    key: `${namespace}/${kind}/${name}`,
    labels,
    isReady: isReady && metadata.deletionTimestamp === undefined,
  };
}

/** Whether the selector of a service matches a workload. */
export function selects({ namespace, selector }: MeshService, { key, labels }: Workload): boolean {
  const conditions = Object.entries(selector ?? {});
  return (
    conditions.length > 0 &&
    key.startsWith(`${namespace}/`) &&
    conditions.every(([name, value]) => labels[name] === value)
  );
}

/** The endpoints of a Service. */
export interface EndpointSlice extends KubeObject {
  readonly endpoints?: readonly {
    readonly addresses?: readonly string[];
    readonly conditions?: { readonly ready?: boolean };
    readonly targetRef?: { readonly kind?: string; readonly name?: string; readonly namespace?: string };
  }[];
}
const SERVICE_NAME = 'kubernetes.io/service-name';

/** The key of the Service of a slice. */
export function serviceOfSlice({ metadata }: AnyObject): string {
  return keyOf({ name: metadata.labels?.[SERVICE_NAME] ?? '', namespace: metadata.namespace ?? '' });
}

/** The workloads behind the endpoints of a slice: pods if they are known, else the bare addresses. */
export function workloadsOfSlice(
  slice: EndpointSlice,
  pod: (key: string) => Workload | undefined,
): readonly Workload[] {
  const { namespace = '' } = slice.metadata;
  return (slice.endpoints ?? []).map(({ addresses = [], conditions, targetRef }) => {
    const isReady = conditions?.ready !== false;
    const known = targetRef?.kind === 'Pod' ? pod(keyOf({ name: targetRef.name ?? '', namespace })) : undefined;
    return { key: `${namespace}/Endpoint/${addresses[0]}`, labels: {}, ...known, isReady };
  });
}
