import { expect, test } from 'vitest';
import { apiServerPort, featuresOf, isDualStack, loadBalancerFacts, statusPort } from './companions.ts';
import type { ConfigMap, Service } from './companions.ts';

const configMap = (data: Record<string, string>): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'istio-features', namespace: 'kyma-system' },
  data,
});
const service = (
  annotations: Record<string, string>,
  ports: { name: string; targetPort: number | string }[],
): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 's', annotations },
  spec: { ports },
});

test('featuresOf: features are off unless the ConfigMap enables them', () => {
  expect(featuresOf(undefined)).toEqual({ disableCni: false, controlPlaneVPA: false });
  expect(featuresOf(configMap({ features: '{"disableCni":true,"enableControlPlaneVPA":true}' }))).toEqual({
    disableCni: true,
    controlPlaneVPA: true,
  });
  expect(featuresOf(configMap({ features: '{"disableCni":"yes"}' })).disableCni).toBe(false);
});

test('featuresOf reports features that cannot be read, and leaves them off', () => {
  const { problem, ...features } = featuresOf(configMap({ features: '{' }));
  expect(features).toEqual({ disableCni: false, controlPlaneVPA: false });
  expect(problem).toContain("key features of ConfigMap kyma-system/istio-features can't be read: ");
});

test('isDualStack is true only if the ConfigMap says so', () => {
  expect(isDualStack(undefined)).toBe(false);
  expect(isDualStack(configMap({ details: 'networkDetails:\n  dualStackIPEnabled: true\n' }))).toBe(true);
  expect(isDualStack(configMap({ details: 'networkDetails: [' }))).toBe(false);
});

test('loadBalancerFacts recognizes a network load balancer by the annotation of the Service', () => {
  const annotation = 'service.beta.kubernetes.io/aws-load-balancer-type';
  const facts = (annotations: Record<string, string>) =>
    loadBalancerFacts({ elbDeprecated: configMap({}), gateway: service(annotations, []), dualStack: false });
  expect(facts({ [annotation]: 'nlb' })).toEqual({
    elbDeprecated: true,
    hasNetworkLoadBalancer: true,
    dualStack: false,
  });
  expect(facts({}).hasNetworkLoadBalancer).toBe(false);
});

test('statusPort and apiServerPort return the configured port, else the default', () => {
  expect(statusPort(configMap({ mesh: 'defaultConfig:\n  statusPort: 15999\n' }))).toBe(15_999);
  expect(statusPort(undefined)).toBe(15_020);
  expect(apiServerPort(service({}, [{ name: 'https', targetPort: 6443 }]))).toBe(6443);
  expect(apiServerPort(service({}, [{ name: 'https', targetPort: 'https' }]))).toBe(443);
  expect(apiServerPort(undefined)).toBe(443);
});
