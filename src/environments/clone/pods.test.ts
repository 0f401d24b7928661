import { describe, expect, test } from 'vitest';
import type { ContainerStatus, Pod } from '../objects.ts';
import { deploymentOf, loopOf, podProblem } from './pods.ts';

type Options = Partial<Pod['metadata']> & { readonly hash?: string; readonly at?: string };

/** A pod of a clone, with this hash of its template. */
function pod(status: Pod['status'], { hash = 'a1', at = '00', ...metadata }: Options = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `cart-shop-feature-${hash}-x`,
      namespace: 'shop',
      creationTimestamp: `2026-01-01T00:00:${at}Z`,
      labels: { 'pod-template-hash': hash },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `cart-shop-feature-${hash}`, uid: '1', controller: true },
      ],
      ...metadata,
    },
    status,
  };
}

function container(state: ContainerStatus['state'], rest: Partial<ContainerStatus> = {}): Pod['status'] {
  return { containerStatuses: [{ name: 'cart', ready: false, image: 'cart:2', ...(state && { state }), ...rest }] };
}

const crashed = { terminated: { exitCode: 137, reason: 'OOMKilled' } };

const completed = { terminated: { exitCode: 0, reason: 'Completed' } };

/** A container that is not ready, and ended with exit code 0 before. */
const restarted = (restartCount: number): Pod['status'] =>
  container({ running: {} }, { restartCount, lastState: completed });

