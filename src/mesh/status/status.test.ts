import { describe, expect, test } from 'vitest';
import type { Istio } from '../../api/istio.ts';
import { failure } from './failures.ts';
import type { PendingWorkload, RestartPlan } from '../restarts/plan.ts';
import { meshStatus } from './status.ts';
import type { StatusFacts } from './status.ts';

const istio = (metadata: Partial<Istio['metadata']> = {}, status?: Istio['status']): Istio => ({
  apiVersion: 'operator.kyma-project.io/v1alpha2',
  kind: 'Istio',
  metadata: { name: 'default', generation: 3, ...metadata },
  ...(status && { status }),
});
const NO_RESTARTS: RestartPlan = {
  restart: [],
  replace: [],
  restarting: [],
  waiting: [],
  unchanged: [],
  progress: { total: 0, done: 0 },
};
const statusOf = (facts: Partial<StatusFacts> = {}) => meshStatus({ istio: istio(), failures: [], ...facts });
const conditions = (facts: Partial<StatusFacts>): string[] =>
  statusOf(facts).conditions!.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
const pending = (name: string): PendingWorkload => ({
  workload: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name },
  why: 'old image',
  waiting: 'the next batch',
  on: 'rollouts',
});

describe('the state of a resource', () => {
  test('is Ready, without a description, when everything is done', () => {
    expect(statusOf({ restarts: NO_RESTARTS, istioVersion: '1.31.0', size: 'Production' })).toMatchObject({
      state: 'Ready',
      description: '',
      observedGeneration: 3,
      istioVersion: '1.31.0',
      clusterSize: 'Production',
    });
    expect(conditions({ restarts: NO_RESTARTS })).toEqual([
      'Ready=True ReconcileSucceeded',
      'ProxySidecarRestartSucceeded=True ProxySidecarRestartSucceeded',
      'Reconciling=False Settled',
    ]);
  });

  test('is Processing while the installation waits, and says for what', () => {
    expect(statusOf({ waiting: 'Deployment istiod: 0 of 2 pods are new' })).toMatchObject({
      state: 'Processing',
      description: 'Reconciling Istio: Deployment istiod: 0 of 2 pods are new',
    });
    expect(statusOf({ waiting: '' }).description).toBe('Reconciling Istio');
    expect(conditions({ waiting: '' })).toContain('Ready=Unknown ReconcileUnknown');
  });

  test('is Deleting while it is being deleted', () => {
    const deleting = istio({ deletionTimestamp: '2026-01-01T00:00:00Z' });
    expect(statusOf({ istio: deleting })).toMatchObject({ state: 'Deleting', description: 'Deleting Istio' });
  });

  test('is Warning while resources of users block a deletion, and lists them', () => {
    const blocking = [{ apiVersion: 'v1', kind: 'Gateway', metadata: { name: 'g', namespace: 'shop' } }];
    const deleting = istio({ deletionTimestamp: '2026-01-01T00:00:00Z' });
    expect(statusOf({ istio: deleting, blocking, failures: [failure('blocked', 'x')] })).toMatchObject({
      state: 'Warning',
      blockedBy: { total: 1, resources: [{ kind: 'Gateway', namespace: 'shop', name: 'g' }] },
    });
  });

  test('is that of the worst failure, with its description; the others keep their conditions', () => {
    const failures = [failure('userFilter', 'a filter'), failure('gateway', 'error happened')];
    expect(statusOf({ failures })).toMatchObject({
      state: 'Error',
      description: 'Failed to restart Ingress Gateway: error happened',
    });
    expect(conditions({ failures })).toEqual([
      'Ready=False IngressGatewayRestartFailed',
      'IngressTargetingUserResourceFound=True IngressTargetingUserResourceFound',
      'Reconciling=False Stalled',
      'Stalled=True IngressGatewayRestartFailed',
    ]);
  });

  test('is stalled with a reason after a failure, but not if the failure is harmless', () => {
    const refused = failure('versionUpdate', 'too far');
    expect(statusOf({ failures: [failure('userFilter', 'a filter'), refused] }).conditions).toContainEqual({
      type: 'Stalled',
      status: 'True',
      reason: 'IstioVersionUpdateNotAllowed',
      message: 'Istio version update is not allowed: too far',
    });
    const harmless = { failures: [failure('userFilter', 'a filter')], restarts: NO_RESTARTS };
    expect(conditions(harmless)).toContain('Reconciling=False Settled');
    expect(conditions(harmless).join()).not.toContain('Stalled');
    const stalled = meshStatus({ istio: istio(), failures: [refused] }) as NonNullable<Istio['status']>;
    expect(conditions({ istio: istio({}, stalled), restarts: NO_RESTARTS }).join()).not.toContain('Stalled');
  });

  test('lists pods that should have a sidecar but have none', () => {
    const pods = Array.from({ length: 21 }, (_none, i) => ({ namespace: 'shop', name: `p-${i + 10}`, why: 'none' }));
    const { uninjected } = statusOf({ restarts: NO_RESTARTS, uninjected: pods.toReversed() });
    expect([uninjected?.total, uninjected?.pods.length, uninjected?.pods[0]]).toEqual([
      21,
      20,
      { namespace: 'shop', name: 'p-10' },
    ]);
    expect(statusOf()).not.toHaveProperty('uninjected');
  });
});

