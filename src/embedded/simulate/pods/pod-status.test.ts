import { describe, expect, test } from 'vitest';
import { reportOn } from './pod-status.ts';
import type { Pod } from './pod-status.ts';

const node = { hostIP: '192.0.2.1', allocateIP: () => '10.244.0.1' };
const start = Date.parse('2026-01-01T00:00:00Z');

function pod(simulate?: string, owner = 'ReplicaSet'): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'one',
      namespace: 'default',
      ...(simulate === undefined ? {} : { annotations: { 'offshoot.dev/simulate': simulate } }),
      ownerReferences: [{ apiVersion: 'apps/v1', kind: owner, name: 'owner', uid: '1' }],
    },
    spec: { containers: [{ name: 'main', image: 'app:1' }] },
    status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'True' }] },
  };
}

/** Applies reports until the status no longer changes. */
function settle(subject: Pod, ageMs = 0): { pod: Pod; requeueAfterMs?: number } {
  const seen = { ...node, now: start + ageMs, ageMs };
  for (let round = 0; round < 5; round++) {
    const { status, requeueAfterMs } = reportOn(subject, seen);
    if (status === undefined) return { pod: subject, ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }) };
    subject = { ...subject, status: { ...subject.status, ...status } };
  }
  throw new Error('the status never settles');
}

function condition(subject: Pod, type: string): string | undefined {
  return subject.status?.conditions?.find((one) => one.type === type)?.status;
}

describe('reportOn', () => {
  test('reports a pod that crashes after some time as ready between its crashes', () => {
    const looping = pod('crash=10s');
    const states = [0, 9_000, 10_000, 20_000, 29_000, 30_000].map((ageMs) => {
      const settled = settle(looping, ageMs);
      const { ready, restartCount, state, lastState } = settled.pod.status!.containerStatuses![0]!;
      return [
        ready,
        restartCount,
        state?.running?.startedAt,
        lastState?.terminated?.finishedAt,
        settled.requeueAfterMs,
      ];
    });
    expect(states).toEqual([
      [true, 0, '2026-01-01T00:00:00Z', undefined, 10_000],
      [true, 0, '2026-01-01T00:00:00Z', undefined, 1_000],
      [false, 0, undefined, '2026-01-01T00:00:10Z', 10_000],
      [true, 1, '2026-01-01T00:00:20Z', '2026-01-01T00:00:10Z', 10_000],
      [true, 1, '2026-01-01T00:00:20Z', '2026-01-01T00:00:10Z', 1_000],
      [false, 1, undefined, '2026-01-01T00:00:30Z', 10_000],
    ]);
  });

  test('lets a pod without an owner and with restartPolicy Never succeed or fail, unless it simulates "run"', () => {
    const alone = (simulate?: string, restartPolicy = 'Never'): string | undefined => {
      const { metadata, ...rest } = pod(simulate);
      const { ownerReferences: _owners, ...free } = metadata;
      return settle({ ...rest, metadata: free, spec: { ...rest.spec, restartPolicy } }).pod.status?.phase;
    };
    expect(alone()).toBe('Succeeded');
    expect(alone('fail')).toBe('Failed');
    expect(alone('run')).toBe('Running');
    expect(alone(undefined, 'Always')).toBe('Running');
  });

  test('reports a pod as running and ready, with an IP, and keeps the conditions of others', () => {
    const { pod: running } = settle(pod());
    expect(running.status).toMatchObject({ phase: 'Running', podIP: '10.244.0.1', podIPs: [{ ip: '10.244.0.1' }] });
    expect(running.status?.containerStatuses).toMatchObject([{ name: 'main', ready: true, state: { running: {} } }]);
    expect(condition(running, 'Ready')).toBe('True');
    expect(condition(running, 'PodScheduled')).toBe('True');
  });

  test.each([undefined, 'crash=10s'])(
    'completes a partial status that something else wrote (simulate: %s)',
    (simulate) => {
      const subject = pod(simulate);
      const partial = { ...subject.status, containerStatuses: [{ name: 'main' }] } as unknown as NonNullable<
        Pod['status']
      >;
      const { pod: settled } = settle({ ...subject, status: partial }, 1000);
      expect(settled.status?.containerStatuses?.[0]).toMatchObject({ image: 'app:1', state: { running: {} } });
    },
  );

  test('reports a pod of a Job as running first, then as succeeded', () => {
    const first = reportOn(pod(undefined, 'Job'), { ...node, now: start, ageMs: 0 });
    expect(first.status?.phase).toBe('Running');
    const { pod: done } = settle(pod(undefined, 'Job'));
    expect(done.status?.phase).toBe('Succeeded');
    expect(done.status?.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(0);
  });

  test.each([
    ['pending', 'Pending', 'ContainerCreating', 'False'],
    ['no-image', 'Pending', 'ImagePullBackOff', 'False'],
    ['crash', 'Running', 'CrashLoopBackOff', 'False'],
    ['never-ready', 'Running', undefined, 'False'],
    ['fail', 'Failed', undefined, 'False'],
  ])('simulates %s', (simulate, phase, waiting, ready) => {
    const { pod: after, requeueAfterMs } = settle(pod(simulate));
    expect(after.status?.phase).toBe(phase);
    expect(after.status?.containerStatuses?.[0]?.state?.waiting?.reason).toBe(waiting);
    expect(condition(after, 'Ready')).toBe(ready);
    expect(requeueAfterMs).toBeUndefined();
  });

  test('starts a pod with slow=3s three seconds after it was first seen', () => {
    const { pod: waiting, requeueAfterMs } = settle(pod('slow=3s'));
    expect(waiting.status?.phase).toBe('Pending');
    expect(requeueAfterMs).toBe(3_000);
    expect(settle(waiting, 2_900).requeueAfterMs).toBe(100);
    expect(settle(waiting, 3_000).pod.status?.phase).toBe('Running');
  });

  test('reports an unknown simulation in the status of the pod', () => {
    const { pod: after } = settle(pod('sleepy'));
    expect(after.status?.phase).toBe('Pending');
    expect(after.status?.containerStatuses?.[0]?.state?.waiting).toMatchObject({
      reason: 'InvalidSimulation',
      message: expect.stringContaining("'sleepy' is not one of pending"),
    });
  });

  test('sets Ready only when the conditions of all readiness gates are true', () => {
    const gated: Pod = { ...pod(), spec: { ...pod().spec, readinessGates: [{ conditionType: 'example.com/open' }] } };
    const { pod: closed } = settle(gated);
    expect([condition(closed, 'Ready'), condition(closed, 'ContainersReady')]).toEqual(['False', 'True']);
    const conditions = [...closed.status!.conditions!, { type: 'example.com/open', status: 'True' as const }];
    expect(condition(settle({ ...closed, status: { ...closed.status, conditions } }).pod, 'Ready')).toBe('True');
  });

  test('terminates init containers and keeps sidecars running', () => {
    const initContainers = [{ name: 'setup' }, { name: 'proxy', restartPolicy: 'Always' }];
    const { pod: after } = settle({ ...pod(), spec: { ...pod().spec, initContainers } });
    expect(after.status?.initContainerStatuses).toMatchObject([
      { name: 'setup', ready: true, state: { terminated: { exitCode: 0 } } },
      { name: 'proxy', ready: true, state: { running: {} } },
    ]);
    expect(reportOn(after, { ...node, now: start + 5_000, ageMs: 5_000 }), 'the status does not change later').toEqual(
      {},
    );
  });
});
