import { describe, expect, test } from 'vitest';
import type { IstioSpec } from '../../api/istio.ts';
import type { KubeObject } from '../../kube/index.ts';
import { desiredOperator } from '../installation/operator/desired.ts';
import { overlay } from '../installation/operator/operator.ts';
import type { Container, Pod } from '../workloads/workloads.ts';
import {
  changedGatewaySetting,
  gatewayHash,
  gatewayPredicate,
  removalHash,
  sidecarHash,
  sidecarPredicate,
  sidecarState,
} from './desired-state.ts';
import type { SidecarState } from './desired-state.ts';
import { always, anyOf, where } from './predicate.ts';
import { sidecarOfNoMesh, withoutSidecar } from './sidecars.ts';

const IMAGE = 'docker.io/istio/proxyv2:1.31.0-distroless';
const RESOURCES = { requests: { cpu: '10m', memory: '192Mi' }, limits: { cpu: '1000m', memory: '1Gi' } };
const proxy: Container = { name: 'istio-proxy', image: IMAGE, resources: RESOURCES };

interface PodOptions {
  readonly sidecar?: Partial<Container>;
  readonly native?: boolean;
  readonly init?: string;
  readonly annotations?: Record<string, string>;
  readonly created?: string;
  readonly phase?: string;
  readonly conditions?: { type: string; status: string }[];
  readonly deleting?: boolean;
}

function pod(options: PodOptions = {}): Pod {
  const { sidecar = {}, native = false, init, annotations = {}, created = '2026-01-01T00:00:00Z' } = options;
  const container = { ...proxy, ...sidecar };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'p',
      namespace: 'shop',
      creationTimestamp: created,
      annotations: { 'sidecar.istio.io/status': '{}', ...annotations },
      ...(options.deleting && { deletionTimestamp: '2026-01-02T00:00:00Z' }),
    },
    spec: {
      containers: [{ name: 'app', image: 'app' }, ...(native ? [] : [container])],
      initContainers: [...(init === undefined ? [] : [{ name: init }]), ...(native ? [container] : [])],
    },
    status: {
      phase: options.phase ?? 'Running',
      conditions: options.conditions ?? [{ type: 'Ready', status: 'True' }],
    },
  };
}

const filter = (updatedAt?: string): KubeObject => ({
  apiVersion: 'networking.istio.io/v1alpha3',
  kind: 'EnvoyFilter',
  metadata: {
    name: 'kyma-referer',
    ...(updatedAt !== undefined && { annotations: { 'istios.operator.kyma-project.io/updatedAt': updatedAt } }),
  },
});

const state = (changes: Partial<SidecarState> = {}): SidecarState => ({
  image: IMAGE,
  resources: RESOURCES,
  cniEnabled: true,
  statusPort: 15_020,
  filters: [],
  spec: {},
  before: {},
  ...changes,
});
const why = (options: PodOptions = {}, changes: Partial<SidecarState> = {}): string | undefined =>
  sidecarPredicate(state(changes))(pod(options));

test('sidecarState derives the desired sidecar from the operator', () => {
  const facts = { size: 'Production', flavour: 'unknown', hub: 'docker.io/istio', version: '1.31.0' } as const;
  const rest = { statusPort: 15_020, filters: [], spec: {}, before: {} };
  expect(sidecarState(desiredOperator({}, facts), rest)).toEqual({
    ...rest,
    image: IMAGE,
    resources: { requests: { cpu: '10m', memory: '192Mi' }, limits: { cpu: '1000m', memory: '1024Mi' } },
    cniEnabled: true,
  });
  const image = { values: { global: { proxy: { image: 'example.org/proxy@sha256:1' } } } };
  const operator = overlay(desiredOperator({}, { ...facts, disableCni: true }), { spec: image });
  expect(sidecarState(operator, rest)).toMatchObject({ image: 'example.org/proxy@sha256:1', cniEnabled: false });
});

