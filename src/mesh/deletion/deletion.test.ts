import { describe, expect, test } from 'vitest';
import type { AnyObject } from '../../kube/index.ts';
import { failure } from '../status/failures.ts';
import { isInjected } from '../workloads/workloads.ts';
import type { Pod } from '../workloads/workloads.ts';
import { blockedBy, blockedMessage, blockingResources, BLOCKING_KINDS, managedTest } from './blocking.ts';
import { uninstallStep } from './uninstall.ts';

const object = (kind: string, name: string, namespace?: string, labels: Record<string, string> = {}): AnyObject => ({
  apiVersion: 'networking.istio.io/v1',
  kind,
  metadata: { name, ...(namespace !== undefined && { namespace }), labels },
});

describe('a deletion', () => {
  test('is blocked by resources of every kind of Istio', () => {
    expect(BLOCKING_KINDS.map(({ kind, version }) => `${kind} ${version}`)).toEqual([
      'AuthorizationPolicy v1',
      'DestinationRule v1',
      'EnvoyFilter v1alpha3',
      'Gateway v1',
      'PeerAuthentication v1',
      'ProxyConfig v1beta1',
      'RequestAuthentication v1',
      'ServiceEntry v1',
      'Sidecar v1',
      'Telemetry v1',
      'TrafficExtension v1alpha1',
      'VirtualService v1',
      'WasmPlugin v1alpha1',
      'WorkloadEntry v1',
      'WorkloadGroup v1',
    ]);
  });

  test('is not blocked by objects that Istio or we made', () => {
    const managed = [
      object('EnvoyFilter', 'stats-filter-1.20', 'istio-system'),
      object('EnvoyFilter', 'tcp-stats-filter-1.20', 'istio-system'),
      object('EnvoyFilter', 'kyma-referer', 'istio-system'),
      object('EnvoyFilter', 'proxy-protocol', 'istio-system'),
      object('PeerAuthentication', 'default', 'istio-system'),
      object('VirtualService', 'istio-healthz', 'istio-system'),
      object('Gateway', 'kyma-gateway', 'kyma-system', { 'kyma-project.io/module': 'istio' }),
    ];
    expect(blockingResources(managed)).toEqual([]);
  });

  test('is blocked by a name or namespace that matches a pattern only in part', () => {
    const mine = [
      object('EnvoyFilter', 'my-proxy-protocol', 'istio-system'),
      object('PeerAuthentication', 'default', 'istio-system-2'),
      object('PeerAuthentication', 'my-default', 'istio-system'),
      object('VirtualService', 'proxy-protocol', 'istio-system'),
    ];
    expect(blockingResources(mine)).toHaveLength(4);
  });

  test('that is blocked is a Warning with the number of blocking resources', () => {
    const blocking = blockingResources([object('VirtualService', 'shop', 'shop')]);
    expect(blockedBy(blocking)).toEqual({
      total: 1,
      resources: [{ kind: 'VirtualService', namespace: 'shop', name: 'shop' }],
    });
    const message = blockedMessage(blocking);
    expect(message).toBe('could not delete Istio module instance since there are 1 customer resources present');
    expect(failure('blocked', message)).toMatchObject({
      state: 'Warning',
      conditions: [{ reason: 'IstioCustomResourcesDangling' }],
    });
  });

  test('counts a resource once if it is read in two versions', () => {
    const twice = [
      object('VirtualService', 'a', 'b'),
      { ...object('VirtualService', 'a', 'b'), apiVersion: 'x/v1beta1' },
    ];
    expect(blockedBy(blockingResources(twice)).total).toBe(1);
  });

  test('lists the first twenty blocking resources in a stable order', () => {
    const many = Array.from({ length: 30 }, (_none, index) => object('Gateway', `g-${99 - index}`, 'a'));
    const { total, resources } = blockedBy(blockingResources(many));
    expect([total, resources.length, resources[0]!.name]).toEqual([30, 20, 'g-70']);
  });

  test('refuses an invalid pattern', () => {
    expect(() => managedTest({ EnvoyFilter: [{ name: 'stats-filter-[', namespace: 'a' }] })).toThrow(
      'configuration yaml regex check failed for "stats-filter-[": ',
    );
  });
});

