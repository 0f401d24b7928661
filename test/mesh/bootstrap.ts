// The bootstrap configuration of an Envoy, which gets everything else from istiod.
import { XDS_PORT } from './istiod.ts';

export const ADMIN_PORT = 15_000;

/** As in Istio's own sidecars. Without it, Envoy rejects all but the smallest regular expressions. */
const runtime = {
  're2.max_program_size.error_level': 32_768,
  'envoy.reloadable_features.http_reject_path_with_fragment': false,
  'envoy.reloadable_features.coalesce_lb_rebuilds_on_batch_update': false,
};

export interface ProxyIdentity {
  readonly type: 'sidecar' | 'router';
  readonly name: string;
  readonly namespace: string;
  /** The address that it listens on and that istiod knows it by. */
  readonly address: string;
  /** The labels of its pod, for `sourceLabels` and selectors. */
  readonly labels: Readonly<Record<string, string>>;
}

/** The bootstrap configuration of an Envoy, for an istiod at an address. */
export function bootstrap({ type, name, namespace, address, labels }: ProxyIdentity, istiod: string): unknown {
  const source = { ads: {}, resource_api_version: 'V3', initial_fetch_timeout: '0s' };
  return {
    node: {
      id: `${type}~${address}~${name}.${namespace}~${namespace}.svc.cluster.local`,
      cluster: `${name}.${namespace}`,
      metadata: {
        NAME: name,
        NAMESPACE: namespace,
        LABELS: labels,
        INTERCEPTION_MODE: 'NONE',
        INSTANCE_IPS: address,
        ISTIO_VERSION: '1.31.0',
        CLUSTER_ID: 'Kubernetes',
      },
    },
    admin: { address: socket(address, ADMIN_PORT) },
    dynamic_resources: {
      lds_config: source,
      cds_config: source,
      ads_config: {
        api_type: 'DELTA_GRPC',
        transport_api_version: 'V3',
        set_node_on_first_message_only: true,
        grpc_services: [{ envoy_grpc: { cluster_name: 'istiod' } }],
      },
    },
    static_resources: { clusters: [istiodCluster(istiod)] },
    layered_runtime: { layers: [{ name: 'istio', static_layer: runtime }] },
  };
}

function istiodCluster(address: string): unknown {
  const options = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
  return {
    name: 'istiod',
    type: 'STATIC',
    connect_timeout: '5s',
    typed_extension_protocol_options: {
      [options]: {
        '@type': `type.googleapis.com/${options}`,
        explicit_http_config: { http2_protocol_options: {} },
      },
    },
    load_assignment: {
      cluster_name: 'istiod',
      endpoints: [{ lb_endpoints: [{ endpoint: { address: socket(address, XDS_PORT) } }] }],
    },
  };
}

function socket(address: string, port: number): unknown {
  return { socket_address: { address, port_value: port } };
}
