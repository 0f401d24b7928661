import { expect, test } from 'vitest';
import { rolloutOf } from './rollout.ts';
import type { Workload } from './workloads.ts';

const workload = (kind: string, status: Workload['status'], spec: Workload['spec'] = { replicas: 2 }): Workload => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name: 'a', generation: 2 },
  spec,
  status: { observedGeneration: 2, ...status },
});

const pods = (count: number) => ({
  replicas: count,
  updatedReplicas: count,
  readyReplicas: count,
  availableReplicas: count,
});
const daemons = (wanted: number, updated: number, available: number) => ({
  desiredNumberScheduled: wanted,
  updatedNumberScheduled: updated,
  numberAvailable: available,
});
const onDelete = { replicas: 2, updateStrategy: { type: 'OnDelete' } };

const progress = (reason: string): { type: string; status: string; reason: string } => ({
  type: 'Progressing',
  status: 'True',
  reason,
});

test.each<[string, Workload]>([
  ['a Deployment whose pods are all new and available', workload('Deployment', pods(2))],
  ['a Deployment of no pods', workload('Deployment', {}, { replicas: 0 })],
  [
    'a StatefulSet up to its partition',
    workload(
      'StatefulSet',
      { readyReplicas: 2, updatedReplicas: 1 },
      { replicas: 2, updateStrategy: { rollingUpdate: { partition: 1 } } },
    ),
  ],
  ['a StatefulSet whose pods are deleted by hand', workload('StatefulSet', { readyReplicas: 2 }, onDelete)],
  ['a DaemonSet whose pods are all new and available', workload('DaemonSet', daemons(3, 3, 3))],
  ['a ReplicaSet whose pods are ready', workload('ReplicaSet', { readyReplicas: 2 })],
  ['an Argo Rollout that is healthy', workload('Rollout', { ...pods(2), observedGeneration: '2', phase: 'Healthy' })],
])('rolloutOf is done for %s', (_what, each) => {
  expect(rolloutOf(each)).toEqual({ state: 'done' });
});

test.each<[string, Workload, string]>([
  [
    'a change is not observed',
    workload('Deployment', { ...pods(2), observedGeneration: 1 }),
    'its controller has not observed the change yet',
  ],
  ['pods are old', workload('Deployment', { ...pods(2), updatedReplicas: 1 }), '1 of 2 pods are new'],
  ['old pods remain', workload('Deployment', { ...pods(2), replicas: 3 }), '1 old pods are still there'],
  [
    'new pods are not available yet',
    workload('Deployment', { ...pods(2), availableReplicas: 0, conditions: [progress('ReplicaSetUpdated')] }),
    '0 of 2 pods are available',
  ],
  [
    'Argo has not replaced all pods',
    {
      ...workload('Rollout', { ...pods(2), observedGeneration: '2' }),
      spec: { replicas: 2, restartAt: '2026-01-01T00:00:00Z' },
    },
    'pods from before 2026-01-01T00:00:00Z are still there',
  ],
  ['pods of a StatefulSet are old', workload('StatefulSet', { readyReplicas: 2 }), '0 of 2 pods are new'],
])('rolloutOf is progressing while %s', (_what, each, why) => {
  expect(rolloutOf(each)).toEqual({ state: 'progressing', why });
});

test.each<[string, Workload, string]>([
  [
    'a Deployment',
    workload('Deployment', { ...pods(2), availableReplicas: 0, conditions: [progress('NewReplicaSetAvailable')] }),
    '0 of 2 pods are available',
  ],
  ['a StatefulSet', workload('StatefulSet', { readyReplicas: 1, updatedReplicas: 2 }), '1 of 2 pods are ready'],
  ['a DaemonSet', workload('DaemonSet', daemons(3, 3, 1)), '1 of 3 pods are available'],
  ['a ReplicaSet', workload('ReplicaSet', { readyReplicas: 1 }), '1 of 2 pods are ready'],
])('rolloutOf is degraded for %s that was healthy before', (_what, each, why) => {
  expect(rolloutOf(each)).toEqual({ state: 'progressing', why, degraded: true });
});

test.each<[string, Workload, string]>([
  [
    'a Deployment that has timed out',
    workload('Deployment', {
      ...pods(1),
      conditions: [{ type: 'Progressing', status: 'False', message: 'timed out' }],
    }),
    'timed out',
  ],
  ['a Rollout that is degraded', workload('Rollout', { ...pods(2), phase: 'Degraded' }), 'it is degraded'],
  [
    'a Rollout that is paused',
    workload('Rollout', { ...pods(2), phase: 'Paused' }),
    'it is paused: promote or abort it',
  ],
])('rolloutOf is stuck for %s', (_what, each, why) => {
  expect(rolloutOf(each)).toEqual({ state: 'stuck', why });
});
