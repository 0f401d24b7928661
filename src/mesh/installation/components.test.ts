import { describe, expect, test } from 'vitest';
import type { AnyObject } from '../../kube/index.ts';
import { byComponent, componentOf, componentSteps, COMPONENTS } from './components.ts';
import type { ComponentName } from './components.ts';
import { applyOrder, parseManifests } from './render/manifests.ts';
import { leftOver, owned } from './ownership.ts';
import { notReady } from './readiness.ts';
import { conflictingTags } from './tag-webhooks.ts';

const object = (kind: string, name: string, rest: object = {}, labels: Record<string, string> = {}): AnyObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, labels },
  ...rest,
});

test('componentOf uses the label of an object, else its chart', () => {
  expect(componentOf(object('Service', 'a', {}, { 'operator.istio.io/component': 'Cni' }))).toBe('Cni');
  expect(componentOf(object('Role', 'a', {}, { 'helm.sh/chart': 'istiod-1.0.0' }))).toBe('Pilot');
  expect(componentOf(object('ServiceAccount', 'a', {}, { 'helm.sh/chart': 'base-1.0.0' }))).toBe('Base');
  expect(componentOf(object('CustomResourceDefinition', 'a'))).toBe('Base');
});

test('applyOrder puts referenced objects first, and sorts objects of one kind by name', () => {
  const kinds = ['HorizontalPodAutoscaler', 'Deployment', 'Service', 'ConfigMap', 'CustomResourceDefinition', 'Role'];
  const objects = [...kinds.map((kind) => object(kind, 'b')), object('Deployment', 'a')];
  expect(applyOrder(objects).map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
    'CustomResourceDefinition b',
    'Role b',
    'ConfigMap b',
    'Service b',
    'Deployment a',
    'Deployment b',
    'HorizontalPodAutoscaler b',
  ]);
  expect([...byComponent(objects).keys()]).toEqual(['Base', 'Pilot']);
});

test('parseManifests refuses two documents for one object, in any version', async () => {
  const text =
    'apiVersion: apps/v1\nkind: A\nmetadata: {name: a}\n---\napiVersion: apps/v2\nkind: A\nmetadata: {name: a}\n';
  await expect(parseManifests(text, () => Promise.resolve())).rejects.toThrow(
    'document 1 is A.apps a, which is a duplicate',
  );
});

describe('componentSteps', () => {
  const steps = (unready: Partial<Record<ComponentName, string>>, there: readonly ComponentName[] = []) =>
    componentSteps(
      COMPONENTS,
      (component) => unready[component],
      (component) => there.includes(component),
    );

  test('applies components in order, and independent ones at the same time', () => {
    expect(steps({ Base: 'CRD a is not established' }).apply).toEqual(['Base']);
    expect(steps({ Pilot: 'p', Cni: 'c' }).apply).toEqual(['Base', 'Pilot', 'Cni']);
    expect(steps({ Cni: 'c' }).apply).toEqual(['Base', 'Pilot', 'Cni', 'IngressGateways', 'EgressGateways']);
    expect(steps({})).toEqual({ apply: [...COMPONENTS], waiting: [] });
  });

  test('says what each component waits for', () => {
    expect(steps({ Pilot: 'Deployment istiod: 0 of 1 pods are available', EgressGateways: 'x' }).waiting).toEqual([
      { component: 'Pilot', for: 'Deployment istiod: 0 of 1 pods are available' },
      { component: 'IngressGateways', for: 'Pilot is not ready: Deployment istiod: 0 of 1 pods are available' },
      { component: 'EgressGateways', for: 'Pilot is not ready: Deployment istiod: 0 of 1 pods are available' },
    ]);
  });

  test('repairs components that exist: a gateway while istiod is down', () => {
    expect(steps({ Pilot: 'p' }, ['IngressGateways']).apply).toContain('IngressGateways');
  });
});