describe('restarts', () => {
  test('keep the resource in Processing while they are in progress, and show the progress', () => {
    const restarts = {
      ...NO_RESTARTS,
      restarting: [pending('a')],
      waiting: [pending('b')],
      progress: { total: 5, done: 3 },
    };
    expect(statusOf({ restarts })).toMatchObject({
      state: 'Processing',
      description: 'Restarting workloads: 3 of 5 are done',
      restarts: {
        total: 2,
        restarting: 1,
        workloads: [{ kind: 'Deployment', namespace: 'shop', name: 'b', why: 'old image', waiting: 'the next batch' }],
      },
    });
    expect(conditions({ restarts })).toContain(
      'ProxySidecarRestartSucceeded=False ProxySidecarRestartPartiallySucceeded',
    );
  });

  test('that wait for a window do not prevent the mesh from being Ready', () => {
    const restarts = { ...NO_RESTARTS, waiting: [pending('a')], progress: { total: 1, done: 0 } };
    expect(statusOf({ restarts })).toMatchObject({ state: 'Ready', restarts: { total: 1, restarting: 0 } });
  });

  test('that only a person can do are a Warning with the names of the pods', () => {
    const manual = [{ namespace: 'shop', name: 'job-1', why: 'old image', problem: 'p' }];
    const status = statusOf({ restarts: NO_RESTARTS, manual });
    expect(status).toMatchObject({
      state: 'Warning',
      description:
        'Not all pods with Istio injection could be restarted. Please take a look at kyma-system/istio-controller-manager logs to see more information about the warning: Istio controller could not restart one or more istio-injected pods.',
    });
    expect(status.conditions).toContainEqual({
      type: 'ProxySidecarRestartSucceeded',
      status: 'False',
      reason: 'ProxySidecarManualRestartRequired',
      message: 'The sidecars of the following workloads could not be restarted: shop/job-1',
    });
  });

  test('of more than twenty workloads are counted, and the first twenty are listed', () => {
    const waiting = Array.from({ length: 30 }, (_none, index) => pending(`w-${99 - index}`));
    const { restarts } = statusOf({ restarts: { ...NO_RESTARTS, waiting, progress: { total: 30, done: 0 } } });
    expect([restarts!.total, restarts!.workloads.length, restarts!.workloads[0]!.name]).toEqual([30, 20, 'w-70']);
  });
});

test('meshStatus keeps conditions of other types', () => {
  const other = {
    type: 'Audited',
    status: 'True',
    reason: 'Fine',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  } as const;
  const before = istio({}, { state: 'Ready', conditions: [other] });
  expect(statusOf({ istio: before }).conditions).toContainEqual(other);
});
