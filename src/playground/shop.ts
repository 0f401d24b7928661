// The sample shop: frontend → catalog → reviews → ratings in a namespace of its own, each with its Service and its
// Istio routes, and a Gateway in front of it. Plain objects, which install.ts applies.
import { defineKind } from '../kube/index.ts';
import type { AnyKind, AnyObject } from '../kube/index.ts';
import { Gateway, DestinationRule, VirtualService } from '../traffic/istio/objects.ts';
import { Deployment, Service } from '../traffic/services.ts';

export const NAMESPACE = 'playground';
/** The Gateway that the local gateway stands for, and the port of that Gateway. */
export const GATEWAY = { gateway: `${NAMESPACE}/gateway`, port: 80 } as const;
/** The container's environment variable with the URLs that its workload calls, separated by commas. */
export const CALLS = 'UPSTREAM_URLS';
/** A workload to start with, and a new version of it. */
export const SAMPLE = { namespace: NAMESPACE, workload: 'reviews', image: 'shop/reviews:2' } as const;

const PORT = 8080;
/** The default version label of a base. */
const BASE = 'shared';
/** Each service with the service that it calls. */
const SERVICES = { frontend: 'catalog', catalog: 'reviews', reviews: 'ratings', ratings: undefined } as const;

export const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });

/** An object of the shop with its kind. */
export interface ShopObject {
  readonly kind: AnyKind;
  readonly object: AnyObject;
}

/** All objects in the shop's namespace, in the order of creation. */
export function shopObjects(): readonly ShopObject[] {
  const services = Object.entries(SERVICES).flatMap(([name, next]) => serviceObjects(name, next));
  return [...services, ...edgeObjects()];
}

function serviceObjects(name: string, next: string | undefined): readonly ShopObject[] {
  const labels = { app: name, version: BASE };
  const env = next === undefined ? {} : { env: [{ name: CALLS, value: `http://${next}:${PORT}/` }] };
  const container = { name, image: `shop/${name}:1`, ports: [{ containerPort: PORT }], ...env };
  return [
    shopObject(Service, name, { selector: { app: name }, ports: [{ name: 'http', port: PORT, targetPort: PORT }] }),
    shopObject(DestinationRule, name, { host: name, subsets: [{ name: BASE, labels: { version: BASE } }] }),
    shopObject(VirtualService, name, { hosts: [name], http: [toBase(name)] }),
    shopObject(Deployment, name, {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    }),
  ];
}

/** The Gateway and its VirtualService, for any host. */
function edgeObjects(): readonly ShopObject[] {
  const name = GATEWAY.gateway.split('/')[1]!;
  const port = { number: GATEWAY.port, name: 'http', protocol: 'HTTP' };
  return [
    shopObject(Gateway, name, { selector: { app: name }, servers: [{ port, hosts: ['*'] }] }),
    shopObject(VirtualService, 'shop', { hosts: ['*'], gateways: [name], http: [toBase('frontend')] }),
  ];
}

function toBase(host: string): unknown {
  return { name: 'base', route: [{ destination: { host, subset: BASE } }] };
}

function shopObject(kind: AnyKind, name: string, spec: unknown): ShopObject {
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  return { kind, object: { apiVersion, kind: kind.kind, metadata: { name, namespace: NAMESPACE }, spec } };
}
