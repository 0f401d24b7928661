// What decides about requests, as the compiler looks things up: by host, never by going through everything. A world is
// made from objects (world-objects.ts) or from the tables of a controller (models.ts).
import type { Ref } from '../kube/index.ts';
import type { DestinationRule, Gateway, Sidecar, VirtualService } from './istio/objects.ts';

type Labels = Readonly<Record<string, string>>;

/** What the mesh is configured with. */
export interface MeshSettings {
  readonly clusterDomain: string;
  /** Where what holds for the whole mesh is. */
  readonly rootNamespace: string;
  /** What happens to requests for hosts that nobody knows, where no Sidecar says otherwise. */
  readonly outboundTrafficPolicy: 'ALLOW_ANY' | 'REGISTRY_ONLY';
}

export const DEFAULT_MESH: MeshSettings = {
  clusterDomain: 'cluster.local',
  rootNamespace: 'istio-system',
  outboundTrafficPolicy: 'ALLOW_ANY',
};

export interface World {
  readonly settings: MeshSettings;
  /** Those with a host, in full and in lower case: `reviews.shop.svc.cluster.local`, `*.example.com`. */
  virtualServices(host: string): readonly VirtualService[];
  virtualService(ref: Ref): VirtualService | undefined;
  /** Those with a route or a mirror to a host, in full. */
  virtualServicesTo(host: string): readonly VirtualService[];
  /** Those with a route that delegates to this one. */
  delegatingTo(ref: Ref): readonly VirtualService[];
  destinationRules(host: string): readonly DestinationRule[];
  /** What has a host, in full: Services and the hosts of ServiceEntries. */
  services(host: string): readonly MeshService[];
  /** All of them; asked for only where a wildcard in a VirtualService may stand for any. */
  allServices(): readonly MeshService[];
  /** Who answers for a service. */
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
  /** Everybody unless told. */
  readonly exportTo: readonly string[];
  /** Names below its own are its pods. */
  readonly isHeadless: boolean;
  /** Where its endpoints are known: by labels of pods, by addresses, or outside. */
  readonly selector?: Labels;
  readonly isExternal: boolean;
  readonly endpoints?: readonly Workload[];
}

/** Pods with the same labels. */
export interface Workload {
  /** `NAMESPACE/KIND/NAME`. */
  readonly key: string;
  readonly labels: Labels;
  /** Whether any of them is ready for requests. */
  readonly isReady: boolean;
}
