// CustomResourceDefinitions of Istio, with their names and columns, but without validation.
import type { ApiObject } from '../../resource.ts';
import { type Column, type KindOutline, outline } from './define.ts';

const hosts: Column = { name: 'Hosts', path: '.spec.hosts', description: 'The names that this applies to' };
const host: Column = { name: 'Host', path: '.spec.host', description: 'The service that this applies to' };
const gateways: Column = { name: 'Gateways', path: '.spec.gateways', description: 'Where the routes apply' };
const location: Column = { name: 'Location', path: '.spec.location', description: 'Inside or outside of the mesh' };
const resolution: Column = { name: 'Resolution', path: '.spec.resolution', description: 'How hosts are resolved' };
const address: Column = { name: 'Address', path: '.spec.address', description: 'The address of the workload' };
const mode: Column = { name: 'Mode', path: '.spec.mtls.mode', description: 'What is asked of mutual TLS' };
const action: Column = { name: 'Action', path: '.spec.action', description: 'What happens on a match' };

const networking = {
  group: 'networking.istio.io',
  categories: ['istio-io', 'networking-istio-io'],
  versions: ['v1', 'v1beta1', 'v1alpha3'],
} as const;
const security = {
  group: 'security.istio.io',
  categories: ['istio-io', 'security-istio-io'],
  versions: ['v1', 'v1beta1'],
} as const;

const kinds: readonly KindOutline[] = [
  { ...networking, kind: 'VirtualService', plural: 'virtualservices', shortNames: ['vs'], columns: [gateways, hosts] },
  { ...networking, kind: 'DestinationRule', plural: 'destinationrules', shortNames: ['dr'], columns: [host] },
  { ...networking, kind: 'Gateway', plural: 'gateways', shortNames: ['gw'] },
  {
    ...networking,
    kind: 'ServiceEntry',
    plural: 'serviceentries',
    shortNames: ['se'],
    columns: [hosts, location, resolution],
  },
  { ...networking, kind: 'Sidecar', plural: 'sidecars' },
  { ...networking, kind: 'WorkloadEntry', plural: 'workloadentries', shortNames: ['we'], columns: [address] },
  { ...networking, kind: 'WorkloadGroup', plural: 'workloadgroups', shortNames: ['wg'] },
  { ...networking, kind: 'EnvoyFilter', plural: 'envoyfilters', versions: ['v1alpha3'] },
  { ...networking, kind: 'ProxyConfig', plural: 'proxyconfigs', versions: ['v1beta1'] },
  { ...security, kind: 'PeerAuthentication', plural: 'peerauthentications', shortNames: ['pa'], columns: [mode] },
  { ...security, kind: 'AuthorizationPolicy', plural: 'authorizationpolicies', shortNames: ['ap'], columns: [action] },
  { ...security, kind: 'RequestAuthentication', plural: 'requestauthentications', shortNames: ['ra'] },
  {
    group: 'telemetry.istio.io',
    categories: ['istio-io', 'telemetry-istio-io'],
    versions: ['v1', 'v1alpha1'],
    kind: 'Telemetry',
    plural: 'telemetries',
    shortNames: ['telemetry'],
  },
  {
    group: 'extensions.istio.io',
    categories: ['istio-io', 'extensions-istio-io'],
    versions: ['v1alpha1'],
    kind: 'WasmPlugin',
    plural: 'wasmplugins',
  },
];

/** The definitions, by name. */
export function istioDefinitions(): Readonly<Record<string, ApiObject>> {
  return Object.fromEntries(kinds.map((kind) => [`${kind.plural}.${kind.group}`, outline(kind)]));
}