describe('an uninstall', () => {
  const component = { 'operator.istio.io/component': 'Pilot' };
  const namespace = object('Namespace', 'istio-system');
  const going = { ...namespace, metadata: { ...namespace.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  const remains = { objects: [] as AnyObject[], namespace, injectedWorkloads: 1, distributed: [] as AnyObject[] };

  test('removes webhooks first, so that pods can start while istiod is removed', () => {
    const objects = [
      object('Deployment', 'istiod', 'istio-system', component),
      object('ValidatingWebhookConfiguration', 'v', undefined, component),
      object('MutatingWebhookConfiguration', 'm', undefined, component),
    ];
    const step = uninstallStep({ ...remains, objects });
    expect(step).toEqual({ do: 'remove', of: 'istio', objects: [objects[2], objects[1]], awaited: [] });
  });

  test('then removes everything that the installation made, definitions last, and nothing of others', () => {
    const objects = [
      object('CustomResourceDefinition', 'c', undefined, component),
      object('ConfigMap', 'istio', 'istio-system', component),
      object('ConfigMap', 'mine', 'istio-system'),
      object('Deployment', 'istiod', 'istio-system', component),
    ];
    const step = uninstallStep({ ...remains, objects });
    expect(step).toEqual({ do: 'remove', of: 'istio', objects: [objects[3], objects[1], objects[0]], awaited: [] });
  });

  test('waits for objects that are being deleted, and removes nothing twice', () => {
    const pod = object('Pod', 'istiod-1', 'istio-system', component);
    const objects = [{ ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }];
    expect(uninstallStep({ ...remains, objects })).toEqual({
      do: 'remove',
      of: 'istio',
      objects: [],
      awaited: objects,
    });
  });

  test('then removes the namespace without waiting for it, restarts workloads with sidecars, and the finalizer', () => {
    expect(uninstallStep(remains)).toEqual({ do: 'remove-namespace', namespace });
    expect(uninstallStep({ ...remains, namespace: going })).toEqual({ do: 'restart-workloads' });
    expect(uninstallStep({ ...remains, namespace: undefined })).toEqual({ do: 'restart-workloads' });
    expect(uninstallStep({ ...remains, namespace: going, injectedWorkloads: 0 })).toEqual({ do: 'release' });
  });

  test('removes the ConfigMaps for sidecars when no sidecar is left, and nothing of others', () => {
    const [root, crl, mine] = ['istio-ca-root-cert', 'istio-ca-crl', 'mine'].map((name) =>
      object('ConfigMap', name, 'shop', { 'istio.io/config': 'true' }),
    );
    const distributed = [root!, crl!, mine!];
    const after = { ...remains, namespace: going, distributed };
    expect(uninstallStep(after)).toEqual({ do: 'restart-workloads' });
    const step = uninstallStep({ ...after, injectedWorkloads: 0 });
    expect(step).toEqual({ do: 'remove', of: 'sidecars', objects: [root, crl], awaited: [] });
    expect(uninstallStep({ ...after, distributed: [mine!], injectedWorkloads: 0 })).toEqual({ do: 'release' });
  });

  test('of an Istio that was deleted by hand only removes the finalizer', () => {
    expect(uninstallStep({ ...remains, namespace: undefined, injectedWorkloads: 0 })).toEqual({ do: 'release' });
  });
});

describe('isInjected', () => {
  const pod = (containers: string[], initContainers: string[] = [], labels: Record<string, string> = {}): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', labels },
    spec: {
      containers: containers.map((name) => ({ name })),
      initContainers: initContainers.map((name) => ({ name })),
    },
  });

  test.each([
    ['a pod with a sidecar', pod(['app', 'istio-proxy']), true],
    ['a pod with a native sidecar', pod(['app'], ['istio-proxy']), true],
    ['a pod without a sidecar', pod(['app']), false],
    ['a pod with only a proxy', pod(['istio-proxy']), false],
    ['a gateway', pod(['app', 'istio-proxy'], [], { istio: 'ingressgateway' }), false],
  ])('for %s', (_what, each, injected) => {
    expect(isInjected(each)).toBe(injected);
  });
});