describe('podProblem', () => {
  test.each<[string, Pod['status'], string | undefined]>([
    ['a ready container', container({}, { ready: true }), undefined],
    ['a container that is being created', container({ waiting: { reason: 'ContainerCreating' } }), undefined],
    ['a probe that has not succeeded yet', container({}), undefined],
    ['a container that was restarted once and runs', container({}, { ready: true, lastState: crashed }), undefined],
    [
      'an init container that has succeeded',
      { initContainerStatuses: [{ name: 'init', ready: true, state: { terminated: { exitCode: 0 } } }] },
      undefined,
    ],
    [
      'an init container that fails',
      { initContainerStatuses: [{ name: 'init', state: { terminated: { exitCode: 2, reason: 'Error' } } }] },
      'CrashLoopBackOff: container init: ended with exit code 2 (Error)',
    ],
    [
      'a missing config map',
      container({ waiting: { reason: 'CreateContainerConfigError', message: 'configmap "flags" not found' } }),
      'CreateContainerConfigError: container cart: configmap "flags" not found',
    ],
    [
      'an error with another container id at each try',
      container({ waiting: { reason: 'RunContainerError', message: 'task 0123456789abcdef: no such file' } }),
      'RunContainerError: container cart: task …: no such file',
    ],
    [
      'no node',
      {
        conditions: [
          {
            type: 'PodScheduled',
            status: 'False',
            reason: 'Unschedulable',
            message:
              '0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.',
          },
        ],
      },
      'Unschedulable: 0/3 nodes are available: 3 Insufficient cpu',
    ],
    [
      'a node without room for it',
      {
        phase: 'Failed',
        reason: 'OutOfcpu',
        message: "Pod was rejected: Node didn't have enough resource: cpu, requested: 500, used: 1800, capacity: 2000",
      },
      "OutOfcpu: Pod was rejected: Node didn't have enough resource: cpu",
    ],
    [
      'an eviction',
      {
        phase: 'Failed',
        reason: 'Evicted',
        message: 'The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. ',
        ...container(crashed),
      },
      'Evicted: The node was low on resource: memory',
    ],
    // Else a restart would be reported, taken back, and reported again.
    ['a container that has just ended without an error', container(completed), undefined],
    ['a container that ended without an error and runs again', restarted(1), undefined],
    [
      'a container that ended without an error twice and waits',
      container({ waiting: { reason: 'CrashLoopBackOff' } }, { restartCount: 1, lastState: completed }),
      'CrashLoopBackOff: container cart: ended with exit code 0 (Completed)',
    ],
    [
      'a container that ends without an error again and again',
      restarted(2),
      'CrashLoopBackOff: container cart: ended with exit code 0 (Completed)',
    ],
  ])('says why a pod does not run: %s', (_case, status, message) => {
    expect(podProblem([pod(status)])?.message).toBe(message);
  });

  test('has the same message at every try to pull an image', () => {
    const why = 'failed to resolve reference "cart:2": not found';
    const tries = [
      { reason: 'ErrImagePull', message: why },
      { reason: 'ImagePullBackOff', message: `Back-off pulling image "cart:2": ErrImagePull: ${why}` },
    ];
    const problem = {
      reason: 'ImagePullBackOff',
      message: `ImagePullBackOff: container cart: image cart:2 can't be pulled: ${why}`,
    };
    for (const waiting of tries) expect(podProblem([pod(container({ waiting }))])).toEqual(problem);
  });

  test('has the same message whether a crashed container waits, has ended or runs again', () => {
    const states = [crashed, { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s restarting' } }, {}];
    for (const state of states) {
      expect(podProblem([pod(container(state, { restartCount: 3, lastState: crashed }))])).toEqual({
        reason: 'CrashLoopBackOff',
        message: 'CrashLoopBackOff: container cart: ended with exit code 137 (OOMKilled)',
      });
    }
  });

  test('ignores pods of an older version and pods that are being deleted', () => {
    const crashing = container(crashed);
    expect(podProblem([pod(crashing), pod(container({}), { hash: 'b2', at: '30' })])).toBeUndefined();
    expect(podProblem([pod(crashing, { deletionTimestamp: '2026-01-01T00:01:00Z' })])).toBeUndefined();
  });

  test('uses a pod that has ended only if no other pod has a problem', () => {
    const evicted = pod({ phase: 'Failed', ...container(crashed) });
    expect(podProblem([evicted])?.reason).toBe('CrashLoopBackOff');
    const waiting = { reason: 'ErrImagePull', message: 'no such host' };
    expect(podProblem([evicted, pod(container({ waiting }))])?.reason).toBe('ImagePullBackOff');
  });
});

describe('loopOf', () => {
  const since = (seconds: number): string => new Date(Date.UTC(2026, 0, 1) + seconds * 1_000).toISOString();
  /** A container that was up for this long before it failed, and was restarted at 1,000. */
  const failed = (lastedSeconds: number, exitCode = 1): Pod =>
    pod(
      container(
        { running: { startedAt: since(1_000) } },
        {
          ready: true,
          restartCount: 2,
          lastState: {
            terminated: { exitCode, reason: 'Error', startedAt: since(0), finishedAt: since(lastedSeconds) },
          },
        },
      ),
    );
  const fine = pod(container({ running: { startedAt: since(0) } }, { ready: true }));
  const seconds = (pods: readonly Pod[], needed = 1): number | undefined => {
    const loop = loopOf(pods, needed);
    return loop && (loop.until - Date.UTC(2026, 0, 1)) / 1_000;
  };

  test.each([
    ['failed at once: for ten seconds', [failed(0)], 1_010],
    ['failed after a minute: for two minutes', [failed(60)], 1_120],
    ['failed after five minutes: none', [failed(300)], undefined],
    ['ended without an error: none', [failed(1, 0)], undefined],
    ['never failed: none', [fine], undefined],
    ['failed at once, beside one that never failed: none', [failed(0), fine], undefined],
  ])('finds the crash loop of a container that %s', (_case, pods, until) => {
    expect(seconds(pods)).toBe(until);
  });

  test('finds a crash loop if fewer pods than needed stayed up', () => {
    expect(seconds([failed(0), fine], 2)).toBe(1_010);
    expect(loopOf([failed(0), fine], 2)).toMatchObject({ isEverywhere: false });
    expect(loopOf([failed(0), failed(60)], 2)).toMatchObject({
      isEverywhere: true,
      problem: { message: 'CrashLoopBackOff: container cart: ended with exit code 1 (Error)' },
    });
  });
});

test('deploymentOf returns the Deployment of a pod', () => {
  expect(deploymentOf(pod({}))).toEqual(['shop/cart-shop-feature']);
  expect(deploymentOf(pod({}, { ownerReferences: [] }))).toEqual([]);
});
