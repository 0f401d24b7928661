// The example shop on a mesh, behind a public host at the ingress gateway: for `npm run real-mesh -- up`.
import { readFileSync } from 'node:fs';
import type { Client } from '../../src/kube/client/client.ts';
import { defineKind } from '../../src/kube/objects.ts';
import type { AnyKind, AnyObject } from '../../src/kube/objects.ts';
import { parseObjects } from '../support/parse-objects.ts';

const shop = new URL('../../examples/shop.yaml', import.meta.url);
export const PUBLIC_HOST = 'shop.example.com';

const ISTIO = 'networking.istio.io/v1beta1';
const kinds: readonly AnyKind[] = [
  defineKind('v1', 'Namespace', 'namespaces', { namespaced: false }),
  defineKind('v1', 'Service', 'services'),
  defineKind('apps/v1', 'Deployment', 'deployments'),
  defineKind(ISTIO, 'DestinationRule', 'destinationrules'),
  defineKind(ISTIO, 'VirtualService', 'virtualservices'),
];

/** Creates the shop, with its Services on a port that needs no root. */
export async function makeShop(client: Client, port: number): Promise<void> {
  const documents = parseObjects(readFileSync(shop, 'utf8'));
  for (const object of [...documents.map((each) => onPort(each, port)), edge()]) {
    const kind = kinds.find((each) => each.kind === object.kind)!;
    await client.create(kind, object);
  }
}

function onPort(object: AnyObject, port: number): AnyObject {
  if (object.kind !== 'Service') return object;
  const spec = object['spec'] as { readonly ports: readonly object[] };
  return { ...object, spec: { ...spec, ports: spec.ports.map((each) => ({ ...each, port })) } };
}

function edge(): AnyObject {
  const destination = { host: 'orders', subset: 'shared' };
  return {
    apiVersion: ISTIO,
    kind: 'VirtualService',
    metadata: { name: 'edge', namespace: 'shop' },
    spec: { hosts: [PUBLIC_HOST], gateways: ['istio-system/ingress'], http: [{ route: [{ destination }] }] },
  };
}
