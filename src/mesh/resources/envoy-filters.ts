// Our EnvoyFilters, and those of users that could break the ingress gateway.
import { keyOf } from '../../kube/index.ts';
import type { AnyObject } from '../../kube/index.ts';
import { failure } from '../status/failures.ts';
import type { Failure } from '../status/failures.ts';
import { INGRESS_GATEWAY, ISTIO_NAMESPACE, MODULE_LABEL } from '../names.ts';

/** Makes proxies keep a Referer header with a fragment. */
export const PARTIAL_REFERER = 'kyma-referer';
const PROXY_PROTOCOL = 'proxy-protocol';

const envoyFilter = (name: string, spec: object): AnyObject => ({
  apiVersion: 'networking.istio.io/v1alpha3',
  kind: 'EnvoyFilter',
  metadata: { name, namespace: ISTIO_NAMESPACE },
  spec,
});

export function partialReferer(): AnyObject {
  // A boolean: the server would accept the string "false", but Envoy would ignore it.
  const feature = { 'envoy.reloadable_features.http_allow_partial_urls_in_referer': false };
  return envoyFilter(PARTIAL_REFERER, {
    configPatches: [
      {
        applyTo: 'BOOTSTRAP',
        patch: {
          operation: 'MERGE',
          value: { layered_runtime: { layers: [{ name: 'kyma_referer', static_layer: feature }] } },
        },
      },
    ],
  });
}

/** The gateway reads the address of the client from the PROXY protocol header of the load balancer. */
export function proxyProtocol(): AnyObject {
  const type = 'type.googleapis.com/envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol';
  return envoyFilter(PROXY_PROTOCOL, {
    workloadSelector: { labels: { istio: 'ingressgateway' } },
    configPatches: [
      {
        applyTo: 'LISTENER_FILTER',
        patch: {
          operation: 'INSERT_FIRST',
          value: { name: 'proxy_protocol', typed_config: { '@type': type } },
        },
      },
    ],
  });
}

/** The warning about an EnvoyFilter of a user for the ingress gateway. */
export function userFilterWarning(filters: Iterable<AnyObject>): Failure | undefined {
  const filter = userGatewayFilter(filters);
  if (filter === undefined) return undefined;
  return failure('userFilter', `user-created EnvoyFilter ${keyOf(filter.metadata)} targeting Ingress Gateway found`);
}

/** The first EnvoyFilter of a user for the ingress gateway, by name. */
export function userGatewayFilter(filters: Iterable<AnyObject>): AnyObject | undefined {
  return [...filters]
    .filter((filter) => filter.metadata.namespace === ISTIO_NAMESPACE && isOfUser(filter) && selectsGateway(filter))
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))[0];
}

function isOfUser({ metadata: { labels = {}, ownerReferences = [] } }: AnyObject): boolean {
  return labels[MODULE_LABEL] === undefined && !ownerReferences.some(({ kind }) => kind === 'RateLimit');
}

function selectsGateway(filter: AnyObject): boolean {
  const { workloadSelector } = (filter['spec'] ?? {}) as {
    readonly workloadSelector?: { readonly labels?: Readonly<Record<string, string>> };
  };
  const { istio, app } = workloadSelector?.labels ?? {};
  return istio === 'ingressgateway' || app === INGRESS_GATEWAY;
}
