import { expect, test } from 'vitest';
import type { Istio, IstioSpec } from '../api/istio.ts';
import type { Facts } from '../controller/index.ts';
import { meshGauges } from './gauges.ts';

/** The metrics that are not 0 for a resource with this spec. */
function values(spec?: IstioSpec): Record<string, number> {
  const metadata = { name: 'default', namespace: 'kyma-system', uid: 'u' };
  const istio: Istio = { apiVersion: 'operator.kyma-project.io/v1alpha2', kind: 'Istio', metadata, spec };
  const facts = { list: () => (spec === undefined ? [] : [istio]) } as unknown as Facts;
  const series = meshGauges.flatMap((gauge) =>
    [...gauge.series(facts)].map(
      ({ labels, value }) => [[gauge.name, ...Object.values(labels)].join(' '), value] as const,
    ),
  );
  return Object.fromEntries(series.filter(([name, value]) => name.startsWith('istio_') && value !== 0));
}

test('meshGauges are 0 for default settings, and without a resource', () => {
  expect(values()).toEqual({});
  expect(values({ config: { numTrustedProxies: 0, trustDomain: 'cluster.local', enableDNSProxying: false } })).toEqual(
    {},
  );
});

test('meshGauges count every setting', () => {
  expect(
    values({
      config: {
        numTrustedProxies: 2,
        trustDomain: 'example.org',
        enableDNSProxying: true,
        forwardClientCertDetails: 'SANITIZE',
        telemetry: { metrics: { prometheusMerge: true } },
        authorizers: [
          { name: 'a', port: 1, timeout: '1s' },
          { name: 'b', port: 1, pathPrefix: '/' },
          { name: 'c', port: 1, timeout: '2s' },
        ],
      },
      components: { egressGateway: { enabled: true } },
      compatibilityMode: true,
      networkPoliciesEnabled: true,
    }),
  ).toEqual({
    istio_ext_auth_providers_total: 3,
    istio_ext_auth_timeout_configured_number_total: 2,
    istio_ext_auth_path_prefix_configured_number_total: 1,
    istio_num_trusted_proxies_configured: 1,
    istio_prometheus_merge_enabled: 1,
    istio_compatibility_mode_enabled: 1,
    istio_trust_domain_configured: 1,
    istio_network_policies_enabled: 1,
    istio_egress_gateway_used: 1,
    istio_dnsproxy_used: 1,
    'istio_forward_client_cert_details_setting SANITIZE': 1,
  });
});