test('anyOf returns the first reason, and where checks its condition first', () => {
  const [never, yes] = [always(undefined), always('because')];
  expect(anyOf([never, yes])(pod())).toBe('because');
  expect(anyOf([never, never])(pod())).toBeUndefined();
  expect(where(() => false, yes)(pod())).toBeUndefined();
  expect(where(() => true, yes)(pod())).toBe('because');
});

describe('sidecarPredicate accepts a pod', () => {
  test('if its image and resources are those of the mesh', () => {
    expect(why()).toBeUndefined();
    expect(why({ native: true })).toBeUndefined();
  });

  test('if its resources are equal quantities in another notation', () => {
    const resources = { requests: { cpu: 0.01, memory: '196608Ki' }, limits: { cpu: '1', memory: '1024Mi' } };
    expect(why({ sidecar: { resources } })).toBeUndefined();
  });

  test('if it chooses its own image', () => {
    const annotations = { 'sidecar.istio.io/proxyImage': 'mine:1' };
    expect(why({ annotations, sidecar: { image: 'mine:1', resources: {} } })).toBeUndefined();
  });
});

describe('sidecarPredicate restarts a pod because', () => {
  test.each([
    ['its sidecar is of another version', 'docker.io/istio/proxyv2:1.30.2-distroless'],
    ['its sidecar comes from another repository', 'example.org/proxyv2:1.31.0-distroless'],
  ])('%s', (_what, image) => {
    expect(why({ sidecar: { image } })).toBe(`its sidecar is ${image}, and should be ${IMAGE}`);
    expect(why({ native: true, sidecar: { image } })).toContain('and should be');
  });

  test.each([
    ['requests.cpu', { ...RESOURCES, requests: { cpu: '20m', memory: '192Mi' } }, '20m', '10m'],
    ['requests.memory', { ...RESOURCES, requests: { cpu: '10m', memory: '1Gi' } }, '1Gi', '192Mi'],
    ['limits.cpu', { ...RESOURCES, limits: { cpu: '2', memory: '1Gi' } }, '2', '1000m'],
    ['limits.memory', { ...RESOURCES, limits: { cpu: '1' } }, 'not set', '1Gi'],
  ])('%s of its sidecar differs', (field, resources, has, should) => {
    expect(why({ sidecar: { resources } })).toBe(`${field} of its sidecar is ${has}, and should be ${should}`);
  });

  test('its traffic is redirected in the wrong way', () => {
    expect(why({ init: 'istio-init' })).toContain('the CNI plugin should');
    expect(why({ init: 'istio-validation' })).toBeUndefined();
    expect(why({ init: 'istio-validation' }, { cniEnabled: false })).toContain('an init container should');
    expect(why({ init: 'istio-init' }, { cniEnabled: false })).toBeUndefined();
  });

  test('an EnvoyFilter was changed after it was created, or in the same second', () => {
    const changed = (updatedAt?: string) => ({ filters: [filter(updatedAt)] });
    expect(why({ created: '2006-01-01T00:00:00Z' }, changed('2026-01-01T00:00:00Z'))).toBe(
      'EnvoyFilter kyma-referer was changed at 2026-01-01T00:00:00Z, after the pod was made',
    );
    expect(why({ created: '2026-01-01T00:00:00Z' }, changed('2026-01-01T01:00:00+01:00'))).toContain('was changed');
    expect(why({ created: '2077-01-01T00:00:00Z' }, changed('2026-01-01T00:00:00Z'))).toBeUndefined();
    expect(why({ created: '2006-01-01T00:00:00Z' }, changed())).toBeUndefined();
  });

  test('its metrics are merged but should not be, or vice versa', () => {
    const annotations = { 'prometheus.io/path': '/stats/prometheus', 'prometheus.io/port': '15020' };
    const spec: IstioSpec = { config: { telemetry: { metrics: { prometheusMerge: true } } } };
    expect(why({}, { spec })).toBe('its metrics are not merged with those of its sidecar');
    expect(why({ annotations }, { spec })).toBeUndefined();
    expect(why({ annotations })).toBe('its metrics are merged with those of its sidecar');
    expect(why({ annotations: { 'prometheus.io/port': '15020' } })).toContain('are merged');
  });

  test('DNS proxying is enabled, disabled, or unset', () => {
    const dns = (enableDNSProxying?: boolean): IstioSpec => ({ config: { enableDNSProxying } });
    const changed = 'spec.config.enableDNSProxying has changed';
    expect(why({}, { before: dns(), spec: dns(true) })).toBe(changed);
    expect(why({}, { before: dns(true), spec: dns(false) })).toBe(changed);
    expect(why({}, { before: dns(false), spec: dns() })).toBe(changed);
    expect(why({}, { before: dns(false), spec: dns(false) })).toBeUndefined();
  });

  test('the regular expressions for statistics changed; their order does not matter', () => {
    const stats = (...inclusionRegexps: string[]): IstioSpec => ({
      config: { proxyStatsMatcher: { inclusionRegexps } },
    });
    expect(why({}, { before: stats('a'), spec: stats('a', 'b') })).toBe('spec.config.proxyStatsMatcher has changed');
    expect(why({}, { before: stats('b', 'a'), spec: stats('a', 'b') })).toBeUndefined();
    expect(why({}, { before: {}, spec: stats() })).toBeUndefined();
  });
});

