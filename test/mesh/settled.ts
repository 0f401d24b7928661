// How a test knows that the proxies have applied what it wrote: afterwards the fixture changes a marker service, in
// each kind that routing depends on, and sends requests to it until the answer shows the change.
import { defineKind } from '../../src/kube/objects.ts';
import type { AnyKind, AnyObject } from '../../src/kube/objects.ts';
import type { Client } from '../../src/kube/client/client.ts';
import type { Answer } from './ask.ts';
import { ROOT_NAMESPACE } from './istiod.ts';
import { noPod, POD_PORT } from './pods.ts';
import { POD_NETWORK } from './range.ts';

const NAME = 'settled';
export const SETTLED_HOST = `${NAME}.${ROOT_NAMESPACE}.svc.cluster.local`;

const ISTIO = 'networking.istio.io/v1beta1';
const kinds: Readonly<Record<string, AnyKind>> = {
  Service: defineKind('v1', 'Service', 'services'),
  EndpointSlice: defineKind('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices'),
  DestinationRule: defineKind(ISTIO, 'DestinationRule', 'destinationrules'),
  VirtualService: defineKind(ISTIO, 'VirtualService', 'virtualservices'),
};

/** The address in the EndpointSlice of a state. */
const addressOf = (state: number): string => noPod((state % 250) + 1);

/** Writes the objects of the marker service in its nth state. */
export async function writeState(client: Client, state: number, ports: readonly number[]): Promise<void> {
  for (const object of objects(state, ports)) {
    const patch = { type: 'apply', body: object, force: true } as const;
    await client.patch(kinds[object.kind]!, object.metadata, patch, { fieldManager: 'mesh' });
  }
}

/** Whether an answer shows the nth state of every kind. */
export function isOfState({ status, headers }: Answer, state: number, prefix: string): boolean {
  const address = addressOf(state).replace(POD_NETWORK, prefix);
  return status === 200 && headers['x-state'] === String(state) && headers['x-address'] === address;
}

function objects(state: number, ports: readonly number[]): readonly AnyObject[] {
  const metadata = { name: NAME, namespace: ROOT_NAMESPACE };
  const named = ports.map((port) => ({ name: `http-${port}`, port }));
  const destination = { host: SETTLED_HOST, subset: `state-${state}` };
  const set = { 'x-state': String(state) };
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { ports: named.map((port) => ({ ...port, targetPort: POD_PORT })) },
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...metadata, labels: { 'kubernetes.io/service-name': NAME } },
      addressType: 'IPv4',
      endpoints: [{ addresses: [addressOf(state)], conditions: { ready: true } }],
      ports: named.map(({ name }) => ({ name, port: POD_PORT, protocol: 'TCP' })),
    },
    {
      apiVersion: ISTIO,
      kind: 'DestinationRule',
      metadata,
      spec: { host: SETTLED_HOST, subsets: [{ name: destination.subset }] },
    },
    {
      apiVersion: ISTIO,
      kind: 'VirtualService',
      metadata,
      spec: {
        hosts: [SETTLED_HOST],
        gateways: ['mesh', `${ROOT_NAMESPACE}/ingress`],
        http: [{ route: [{ destination }], headers: { response: { set } } }],
      },
    },
  ];
}
