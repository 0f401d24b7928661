// The objects that decide about requests, with the lookups of the compiler: by host, never by a scan over everything. A
// world is made from objects (world-objects.ts) or from the tables of a controller (world-facts.ts).
import type { Ref } from '../kube/index.ts';
import type { DestinationRule, Gateway, Sidecar, VirtualService } from './istio/objects.ts';

type Labels = Readonly<Record<string, string>>;

/** The mesh configuration. */
export interface MeshSettings {
  readonly clusterDomain: string;
  /** The namespace of the configuration for the whole mesh. */
  readonly rootNamespace: string;
  /** What happens to requests to unknown hosts, unless a Sidecar overrides it. */
  readonly outboundTrafficPolicy: 'ALLOW_ANY' | 'REGISTRY_ONLY';
}

export const DEFAULT_MESH: MeshSettings = {
  clusterDomain: 'cluster.local',
  rootNamespace: 'istio-system',
  outboundTrafficPolicy: 'ALLOW_ANY',
};

export interface World {
  readonly settings: MeshSettings;
  /** The VirtualServices with a host, in full and in lower case: `reviews.shop.svc.cluster.local`, `*.example.com`. */
  virtualServices(host: string): readonly VirtualService[];
  virtualService(ref: Ref): VirtualService | undefined;
  /** The VirtualServices with a destination or mirror for a host, in full. */
  virtualServicesTo(host: string): readonly VirtualService[];
  /** The VirtualServices that delegate to this one. */
  delegatingTo(ref: Ref): readonly VirtualService[];
  destinationRules(host: string): readonly DestinationRule[];
  /** The Services and ServiceEntries with a host, in full. */
  services(host: string): readonly MeshService[];
  /** All services; used only where a wildcard in a VirtualService may cover any of them. */
  allServices(): readonly MeshService[];
  /** The workloads behind a service. */
  workloads(service: MeshService): readonly Workload[];
  sidecars(namespace: string): readonly Sidecar[];
  /** The namespaces that have Sidecars. */
  sidecarNamespaces(): readonly string[];
  gateways(): readonly Gateway[];
}

/** A Service, or one host of a ServiceEntry. */
export interface MeshService {
  readonly host: string;
  readonly namespace: string;
  readonly name: string;
  readonly kind: 'Service' | 'ServiceEntry';
  readonly ports: readonly { readonly number: number; readonly isHttp: boolean }[];
  /** Defaults to `*`, all namespaces. */
  readonly exportTo: readonly string[];
  /** Whether names below its own refer to its pods. */
  readonly isHeadless: boolean;
  /** Selects the pods behind it. Otherwise its endpoints are `endpoints`, or outside the cluster. */
  readonly selector?: Labels;
  readonly isExternal: boolean;
  readonly endpoints?: readonly Workload[];
}

/** Pods with the same labels. */
export interface Workload {
  /** `NAMESPACE/KIND/NAME`. */
  readonly key: string;
  readonly labels: Labels;
  /** Whether any of the pods is ready. */
  readonly isReady: boolean;
}