describe('annotations of a pod for the resources of its sidecar', () => {
  const annotations = (values: Record<string, string>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [`sidecar.istio.io/proxy${name}`, value]));

  test('replace the resources of the mesh', () => {
    const sidecar = { resources: { requests: { cpu: '50m' } } };
    expect(why({ annotations: annotations({ CPU: '50m' }), sidecar })).toBeUndefined();
    expect(why({ annotations: annotations({ CPU: '60m' }), sidecar })).toBe(
      'requests.cpu of its sidecar is 50m, and should be 60m',
    );
  });

  test('set a missing request to the limit', () => {
    const sidecar = { resources: { requests: { memory: '1Gi' }, limits: { memory: '1Gi' } } };
    expect(why({ annotations: annotations({ MemoryLimit: '1024Mi' }), sidecar })).toBeUndefined();
  });

  test('that are invalid do not cause a restart', () => {
    expect(why({ annotations: annotations({ CPU: 'much' }), sidecar: { resources: {} } })).toBeUndefined();
  });
});

test.each<[string, PodOptions]>([
  ['without an injected sidecar', { annotations: { 'sidecar.istio.io/status': undefined as unknown as string } }],
  ['with a condition that is not True', { conditions: [{ type: 'Ready', status: 'False' }] }],
  ['that is pending', { phase: 'Pending' }],
  ['that is being deleted', { deleting: true }],
])('sidecarPredicate ignores a pod %s', (_what, options) => {
  expect(why({ sidecar: { image: 'old', resources: {} }, ...options })).toBeUndefined();
});

