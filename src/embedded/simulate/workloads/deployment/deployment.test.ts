import { assert, integer, property, record } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { limitsOf } from './revision.ts';
import { growNew, isScaling, rescale, shrinkOld } from './scale.ts';
import { planDeployment } from './deployment.ts';
import type { DeploymentStatus, ReplicaSet } from '../../../kinds/types.ts';
import { deployment, now, replicaSet, worldOf } from '../../testing/world.ts';

function rolling(maxSurge: number | string, maxUnavailable: number | string) {
  return { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } } };
}

const revision = 'deployment.kubernetes.io/revision';
const sized = (desired: number, most: number): Record<string, string> => ({
  'deployment.kubernetes.io/desired-replicas': String(desired),
  'deployment.kubernetes.io/max-replicas': String(most),
});

describe('limitsOf', () => {
  test.each([
    [1, '25%', '25%', { surge: 1, unavailable: 0 }],
    [10, '25%', '25%', { surge: 3, unavailable: 2 }],
    [4, 0, 0, { surge: 0, unavailable: 1 }],
    [3, 1, 5, { surge: 1, unavailable: 3 }],
  ])('resolves, for %i replicas, maxSurge %s and maxUnavailable %s', (replicas, surge, unavailable, expected) => {
    expect(limitsOf(deployment({ replicas, ...rolling(surge, unavailable) }))).toEqual(expected);
  });
});

describe('a rolling update', () => {
  test('creates as many new pods as maxSurge allows', () => {
    const [current, old] = [replicaSet('new', 0), replicaSet('old', 4)];
    const sizes = growNew(deployment({ replicas: 4, ...rolling(2, 0) }), current, [old, current]);
    expect([...sizes.values()]).toEqual([2]);
  });

  test('deletes unhealthy old pods first, however few pods are available', () => {
    const [current, old] = [replicaSet('new', 2, { available: 0 }), replicaSet('old', 4, { available: 1 })];
    const sizes = shrinkOld(deployment({ replicas: 4, ...rolling(2, 3) }), current, [old]);
    expect(sizes.get(old)).toBe(1);
  });

  test('deletes no old pods while too few pods are available', () => {
    const [current, old] = [replicaSet('new', 1, { available: 0 }), replicaSet('old', 2)];
    expect(shrinkOld(deployment({ replicas: 2, ...rolling(1, 0) }), current, [old]).size).toBe(0);
  });

  test('completes, and stays within maxSurge and maxUnavailable at every step', () => {
    const settings = record({
      replicas: integer({ min: 1, max: 20 }),
      surge: integer({ min: 0, max: 20 }),
      unavailable: integer({ min: 0, max: 20 }),
    });
    assert(
      property(settings, ({ replicas, surge, unavailable }) => {
        const subject = deployment({ replicas, ...rolling(surge, unavailable) });
        const limits = limitsOf(subject);
        let [current, old] = [replicaSet('new', 0), replicaSet('old', replicas)];
        for (let step = 0; step < 100; step++) {
          const grown = growNew(subject, current, [old, current]);
          const sizes = grown.size > 0 ? grown : shrinkOld(subject, current, [old]);
          if (sizes.size === 0) break;
          // All pods of the new sizes are available at the next step.
          const resized = (set: ReplicaSet): ReplicaSet => {
            const size = sizes.get(set) ?? set.spec.replicas!;
            return {
              ...set,
              spec: { ...set.spec, replicas: size },
              status: { replicas: size, availableReplicas: size },
            };
          };
          [current, old] = [resized(current), resized(old)];
          const total = current.spec.replicas! + old.spec.replicas!;
          expect(total).toBeLessThanOrEqual(replicas + limits.surge);
          expect(total).toBeGreaterThanOrEqual(replicas - limits.unavailable);
        }
        expect([current.spec.replicas, old.spec.replicas]).toEqual([replicas, 0]);
      }),
      { numRuns: 200 },
    );
  });
});

describe('scaling during a rollout', () => {
  test('scales every replica set in proportion, and the largest takes what rounding leaves over', () => {
    const subject = deployment({ replicas: 15, ...rolling(3, 2) });
    const current = replicaSet('new', 5, { annotations: sized(10, 13) });
    const old = replicaSet('old', 8, { annotations: sized(10, 13) });
    expect(isScaling(subject, [old, current])).toBe(true);
    const sizes = rescale(subject, current, [old]);
    expect([sizes.get(old), sizes.get(current)]).toEqual([11, 7]);
  });

  test('scales the only active replica set to the full replica count', () => {
    const current = replicaSet('new', 2, { annotations: sized(2, 3) });
    expect(rescale(deployment({ replicas: 5 }), current, [replicaSet('old', 0)]).get(current)).toBe(5);
  });

  test('scales all replica sets to zero when the deployment is scaled to zero', () => {
    const [current, old] = [replicaSet('new', 2, { available: 0 }), replicaSet('old', 2)];
    expect([...rescale(deployment({ replicas: 0 }), current, [old]).values()]).toEqual([0, 0]);
  });
});

