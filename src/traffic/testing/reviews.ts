// The Service of the example requests, `reviews` in the namespace `shop`, with its versions.
import type { AnyObject } from '../../kube/index.ts';

/** The Service, by default with one HTTP port. */
export function reviewsService(ports: readonly object[] = [{ name: 'http', port: 9080 }]): AnyObject {
  return object('v1', 'Service', 'reviews', { selector: { app: 'reviews' }, ports });
}

/** A Deployment whose pods have this label `version`. */
export function reviewsDeployment(name: string, version: string): AnyObject {
  return object('apps/v1', 'Deployment', name, {
    template: { metadata: { labels: { app: 'reviews', version } } },
  });
}

/** A DestinationRule with a subset for each version, named after it. */
export function reviewsSubsets(name: string, ...versions: readonly string[]): AnyObject {
  const subsets = versions.map((version) => ({ name: version, labels: { version } }));
  return object('networking.istio.io/v1beta1', 'DestinationRule', name, { host: 'reviews', subsets });
}

function object(apiVersion: string, kind: string, name: string, spec: object): AnyObject {
  return { apiVersion, kind, metadata: { name, namespace: 'shop' }, spec };
}
