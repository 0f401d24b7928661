import { describe, expect, test } from 'vitest';
import type { KubeObject, OwnerReference } from '../../kube/index.ts';
import type { Pod } from '../workloads/workloads.ts';
import { always } from './predicate.ts';
import { outdatedWorkloads } from './outdated.ts';
import { ownerOf } from './owners.ts';

const owner = (kind: string, name: string, rest: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: kind === 'Rollout' ? 'argoproj.io/v1alpha1' : 'apps/v1',
  kind,
  name,
  uid: 'u',
  ...rest,
});
const object = (kind: string, name: string, ownerReferences: OwnerReference[] = []): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace: 'shop', ownerReferences, creationTimestamp: '2026-01-01T00:00:00Z' },
});
const pod = (...owners: OwnerReference[]): Pod => object('Pod', 'p', owners);
const found = (set?: KubeObject) => () => set;

describe('ownerOf', () => {
  test.each(['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicationController', 'Rollout'])('finds the %s', (kind) => {
    expect(ownerOf(pod(owner(kind, 'a')), found())).toMatchObject({ workload: { kind, namespace: 'shop', name: 'a' } });
  });

  test.each(['Deployment', 'Rollout'])('finds the %s of the ReplicaSet', (kind) => {
    const set = object('ReplicaSet', 'a-1', [owner(kind, 'a')]);
    expect(ownerOf(pod(owner('ReplicaSet', 'a-1')), found(set))).toMatchObject({ workload: { kind, name: 'a' } });
  });

  test('finds a ReplicaSet without an owner', () => {
    const set = object('ReplicaSet', 'a');
    expect(ownerOf(pod(owner('ReplicaSet', 'a')), found(set))).toMatchObject({ workload: { kind: 'ReplicaSet' } });
  });

  test('prefers the owner that is the controller, else the first', () => {
    const [a, b] = [owner('Deployment', 'a'), owner('Deployment', 'b', { controller: true })];
    expect(ownerOf(pod(a, b), found())).toMatchObject({ workload: { name: 'b' } });
    expect(ownerOf(pod(a, owner('Job', 'c')), found())).toMatchObject({ workload: { name: 'a' } });
  });
});

describe('ownerOf requires a manual restart for a pod', () => {
  test.each([
    ['without an owner', pod(), 'OwnerReferences was not found'],
    ['of a Job', pod(owner('Job', 'j')), 'owned by a Job'],
    ['with a deleted ReplicaSet', pod(owner('ReplicaSet', 'gone')), 'OwnerReferences was not found'],
    ['of a Node', pod(owner('Node', 'n')), 'it is owned by Node n: kind Node is not supported for rollout'],
    [
      'of a kind with the same name as that of Argo',
      pod(owner('Rollout', 'r', { apiVersion: 'x/v1' })),
      'kind Rollout is not',
    ],
  ])('%s', (_what, each, text) => {
    expect(ownerOf(each, found())).toEqual({ manual: expect.stringContaining(text) as string });
  });

  test('with a ReplicaSet of another kind of owner', () => {
    const set = object('ReplicaSet', 'a', [owner('CloneSet', 'c')]);
    expect(ownerOf(pod(owner('ReplicaSet', 'a')), found(set))).toEqual({
      manual: 'it is owned by CloneSet c: kind CloneSet is not supported for rollout',
    });
  });
});

test('outdatedWorkloads groups pods by workload, without mixing up similar names', () => {
  const named = (namespace: string, name: string): Pod => ({
    ...pod(owner('StatefulSet', name)),
    metadata: { ...pod(owner('StatefulSet', name)).metadata, namespace },
  });
  const { workloads, manual } = outdatedWorkloads(
    [named('a', 'bc'), named('a', 'bc'), named('ab', 'c'), pod()],
    always('old'),
    () => undefined,
  );
  expect([...workloads].map(([key, { pods, why }]) => `${key}: ${pods} ${why}`)).toEqual([
    'StatefulSet a/bc: 2 old',
    'StatefulSet ab/c: 1 old',
  ]);
  expect(manual).toMatchObject([{ namespace: 'shop', name: 'p', why: 'old' }]);
});

test('outdatedWorkloads ignores pods that are up to date', () => {
  expect(outdatedWorkloads([pod(owner('Deployment', 'a'))], always(undefined), () => undefined).workloads.size).toBe(0);
});