describe('planDeployment', () => {
  test('creates a replica set for a new deployment, with a revision and the reason NewReplicaSetCreated', async () => {
    const subject = { ...deployment(), metadata: { ...deployment().metadata, annotations: { note: 'kept' } } };
    const { writes } = planDeployment(await worldOf(subject), subject);
    const [created, status] = writes;
    expect(created).toMatchObject({ verb: 'create', object: { kind: 'ReplicaSet', spec: { replicas: 1 } } });
    expect(created?.object.metadata.annotations).toEqual({ note: 'kept', [revision]: '1', ...sized(1, 2) });
    expect(created?.object.metadata.name).toMatch(/^web-[bcdfghjklmnpqrstvwxz2456789]+$/);
    expect(status).toMatchObject({
      subresource: 'status',
      object: {
        metadata: { annotations: { [revision]: '1' } },
        status: { conditions: expect.arrayContaining([expect.objectContaining({ reason: 'NewReplicaSetCreated' })]) },
      },
    });
  });

  test('reuses the replica set of an earlier template, with a new revision', async () => {
    const subject = deployment();
    const back = replicaSet('old', 0, { annotations: { [revision]: '1' } });
    const later = replicaSet('later', 1, { image: 'app:2', annotations: { [revision]: '2' } });
    const { writes } = planDeployment(await worldOf(subject, back, later), subject);
    expect(writes).toHaveLength(1);
    expect(writes[0]?.object.metadata).toMatchObject({
      name: 'web-old',
      annotations: { [revision]: '3', 'deployment.kubernetes.io/revision-history': '1' },
    });
  });

  const progressing = (reason: string, time: string): DeploymentStatus => ({
    observedGeneration: 1,
    replicas: 1,
    updatedReplicas: 1,
    unavailableReplicas: 1,
    terminatingReplicas: 0,
    conditions: [
      {
        type: 'Available',
        status: 'False',
        reason: 'MinimumReplicasUnavailable',
        message: 'Deployment does not have minimum availability.',
        lastUpdateTime: time,
        lastTransitionTime: time,
      },
      { type: 'Progressing', status: 'True', reason, message: '', lastUpdateTime: time, lastTransitionTime: time },
    ],
  });
  const stuck = replicaSet('new', 1, { available: 0, annotations: { [revision]: '1', ...sized(1, 2) } });
  const annotated = { [revision]: '1' };

  test('reports ProgressDeadlineExceeded when a rollout makes no progress until its deadline', async () => {
    const status = progressing('ReplicaSetUpdated', '2026-01-01T00:00:00Z');
    const subject = deployment({ progressDeadlineSeconds: 60 }, status);
    const { writes, requeueAfterMs } = planDeployment(await worldOf(subject, stuck), {
      ...subject,
      metadata: { ...subject.metadata, annotations: annotated },
    });
    expect(requeueAfterMs).toBeUndefined();
    expect(writes).toMatchObject([
      {
        object: {
          status: {
            conditions: expect.arrayContaining([
              expect.objectContaining({
                type: 'Progressing',
                status: 'False',
                reason: 'ProgressDeadlineExceeded',
                message: 'ReplicaSet "web-new" has timed out progressing.',
              }),
            ]),
          },
        },
      },
    ]);
  });

  test('requeues a rollout without progress for its deadline', async () => {
    const status = progressing('ReplicaSetUpdated', new Date(now - 20_000).toISOString());
    const subject = { ...deployment({ progressDeadlineSeconds: 60 }, status) };
    const { writes, requeueAfterMs } = planDeployment(await worldOf(subject, stuck), {
      ...subject,
      metadata: { ...subject.metadata, annotations: annotated },
    });
    expect(writes).toEqual([]);
    expect(requeueAfterMs).toBe(41_000);
  });

  test('reports a paused deployment and does not roll it out', async () => {
    const subject = deployment({ paused: true });
    const { writes } = planDeployment(await worldOf(subject, replicaSet('old', 1, { image: 'app:0' })), subject);
    expect(writes).toMatchObject([
      {
        object: {
          status: {
            conditions: expect.arrayContaining([
              expect.objectContaining({
                type: 'Progressing',
                status: 'Unknown',
                reason: 'DeploymentPaused',
                message: 'Deployment is paused',
              }),
            ]),
          },
        },
      },
    ]);
  });

  test('adopts a matching replica set without an owner', async () => {
    const { ownerReferences: _owners, ...metadata } = replicaSet('free', 1).metadata;
    const subject = deployment();
    const { writes } = planDeployment(await worldOf(subject, { ...replicaSet('free', 1), metadata }), subject);
    expect(writes).toMatchObject([
      { verb: 'update', object: { metadata: { ownerReferences: [{ uid: 'deployment', controller: true }] } } },
    ]);
  });
});
