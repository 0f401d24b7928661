// The objects that all random worlds share: two Gateways for the same pods, and a Sidecar for one caller.
import type { AnyObject } from '../../kube/index.ts';
import { CALLERS, PORTS } from './random-world.ts';

const ISTIO = 'networking.istio.io/v1beta1';

/** The Gateways and the Sidecar of a random world. */
export function surroundings(sidecar: readonly string[], secondHosts: readonly string[]): readonly AnyObject[] {
  const gateway = (name: string, namespace: string, hosts: readonly string[]): AnyObject => ({
    apiVersion: ISTIO,
    kind: 'Gateway',
    metadata: { name, namespace },
    spec: {
      selector: CALLERS.ingress.labels,
      servers: [{ port: { number: PORTS[0], name: 'http', protocol: 'HTTP' }, hosts }],
    },
  });
  return [
    gateway('ingress', 'istio-system', ['*']),
    gateway('second', 'shop', secondHosts),
    {
      apiVersion: ISTIO,
      kind: 'Sidecar',
      metadata: { name: 'narrow', namespace: 'shop' },
      spec: { workloadSelector: { labels: CALLERS.narrow.labels }, egress: [{ hosts: sidecar }] },
    },
  ];
}
