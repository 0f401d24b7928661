// The kinds of Istio: the built-in renderer defines them, and their objects may block a deletion.
import { defineKind } from '../kube/index.ts';
import type { Kind } from '../kube/index.ts';

interface IstioKind {
  readonly group: string;
  /** The newest version first, which is the storage version. */
  readonly versions: readonly string[];
  readonly kind: string;
  readonly plural: string;
  readonly shortNames?: readonly string[];
}

const NETWORKING = { group: 'networking.istio.io', versions: ['v1', 'v1beta1', 'v1alpha3'] };
const SECURITY = { group: 'security.istio.io', versions: ['v1', 'v1beta1'] };

export const ISTIO_KINDS: readonly IstioKind[] = [
  { ...SECURITY, kind: 'AuthorizationPolicy', plural: 'authorizationpolicies', shortNames: ['ap'] },
  { ...NETWORKING, kind: 'DestinationRule', plural: 'destinationrules', shortNames: ['dr'] },
  { ...NETWORKING, kind: 'EnvoyFilter', plural: 'envoyfilters', versions: ['v1alpha3'] },
  { ...NETWORKING, kind: 'Gateway', plural: 'gateways', shortNames: ['gw'] },
  { ...SECURITY, kind: 'PeerAuthentication', plural: 'peerauthentications', shortNames: ['pa'] },
  { ...NETWORKING, kind: 'ProxyConfig', plural: 'proxyconfigs', versions: ['v1beta1'] },
  { ...SECURITY, kind: 'RequestAuthentication', plural: 'requestauthentications', shortNames: ['ra'] },
  { ...NETWORKING, kind: 'ServiceEntry', plural: 'serviceentries', shortNames: ['se'] },
  { ...NETWORKING, kind: 'Sidecar', plural: 'sidecars' },
  {
    group: 'telemetry.istio.io',
    versions: ['v1', 'v1alpha1'],
    kind: 'Telemetry',
    plural: 'telemetries',
    shortNames: ['telemetry'],
  },
  { group: 'extensions.istio.io', versions: ['v1alpha1'], kind: 'TrafficExtension', plural: 'trafficextensions' },
  { ...NETWORKING, kind: 'VirtualService', plural: 'virtualservices', shortNames: ['vs'] },
  { group: 'extensions.istio.io', versions: ['v1alpha1'], kind: 'WasmPlugin', plural: 'wasmplugins' },
  { ...NETWORKING, kind: 'WorkloadEntry', plural: 'workloadentries', shortNames: ['we'] },
  { ...NETWORKING, kind: 'WorkloadGroup', plural: 'workloadgroups', shortNames: ['wg'] },
];

/** The kind in its newest version. */
export function servedKind({ group, versions, kind, plural }: IstioKind): Kind {
  return defineKind(`${group}/${versions[0]!}`, kind, plural);
}
