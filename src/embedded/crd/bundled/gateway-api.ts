// CustomResourceDefinitions of the Gateway API, with their names and columns, but without validation.
import type { ApiObject } from '../../resource.ts';
import { type Column, type KindOutline, outline } from './define.ts';

const shared = {
  group: 'gateway.networking.k8s.io',
  categories: ['gateway-api'],
  // The server refuses definitions in Kubernetes' own groups without this annotation.
  annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes-sigs/gateway-api' },
} as const;
const hostnames: Column = { name: 'Hostnames', path: '.spec.hostnames' };

function condition(name: string, type: string): Column {
  return { name, path: `.status.conditions[?(@.type=="${type}")].status` };
}

const kinds: readonly KindOutline[] = [
  {
    ...shared,
    kind: 'GatewayClass',
    plural: 'gatewayclasses',
    shortNames: ['gc'],
    cluster: true,
    versions: ['v1', 'v1beta1'],
    columns: [{ name: 'Controller', path: '.spec.controllerName' }, condition('Accepted', 'Accepted')],
  },
  {
    ...shared,
    kind: 'Gateway',
    plural: 'gateways',
    shortNames: ['gtw'],
    versions: ['v1', 'v1beta1'],
    columns: [
      { name: 'Class', path: '.spec.gatewayClassName' },
      { name: 'Address', path: '.status.addresses[*].value' },
      condition('Programmed', 'Programmed'),
    ],
  },
  { ...shared, kind: 'HTTPRoute', plural: 'httproutes', versions: ['v1', 'v1beta1'], columns: [hostnames] },
  { ...shared, kind: 'GRPCRoute', plural: 'grpcroutes', versions: ['v1'], columns: [hostnames] },
  { ...shared, kind: 'TLSRoute', plural: 'tlsroutes', versions: ['v1', 'v1alpha2'], columns: [hostnames] },
  { ...shared, kind: 'TCPRoute', plural: 'tcproutes', versions: ['v1alpha2'] },
  {
    ...shared,
    kind: 'ReferenceGrant',
    plural: 'referencegrants',
    shortNames: ['refgrant'],
    versions: ['v1beta1', 'v1', 'v1alpha2'],
  },
];

/** The definitions, by name. */
export function gatewayApiDefinitions(): Readonly<Record<string, ApiObject>> {
  return Object.fromEntries(kinds.map((kind) => [`${kind.plural}.${kind.group}`, outline(kind)]));
}
