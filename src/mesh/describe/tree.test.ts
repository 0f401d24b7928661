import { expect, test } from 'vitest';
import type { Istio, IstioStatus } from '../../api/istio.ts';
import { LAST_APPLIED } from '../names.ts';
import type { Pod, Workload } from '../workloads/workloads.ts';
import { describeMesh, versionLines } from './tree.ts';
import type { MeshWorld } from './world.ts';

const istio = (name: string, status?: IstioStatus, metadata: Partial<Istio['metadata']> = {}): Istio => ({
  apiVersion: 'operator.kyma-project.io/v1alpha2',
  kind: 'Istio',
  metadata: {
    name,
    namespace: 'kyma-system',
    uid: name,
    generation: 2,
    creationTimestamp: '2026-01-01T00:00:00Z',
    ...metadata,
  },
  ...(status && { status }),
});
const ready: IstioStatus = { state: 'Ready', description: '', observedGeneration: 2 };
const workload = (kind: string, name: string, component: string, available: number): Workload => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name, namespace: 'istio-system', labels: { 'operator.istio.io/component': component } },
  spec: { replicas: 1 },
  status: {
    replicas: 1,
    updatedReplicas: 1,
    availableReplicas: available,
    desiredNumberScheduled: 1,
    updatedNumberScheduled: 1,
    numberAvailable: available,
  },
});
const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'istiod-1', namespace: 'istio-system', labels: { 'kyma-project.io/module': 'istio' } },
  spec: { containers: [{ name: 'discovery', image: 'istio/pilot:1.31.0-distroless' }] },
};
const described = (world: Partial<MeshWorld>) =>
  describeMesh({ istios: [], workloads: [], pods: [], events: [], ...world });

test('describeMesh shows the version and the components of a ready mesh, in order', () => {
  const annotations = { [LAST_APPLIED]: '{"config":{},"IstioTag":"1.31.0-distroless"}' };
  const description = described({
    istios: [istio('default', ready, { annotations })],
    workloads: [
      workload('Deployment', 'istio-ingressgateway', 'IngressGateways', 1),
      workload('DaemonSet', 'istio-cni-node', 'Cni', 1),
      workload('Deployment', 'istiod', 'Pilot', 1),
    ],
    pods: [pod],
  });
  expect(description.versions).toEqual({ running: '1.31.0', recorded: '1.31.0-distroless', offered: '1.31.0' });
  expect(description.resources).toMatchObject([
    {
      kind: 'Istio',
      name: 'kyma-system/default',
      state: 'Ready',
      detail: 'Istio 1.31.0',
      children: [
        { name: 'Pilot', state: 'ready', children: [{ kind: 'Deployment', name: 'istio-system/istiod' }] },
        { name: 'Cni', state: 'ready' },
        { name: 'IngressGateways', state: 'ready' },
      ],
    },
  ]);
});

test('describeMesh shows what a component waits for', () => {
  const { resources } = described({
    istios: [istio('default', ready)],
    workloads: [workload('Deployment', 'istiod', 'Pilot', 0)],
  });
  expect(resources[0]!.children).toMatchObject([
    { name: 'Pilot', state: 'not ready', children: [{ state: 'progressing', reasons: ['0 of 1 pods are available'] }] },
  ]);
});

test('describeMesh lists restarts and blocking resources, and counts those that are not listed', () => {
  const status: IstioStatus = {
    ...ready,
    state: 'Warning',
    description: 'blocked',
    blockedBy: { total: 1, resources: [{ kind: 'Gateway', namespace: 'shop', name: 'g' }] },
    restarts: {
      total: 25,
      restarting: 2,
      workloads: [{ kind: 'Deployment', namespace: 'shop', name: 'cart', why: 'old image', waiting: 'the next batch' }],
    },
  };
  const [tree] = described({ istios: [istio('default', status)] }).resources;
  expect(tree).toMatchObject({
    state: 'Warning',
    reasons: ['blocked'],
    children: [
      {
        kind: 'Restarts',
        name: '25 workloads',
        state: 'restarting',
        detail: '2 now, 22 more are not listed',
        children: [{ name: 'shop/cart', detail: 'old image', reasons: ['the next batch'] }],
      },
      { kind: 'Blocked by', name: '1 resource', children: [{ kind: 'gateways.networking.istio.io', name: 'shop/g' }] },
    ],
  });
});

test('describeMesh lists other resources after the active one, with why they have no effect', () => {
  const second = istio('second', undefined, { creationTimestamp: '2026-01-02T00:00:00Z' });
  const { resources } = described({ istios: [second, istio('first', ready)] });
  expect(resources).toMatchObject([
    { name: 'kyma-system/first', state: 'Ready' },
    {
      name: 'kyma-system/second',
      state: 'Pending',
      reasons: ['Stopped Istio CR reconciliation: only Istio CR first in kyma-system reconciles the module'],
    },
  ]);
});

test('describeMesh says if no controller has seen the resource or its latest change', () => {
  const [unseen] = described({ istios: [istio('default')] }).resources;
  expect(unseen).toMatchObject({
    state: 'Pending',
    reasons: [expect.stringContaining('"offshoot run --controllers mesh"')],
  });
  const [stale] = described({ istios: [istio('default', { ...ready, observedGeneration: 1 })] }).resources;
  expect(stale).toMatchObject({
    state: 'Processing',
    reasons: ['the controller has not seen the latest change yet'],
  });
});

test('describeMesh shows only the running version if there is no resource', () => {
  expect(described({ pods: [pod] })).toEqual({
    resources: [],
    versions: { running: '1.31.0', offered: '1.31.0' },
    events: [],
  });
  expect(versionLines(described({}).versions)).toEqual([
    'Istio does not run.',
    'This release of Offshoot installs Istio 1.31.0.',
  ]);
});

test('versionLines reports an Istio that somebody else installed, and why it must not be replaced', () => {
  const labels = { app: 'istiod' };
  const foreign: Pod = {
    ...pod,
    metadata: { ...pod.metadata, labels },
    spec: { containers: [{ name: 'discovery', image: 'istio/pilot:1.28.0' }] },
  };
  expect(versionLines(described({ pods: [foreign] }).versions)).toEqual([
    'Istio 1.28.0 runs.',
    'This release of Offshoot installs Istio 1.31.0.',
    'Istio version update is not allowed: target Istio version (1.31.0-distroless) is higher than current Istio version (1.28.0) - the difference between versions exceed one minor version.',
  ]);
});

test('describeMesh shows pods with their images on request', () => {
  const [tree] = describeMesh(
    { istios: [istio('default', ready)], workloads: [], pods: [pod], events: [] },
    { pods: true },
  ).resources;
  expect(tree!.children).toMatchObject([
    { kind: 'Pods', children: [{ name: 'istiod-1', detail: 'istio/pilot:1.31.0-distroless' }] },
  ]);
});

test('describeMesh shows a component that is scaled to zero as not ready', () => {
  const none: Workload = { ...workload('Deployment', 'istiod', 'Pilot', 0), spec: { replicas: 0 }, status: {} };
  const [{ children = [] } = { children: [] }] = described({
    istios: [istio('default', ready)],
    workloads: [none],
  }).resources;
  expect(children).toMatchObject([
    { name: 'Pilot', state: 'not ready', children: [{ state: 'not ready', reasons: ['it is scaled to 0 pods'] }] },
  ]);
});