describe('an applied object', () => {
  test('has the labels of its owner, and none with a version of Istio', () => {
    const { labels } = owned(object('Service', 'istiod', {}, { app: 'istiod' })).metadata;
    expect(labels).toEqual({
      app: 'istiod',
      'operator.istio.io/managed': 'Reconcile',
      'operator.istio.io/component': 'Pilot',
      'operator.istio.io/version': 'unknown',
      'istio.io/rev': 'default',
      'install.operator.istio.io/owning-resource': 'default-operator',
      'install.operator.istio.io/owning-resource-namespace': 'istio-system',
      'kyma-project.io/module': 'istio',
    });
  });

  test('has quantities in the form of the server, so that a new process finds nothing to write', () => {
    const containers = [{ name: 'discovery', resources: { limits: { cpu: '1000m', memory: '1024Mi' }, claims: [] } }];
    const deployment = object('Deployment', 'istiod', { spec: { template: { spec: { containers } } } });
    expect(owned(deployment)['spec']).toEqual({
      template: {
        spec: { containers: [{ name: 'discovery', resources: { limits: { cpu: '1', memory: '1Gi' }, claims: [] } }] },
      },
    });
  });

  test('has defaults and empty values in the form of the server', () => {
    const fieldRef = { fieldPath: 'metadata.name' };
    const env = [
      { name: 'EMPTY', value: '' },
      { name: 'POD', valueFrom: { fieldRef } },
    ];
    const podSpec = { affinity: { nodeAffinity: { required: null } }, containers: [{ name: 'discovery', env }] };
    const deployment = object('Deployment', 'istiod', { spec: { template: { spec: podSpec } } });
    const stored = [{ name: 'EMPTY' }, { name: 'POD', valueFrom: { fieldRef: { apiVersion: 'v1', ...fieldRef } } }];
    expect(owned(deployment)['spec']).toEqual({
      template: { spec: { affinity: { nodeAffinity: {} }, containers: [{ name: 'discovery', env: stored }] } },
    });
    const webhooks = [{ name: 'a', rules: [{ resources: ['pods'] }] }];
    expect(owned(object('MutatingWebhookConfiguration', 'b', { webhooks }))['webhooks']).toMatchObject([
      { rules: [{ scope: '*', resources: ['pods'] }] },
    ]);
  });

  test('leaves replicas to the autoscaler and caBundle to istiod', () => {
    expect(owned(object('Deployment', 'istiod', { spec: { replicas: 3, paused: false } }))['spec']).toEqual({
      paused: false,
    });
    const webhooks = [{ name: 'a', clientConfig: { service: {}, caBundle: 'x' }, failurePolicy: 'Ignore' }];
    expect(owned(object('MutatingWebhookConfiguration', 'a', { webhooks }))['webhooks']).toEqual([
      { name: 'a', clientConfig: { service: {} }, failurePolicy: 'Ignore' },
    ]);
  });

  test('leaves the failure policy of an existing validating webhook to istiod', () => {
    const webhooks = (failurePolicy: string) => [{ name: 'a', clientConfig: {}, failurePolicy }];
    const kind = 'ValidatingWebhookConfiguration';
    const desired = object(kind, 'a', { webhooks: webhooks('Ignore') });
    expect(owned(desired)['webhooks']).toEqual(webhooks('Ignore'));
    expect(owned(desired, object(kind, 'a', { webhooks: webhooks('Fail') }))['webhooks']).toEqual(webhooks('Fail'));
  });

  test('is ready when its definition is established and its rollout is done', () => {
    const crd = (conditions: object[]) => object('CustomResourceDefinition', 'a', { status: { conditions } });
    expect(notReady(crd([]), undefined)).toBe('CustomResourceDefinition a is not there');
    expect(notReady(crd([]), crd([]))).toBe('CustomResourceDefinition a is not established');
    expect(notReady(crd([]), crd([{ type: 'Established', status: 'True' }]))).toBeUndefined();
    const daemons = (status: object) => object('DaemonSet', 'a', { status });
    expect(notReady(daemons({}), daemons({}))).toBe('DaemonSet a: no pods are scheduled');
    const done = { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2 };
    expect(notReady(daemons({}), daemons(done))).toBeUndefined();
    const namespace = object('Namespace', 'a', { status: { phase: 'Terminating' } });
    expect(notReady(namespace, namespace)).toBe('Namespace a is being deleted');
    expect(notReady(object('Service', 'a'), object('Service', 'a'))).toBeUndefined();
  });
});

describe('leftOver', () => {
  const ours = (kind: string, name: string, labels: Record<string, string> = {}): AnyObject => {
    const made = owned(object(kind, name));
    return { ...made, metadata: { ...made.metadata, labels: { ...made.metadata.labels, ...labels } } };
  };

  test('finds objects of the owner that are no longer rendered, of any version', () => {
    const older = ours('Service', 'old', {
      'install.operator.istio.io/owning-resource': 'installed-state-default-operator',
      'operator.istio.io/version': '1.19.0',
    });
    const kept = ours('Service', 'istiod');
    expect(leftOver([older, kept], [object('Service', 'istiod')])).toEqual([older]);
  });

  test('never finds definitions, objects of others, or objects that are marked as not pruned', () => {
    const live = [
      ours('CustomResourceDefinition', 'a'),
      object('Service', 'b', {}, { 'operator.istio.io/component': 'Pilot' }),
      ours('Service', 'c', { 'install.operator.istio.io/owning-resource': 'other-operator' }),
      ours('MutatingWebhookConfiguration', 'd', { 'install.operator.istio.io/owning-resource-not-pruned': 'true' }),
    ];
    expect(leftOver(live, [])).toEqual([]);
  });
});

describe('conflictingTags', () => {
  const never = { matchLabels: { 'istio.io/deactivated': 'never-match' } };
  const configuration = (name: string, labels: Record<string, string>, selector: object = {}): AnyObject =>
    object(
      'MutatingWebhookConfiguration',
      name,
      { webhooks: [{ name: 'a', namespaceSelector: selector, objectSelector: selector }] },
      labels,
    );
  const tagged = configuration('istio-revision-tag-default', { 'istio.io/rev': 'default', 'istio.io/tag': 'default' });
  const plain = (selector?: object): AnyObject =>
    configuration('istio-sidecar-injector', { 'istio.io/rev': 'default' }, selector);

  test('finds no webhook while the injector is deactivated', () => {
    expect(conflictingTags([tagged, plain(never)])).toEqual([]);
  });

  test('finds the webhooks of the tag default while the injector is active', () => {
    expect(conflictingTags([tagged, plain()])).toEqual([tagged]);
  });

  test('finds no webhook without an injector, or without a tag', () => {
    expect(conflictingTags([tagged])).toEqual([]);
    expect(conflictingTags([plain()])).toEqual([]);
  });
});
