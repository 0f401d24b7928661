// Metrics of the mesh: settings of the active resource, under the names in dashboards of the Kyma operator, and our
// own.
import { Istio } from '../api/istio.ts';
import type { IstioSpec } from '../api/istio.ts';
import { countByState } from '../controller/index.ts';
import type { TableGauge } from '../controller/index.ts';
import { STATES, stateOf } from './describe/tree.ts';
import { activeIstio } from './custom-resource/active-istio.ts';

const CERT_DETAILS = ['APPEND_FORWARD', 'SANITIZE_SET', 'SANITIZE', 'ALWAYS_FORWARD_ONLY', 'FORWARD_ONLY'] as const;

/** The counted settings of a spec, by the name of the metric. */
const COUNTS: Readonly<Record<string, readonly [help: string, count: (spec: IstioSpec) => number]>> = {
  istio_ext_auth_providers_total: ['External authorizers', ({ config }) => config?.authorizers?.length ?? 0],
  istio_ext_auth_timeout_configured_number_total: [
    'External authorizers with a timeout',
    ({ config }) => (config?.authorizers ?? []).filter(({ timeout }) => timeout !== undefined).length,
  ],
  istio_ext_auth_path_prefix_configured_number_total: [
    'External authorizers with a path prefix',
    ({ config }) => (config?.authorizers ?? []).filter(({ pathPrefix }) => pathPrefix !== undefined).length,
  ],
  istio_num_trusted_proxies_configured: [
    '1 if numTrustedProxies is set and not 0',
    ({ config }) => Number((config?.numTrustedProxies ?? 0) !== 0),
  ],
  istio_prometheus_merge_enabled: [
    '1 if application metrics are merged with proxy metrics',
    ({ config }) => Number(config?.telemetry?.metrics?.prometheusMerge === true),
  ],
  istio_compatibility_mode_enabled: [
    '1 in compatibility mode',
    ({ compatibilityMode }) => Number(compatibilityMode === true),
  ],
  istio_trust_domain_configured: [
    '1 if the trust domain is not the default',
    ({ config }) => Number((config?.trustDomain ?? 'cluster.local') !== 'cluster.local'),
  ],
  istio_network_policies_enabled: [
    '1 if NetworkPolicies are installed',
    ({ networkPoliciesEnabled }) => Number(networkPoliciesEnabled === true),
  ],
  istio_egress_gateway_used: [
    '1 if there is an egress gateway',
    ({ components }) => Number(components?.egressGateway?.enabled === true),
  ],
  istio_dnsproxy_used: ['1 if sidecars answer DNS queries', ({ config }) => Number(config?.enableDNSProxying === true)],
};

/** The settings of the active resource, and the states of all resources. */
export const meshGauges: readonly TableGauge[] = [
  countByState({ name: 'offshoot_meshes', help: 'Istio resources by state', kind: Istio, states: STATES, stateOf }),
  ...Object.entries(COUNTS).map(([name, [help, count]]): TableGauge => ({
    name,
    help,
    labels: [],
    series: (facts) => [{ labels: {}, value: count(activeIstio(facts.list(Istio))?.spec ?? {}) }],
  })),
  {
    name: 'istio_forward_client_cert_details_setting',
    help: '1 for the configured handling of the header X-Forwarded-Client-Cert',
    labels: ['xfcc_setting'],
    series(facts) {
      const setting = activeIstio(facts.list(Istio))?.spec?.config?.forwardClientCertDetails;
      return CERT_DETAILS.map((each) => ({ labels: { xfcc_setting: each }, value: Number(each === setting) }));
    },
  },
];
