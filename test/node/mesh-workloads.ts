// Workloads for the lifecycle of a mesh: injected ones of several kinds, ones that must not be restarted, and callers
// inside and outside of the mesh.
import type { AnyObject } from '../../src/kube/index.ts';
import { EXCLUDED } from '../../src/mesh/index.ts';
import { toolboxImage } from './addresses.ts';
import { apply } from './kubectl.ts';
import type { Kubectl } from './kubectl.ts';

export const shop = 'shop';
/** A namespace that is not in the mesh. */
export const outside = 'outside';
const port = 8080;

/** Workloads in the shop that a new version of sidecars restarts, as `kind/name`. */
export const restarted = ['deployment/cart', 'deployment/reviews', 'daemonset/agent', 'statefulset/store'];
/** In the mesh as well: one that is excluded by annotation, and one that chooses the image of its sidecar itself. */
export const leftAlone = ['deployment/caller', 'deployment/pinned'];

/** Creates all of them. Resolves when their pods are ready. */
export async function makeWorkloads(kubectl: Kubectl, ownImage: string): Promise<void> {
  const web = { args: ['web'], readinessProbe: { httpGet: { path: '/', port }, periodSeconds: 1 } };
  await apply(
    kubectl,
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: shop, labels: { 'istio-injection': 'enabled' } } },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: outside } },
  );
  await apply(
    kubectl,
    ...['cart', 'store'].map(service),
    workload('Deployment', 'cart', web),
    workload('Deployment', 'reviews', web),
    workload('DaemonSet', 'agent'),
    workload('StatefulSet', 'store', web, { replicas: 2 }),
    workload('Deployment', 'caller', { excluded: true }),
    workload('Deployment', 'pinned', { annotations: { 'sidecar.istio.io/proxyImage': ownImage } }),
    workload('Deployment', 'caller', { namespace: outside }),
  );
  for (const each of [...restarted, ...leftAlone]) await rolledOut(kubectl, shop, each);
  await rolledOut(kubectl, outside, 'deployment/caller');
}

/** Objects of customers: routes from the ingress gateway to the cart. */
export const customerRoutes: readonly AnyObject[] = [
  {
    apiVersion: 'networking.istio.io/v1',
    kind: 'Gateway',
    metadata: { name: 'door', namespace: shop },
    spec: {
      selector: { istio: 'ingressgateway' },
      servers: [{ port: { name: 'http', number: 80, protocol: 'HTTP' }, hosts: ['*'] }],
    },
  },
  {
    apiVersion: 'networking.istio.io/v1',
    kind: 'VirtualService',
    metadata: { name: 'cart', namespace: shop },
    spec: {
      hosts: ['*'],
      gateways: ['door'],
      http: [{ route: [{ destination: { host: 'cart', port: { number: port } } }] }],
    },
  },
];

/** Callers and URLs: from outside the mesh through the gateway to the cart, and from inside to the store. */
export const throughGateway = { namespace: outside, url: 'http://istio-ingressgateway.istio-system/' };
export const insideMesh = { namespace: shop, url: `http://store:${port}/` };

export async function rolledOut(kubectl: Kubectl, namespace: string, name: string): Promise<void> {
  await kubectl(['rollout', 'status', '-n', namespace, name, '--timeout=90s']);
}

function service(name: string): object {
  const spec = { selector: { app: name }, ports: [{ name: 'http', port }] };
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: shop }, spec };
}

interface Options {
  readonly namespace?: string;
  readonly args?: readonly string[];
  readonly readinessProbe?: object;
  /** The annotations of its pods. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Annotated so that it is not restarted. */
  readonly excluded?: boolean;
}

function workload(kind: string, name: string, options: Options = {}, spec: object = {}): object {
  const { namespace = shop, args = ['pause'], readinessProbe, annotations = {}, excluded = false } = options;
  const labels = { app: name };
  const container = { name, image: toolboxImage, args, ...(readinessProbe && { readinessProbe }) };
  const template = { metadata: { labels, annotations }, spec: { containers: [container] } };
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name, namespace, ...(excluded && { annotations: { [EXCLUDED]: 'true' } }) },
    spec: { ...spec, selector: { matchLabels: labels }, template },
  };
}
