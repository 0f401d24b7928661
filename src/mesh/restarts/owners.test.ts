import { describe, expect, test } from 'vitest';
import type { KubeObject, OwnerReference } from '../../kube/index.ts';
import type { Pod } from '../workloads.ts';
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

describe('a pod is replaced by', () => {
  test.each(['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicationController', 'Rollout'])('its %s', (kind) => {
    expect(ownerOf(pod(owner(kind, 'a')), found())).toMatchObject({ workload: { kind, namespace: 'shop', name: 'a' } });
  });

  test.each(['Deployment', 'Rollout'])('the %s of its ReplicaSet', (kind) => {
    const set = object('ReplicaSet', 'a-1', [owner(kind, 'a')]);
    expect(ownerOf(pod(owner('ReplicaSet', 'a-1')), found(set))).toMatchObject({ workload: { kind, name: 'a' } });
  });

  test('a ReplicaSet that nobody owns', () => {
    const set = object('ReplicaSet', 'a');
    expect(ownerOf(pod(owner('ReplicaSet', 'a')), found(set))).toMatchObject({ workload: { kind: 'ReplicaSet' } });
  });

  test('the owner that is its controller, else the first', () => {
    const [a, b] = [owner('Deployment', 'a'), owner('Deployment', 'b', { controller: true })];
    expect(ownerOf(pod(a, b), found())).toMatchObject({ workload: { name: 'b' } });
    expect(ownerOf(pod(a, owner('Job', 'c')), found())).toMatchObject({ workload: { name: 'a' } });
  });
});

describe('only a person can replace a pod', () => {
  test.each([
    ['without an owner', pod(), 'OwnerReferences was not found'],
    ['of a Job', pod(owner('Job', 'j')), 'owned by a Job'],
    ['whose ReplicaSet is gone', pod(owner('ReplicaSet', 'gone')), 'OwnerReferences was not found'],
    ['of a Node', pod(owner('Node', 'n')), 'it is owned by Node n: kind Node is not supported for rollout'],
    [
      "of a kind that is only named like Argo's",
      pod(owner('Rollout', 'r', { apiVersion: 'x/v1' })),
      'kind Rollout is not',
    ],
  ])('%s', (_what, each, text) => {
    expect(ownerOf(each, found())).toEqual({ manual: expect.stringContaining(text) as string });
  });

  test('whose ReplicaSet belongs to something else', () => {
    const set = object('ReplicaSet', 'a', [owner('CloneSet', 'c')]);
    expect(ownerOf(pod(owner('ReplicaSet', 'a')), found(set))).toEqual({
      manual: 'it is owned by CloneSet c: kind CloneSet is not supported for rollout',
    });
  });
});

test('two pods of one workload make one restart, and names never run into each other', () => {
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

test('pods that are up to date make none', () => {
  expect(outdatedWorkloads([pod(owner('Deployment', 'a'))], always(undefined), () => undefined).workloads.size).toBe(0);
});
