import { expect, test } from 'vitest';
import type { Istio, IstioSpec } from '../../api/istio.ts';
import { readLastApplied, withApplied, writeLastApplied } from './last-applied.ts';
import { LAST_APPLIED } from '../names.ts';

const istio = (annotation?: string): Istio => ({
  apiVersion: 'operator.kyma-project.io/v1alpha2',
  kind: 'Istio',
  metadata: { name: 'default', ...(annotation !== undefined && { annotations: { [LAST_APPLIED]: annotation } }) },
});

test('writeLastApplied writes exactly the annotation of the Kyma operator', () => {
  expect(writeLastApplied({ config: { numTrustedProxies: 1 } }, '1.16.1-distroless')).toBe(
    '{"config":{"numTrustedProxies":1},"IstioTag":"1.16.1-distroless"}',
  );
  expect(writeLastApplied({}, '1.20.0-distroless')).toBe('{"config":{},"IstioTag":"1.20.0-distroless"}');
});

test('writeLastApplied writes keys in the order of the Kyma operator, and omits flags that are off', () => {
  const spec: IstioSpec = {
    networkPoliciesEnabled: true,
    compatibilityMode: false,
    experimental: { enableAmbient: true },
    components: { proxy: { k8s: {} } },
  };
  expect(writeLastApplied(spec, 't')).toBe(
    '{"config":{},"components":{"proxy":{"k8s":{}}},"experimental":{"enableAmbient":true},"networkPoliciesEnabled":true,"IstioTag":"t"}',
  );
});

test('readLastApplied reads what writeLastApplied writes', () => {
  const spec: IstioSpec = {
    config: { numTrustedProxies: 0, enableDNSProxying: false, authorizers: [{ name: 'a', port: 80 }] },
    components: { egressGateway: { enabled: true } },
    compatibilityMode: true,
  };
  expect(readLastApplied(istio(writeLastApplied(spec, '1.31.0-distroless')))).toEqual({
    spec,
    tag: '1.31.0-distroless',
  });
});

test('readLastApplied returns an empty spec without the annotation', () => {
  expect(readLastApplied(istio())).toEqual({ spec: {} });
});

test('readLastApplied accepts keys in any case, and ignores unknown ones', () => {
  const text = '{"Config":{"NumTrustedProxies":3,"gone":1,"trustDomain":null},"istiotag":"1.16.1-distroless","x":{}}';
  expect(readLastApplied(istio(text))).toEqual({
    spec: { config: { numTrustedProxies: 3 } },
    tag: '1.16.1-distroless',
  });
});

test('readLastApplied reads the annotation of newer releases of the Kyma operator', () => {
  const text = '{"config":{"numTrustedProxies":1,"telemetry":{"metrics":{}}},"IstioTag":"1.16.1-distroless"}';
  expect(readLastApplied(istio(text))).toMatchObject({ spec: { config: { numTrustedProxies: 1 } } });
});

test.each([
  ['', 'is not JSON'],
  ['{"config":', 'is not JSON'],
  ['[]', 'must be a JSON object'],
  ['null', 'must be a JSON object'],
  ['{"IstioTag":1}', 'IstioTag must be a string, found 1'],
  ['{"config":{"numTrustedProxies":"2"}}', 'config.numTrustedProxies: '],
  ['{"config":7}', 'config: '],
])('readLastApplied reports an invalid annotation: %j', (text, problem) => {
  const read = readLastApplied(istio(text));
  expect(read).toContain(`annotation ${LAST_APPLIED}`);
  expect(read).toContain(problem);
});

test('withApplied records the fields of a component that is done, and keeps the others unchanged', () => {
  const before = { spec: { config: { numTrustedProxies: 1, enableDNSProxying: true } }, tag: 't' };
  const spec: IstioSpec = { config: { trustDomain: 'd', enableDNSProxying: false }, compatibilityMode: true };
  expect(withApplied(before, spec, 'gateway')).toEqual({ config: { trustDomain: 'd', enableDNSProxying: true } });
  expect(withApplied(before, spec, 'sidecars')).toEqual({
    config: { numTrustedProxies: 1, enableDNSProxying: false },
    compatibilityMode: true,
  });
});