describe('gateways are restarted', () => {
  const config = (numTrustedProxies?: number): IstioSpec => ({ config: { numTrustedProxies } });

  test.each([
    ['1 to 2', config(1), config(2), 'from 1 to 2'],
    ['1 to absent', config(1), {}, 'from 1 to not set'],
    ['absent to 1', { config: {} }, config(1), 'from not set to 1'],
    ['absent to 0', {}, config(0), 'from not set to 0'],
    ['nothing at all to 1', {}, config(1), 'from not set to 1'],
  ])('when numTrustedProxies changes from %s', (_what, before, spec, text) => {
    expect(changedGatewaySetting(before, spec)).toBe(`spec.config.numTrustedProxies has changed ${text}`);
  });

  test('not when numTrustedProxies is unchanged', () => {
    expect(changedGatewaySetting(config(1), config(1))).toBeUndefined();
    expect(changedGatewaySetting({}, {})).toBeUndefined();
  });

  test.each<[string, IstioSpec]>([
    ['forwardClientCertDetails', { config: { forwardClientCertDetails: 'SANITIZE' } }],
    ['trustDomain', { config: { trustDomain: 'a' } }],
    ['proxyStatsMatcher', { config: { proxyStatsMatcher: { inclusionRegexps: ['a'] } } }],
    ['networkPoliciesEnabled', { networkPoliciesEnabled: true }],
  ])('when %s changes', (field, spec) => {
    expect(changedGatewaySetting({}, spec)).toContain(field);
  });

  test('when an EnvoyFilter is newer than a pod, whether it is ready or not', () => {
    const predicate = gatewayPredicate({ filters: [filter('2026-01-01T00:00:00Z')], spec: {}, before: {} });
    expect(
      predicate(pod({ created: '2006-01-01T00:00:00Z', conditions: [{ type: 'Ready', status: 'False' }] })),
    ).toContain('kyma-referer');
    expect(predicate(pod({ created: '2077-01-01T00:00:00Z' }))).toBeUndefined();
  });
});

test('sidecarHash and gatewayHash differ for different states, and do not depend on the previous one', () => {
  const states: Partial<SidecarState>[] = [
    {},
    { image: 'other' },
    { resources: { ...RESOURCES, limits: { cpu: '2', memory: '1Gi' } } },
    { cniEnabled: false },
    { filters: [filter('2026-01-01T00:00:00Z')] },
    { spec: { config: { enableDNSProxying: false } } },
    { spec: { config: { telemetry: { metrics: { prometheusMerge: true } } } } },
  ];
  expect(new Set(states.map((each) => sidecarHash(state(each)))).size).toBe(states.length);
  expect(sidecarHash(state({ before: { config: { enableDNSProxying: true } } }))).toBe(sidecarHash(state()));
  const gateway = (spec: IstioSpec) => gatewayHash({ filters: [], spec, before: {} });
  expect(gateway({ config: { numTrustedProxies: 0 } })).not.toBe(gateway({}));
});

test('withoutSidecar finds pods without a sidecar in namespaces with injection', () => {
  const bare: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'shop' },
    spec: { containers: [] },
  };
  const labels = (namespace: Record<string, string>, each = bare) => withoutSidecar(() => namespace)(each);
  expect(labels({ 'istio-injection': 'enabled' })).toBe('injection is on in namespace shop, and it has no sidecar');
  expect(labels({ 'istio.io/rev': 'default' })).toContain('injection is on');
  expect(labels({})).toBeUndefined();
  expect(labels({ 'istio-injection': 'disabled', 'istio.io/rev': 'default' })).toBeUndefined();
  expect(labels({ 'istio-injection': 'enabled' }, pod())).toBeUndefined();
  const out = { ...bare, metadata: { ...bare.metadata, labels: { 'sidecar.istio.io/inject': 'false' } } };
  expect(labels({ 'istio-injection': 'enabled' }, out)).toBeUndefined();
  expect(labels({ 'istio-injection': 'enabled' }, { ...bare, spec: { hostNetwork: true } })).toBeUndefined();
});

describe('after an uninstall', () => {
  test('every pod with a sidecar is restarted, whatever its state; gateways are removed anyway', () => {
    expect(sidecarOfNoMesh(pod({ phase: 'Pending' }))).toBe('it has a sidecar, and Istio is uninstalled');
    const gateway = pod();
    const labels = { istio: 'ingressgateway' };
    expect(sidecarOfNoMesh({ ...gateway, metadata: { ...gateway.metadata, labels } })).toBeUndefined();
  });

  test('workloads are restarted once for each removed installation', () => {
    expect(removalHash({ uid: 'a' })).toBe(removalHash({ uid: 'a' }));
    expect(removalHash({ uid: 'a' })).not.toBe(removalHash({ uid: 'b' }));
  });
});
