// Given objects → planned writes, for details that the tests of whole controllers do not cover.
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../kube/objects.ts';
import { planCronJob } from './workloads/jobs/cronjob.ts';
import { planDaemonSet } from './workloads/daemonset.ts';
import { planSlices } from './network/endpoints.ts';
import { planGarbage } from './deletion/garbage.ts';
import { planJob } from './workloads/jobs/job.ts';
import { cronJobs, daemonSets, jobs, replicaSets, statefulSets } from '../kinds/types.ts';
import type {
  Collection,
  CronJob,
  DaemonSet,
  Job,
  Node,
  Pod,
  ReplicaSet,
  Service,
  StatefulSet,
} from '../kinds/types.ts';
import { planNamespace } from './deletion/namespace.ts';
import { inDeletionOrder, managedBy } from './pods/pods.ts';
import { planReplicaSet } from './workloads/replicaset.ts';
import { planStatefulSet } from './workloads/statefulset.ts';
import { now, worldOf } from './testing/world.ts';
import type { Plan } from './writes.ts';

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'x' }] } };
const selector = { matchLabels: { app: 'web' } };

function workload<T extends KubeObject>(
  _collection: Collection<T>,
  apiVersion: string,
  kind: string,
  spec: object,
  status?: object,
): T {
  const metadata = {
    name: 'web',
    namespace: 'default',
    uid: 'owner',
    generation: 1,
    creationTimestamp: '2026-01-01T00:00:00Z',
  };
  return { apiVersion, kind, metadata, spec: { selector, template, ...spec }, status } as unknown as T;
}

interface PodFacts {
  readonly ready?: boolean | string;
  readonly phase?: string;
  readonly node?: string;
  readonly created?: string;
  readonly cost?: string;
  readonly finalizers?: readonly string[];
}

function pod(name: string, owner: KubeObject | undefined, facts: PodFacts = {}): Pod {
  const { ready = true, phase = 'Running', node = 'n1', created = '2026-01-01T00:00:00Z', cost, finalizers } = facts;
  const lastTransitionTime = typeof ready === 'string' ? ready : '2026-01-01T00:00:00Z';
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: name,
      creationTimestamp: created,
      labels: { app: 'web' },
      ...(cost !== undefined && { annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } }),
      ...(finalizers !== undefined && { finalizers }),
      ...(owner !== undefined && { ownerReferences: [managedBy(owner)] }),
    },
    spec: { ...template.spec, ...(node !== '' && { nodeName: node }) },
    status: {
      phase,
      podIP: '10.244.0.1',
      conditions: [{ type: 'Ready', status: ready === false ? 'False' : 'True', lastTransitionTime }],
    },
  };
}

/** A summary of the plan: `create Pod`, `delete web-1`, `status web`. */
function summary({ writes }: Plan): string[] {
  return writes.map((write) => {
    if (write.verb === 'create') return `create ${write.object.metadata.name ?? write.object.kind}`;
    return `${write.verb === 'update' && write.subresource !== undefined ? write.subresource : write.verb} ${write.object.metadata.name}`;
  });
}

describe('inDeletionOrder', () => {
  test.each<[string, PodFacts, PodFacts]>([
    ['without a node', { node: '' }, {}],
    ['that are pending', { phase: 'Pending' }, {}],
    ['that are not ready', { ready: false }, {}],
    ['with a lower deletion cost', { cost: '-5' }, {}],
    ['that became ready later', { ready: '2026-01-01T00:05:00Z' }, {}],
    ['that are newer', { created: '2026-01-01T00:05:00Z' }, {}],
  ])('puts pods %s first', (_why, first, second) => {
    const order = inDeletionOrder([pod('second', undefined, second), pod('first', undefined, first)]);
    expect(order.map((one) => one.metadata.name)).toEqual(['first', 'second']);
  });
});

describe('planReplicaSet', () => {
  const set = (replicas: number): ReplicaSet => workload(replicaSets, 'apps/v1', 'ReplicaSet', { replicas });

  test.each<[string, number, PodFacts[], string[]]>([
    ['creates missing pods', 2, [{}], ['create Pod']],
    ['deletes surplus pods', 1, [{}, { ready: false }], ['delete pod-1']],
    ['replaces terminated pods', 1, [{ phase: 'Failed' }], ['create Pod']],
    ['updates the status when there are enough pods', 1, [{}], ['status web']],
  ])('%s', async (_what, replicas, pods, expected) => {
    const owner = set(replicas);
    const world = await worldOf(owner, ...pods.map((facts, index) => pod(`pod-${index}`, owner, facts)));
    expect(summary(planReplicaSet(world, owner))).toEqual(expected);
  });

  test('reports refused pods in the status and does not create them again at once', async () => {
    const owner = set(2);
    const { writes } = planReplicaSet(await worldOf(owner), owner, 'no more pods');
    expect(writes).toMatchObject([
      {
        object: {
          status: { conditions: [{ type: 'ReplicaFailure', reason: 'FailedCreate', message: 'no more pods' }] },
        },
      },
    ]);
  });
});

describe('planStatefulSet', () => {
  test('updates an outdated pod only after the updated pods are ready', async () => {
    const set: StatefulSet = workload(statefulSets, 'apps/v1', 'StatefulSet', { replicas: 2, serviceName: 'web' });
    const first = planStatefulSet(await worldOf(set), set).writes[0]!;
    const revision = {
      ...first.object,
      metadata: { ...first.object.metadata, uid: 'r', name: first.object.metadata.name! },
    } as KubeObject;
    const labels = { app: 'web', 'controller-revision-hash': revision.metadata.name };
    const outdated = pod('web-0', set);
    const unready = { ...pod('web-1', set, { ready: false }), metadata: { ...pod('web-1', set).metadata, labels } };
    const world = await worldOf(set, revision, outdated, unready);
    expect(summary(planStatefulSet(world, set))).toEqual(['status web']);
    const ready = { ...unready, status: outdated.status! };
    expect(summary(planStatefulSet(await worldOf(set, revision, outdated, ready), set))).toEqual([
      'delete web-0',
      'status web',
    ]);
  });
});

describe('planDaemonSet', () => {
  test('deletes a pod whose node no longer matches', async () => {
    const set: DaemonSet = workload(daemonSets, 'apps/v1', 'DaemonSet', {});
    const created = planDaemonSet(await worldOf(set), set).writes[0]!;
    const revision = {
      ...created.object,
      metadata: { ...created.object.metadata, uid: 'r', name: created.object.metadata.name! },
    } as KubeObject;
    const node: Node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n1', uid: 'n1' },
      spec: { taints: [{ key: 'dedicated', value: 'db', effect: 'NoSchedule' }] },
    };
    const world = await worldOf(set, revision, node, pod('web-a', set));
    expect(summary(planDaemonSet(world, set))).toEqual(['delete web-a', 'status web']);
  });
});

describe('planJob', () => {
  const tracked = ['batch.kubernetes.io/job-tracking'];

  test('records a finished pod, then removes its finalizer, then counts it, and never twice', async () => {
    const job: Job = workload(
      jobs,
      'batch/v1',
      'Job',
      { completions: 1, parallelism: 1 },
      { startTime: '2026-01-01T00:00:00Z' },
    );
    const ended = pod('web-a', job, { phase: 'Succeeded', finalizers: tracked });
    const recorded = planJob(await worldOf(job, ended), job);
    expect(recorded.writes).toMatchObject([
      {
        object: {
          status: { uncountedTerminatedPods: { succeeded: ['web-a'] }, conditions: [{ type: 'SuccessCriteriaMet' }] },
        },
      },
    ]);
    expect(recorded.writes[0]!.object).not.toHaveProperty(['status', 'succeeded']);
    const reported = recorded.writes[0]!.object as Job;
    expect(summary(planJob(await worldOf(reported, ended), reported))).toEqual(['update web-a']);
    const released = pod('web-a', job, { phase: 'Succeeded' });
    expect(planJob(await worldOf(reported, released), reported).writes).toMatchObject([
      {
        object: {
          status: {
            succeeded: 1,
            uncountedTerminatedPods: {},
            conditions: [{ type: 'SuccessCriteriaMet' }, { type: 'Complete' }],
          },
        },
      },
    ]);
  });
});

describe('planCronJob', () => {
  const cron = (spec: object): CronJob =>
    workload(cronJobs, 'batch/v1', 'CronJob', {
      schedule: '*/5 * * * *',
      jobTemplate: { spec: { template } },
      ...spec,
    });
  const running = (owner: KubeObject): KubeObject => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'web-0', namespace: 'default', uid: 'j', ownerReferences: [managedBy(owner)] },
  });
  const name = `web-${now / 60_000}`;

  test.each<[string, object, boolean, string[]]>([
    ['starts only the last of several missed jobs', {}, false, [`create ${name}`, 'status web']],
    [
      'starts no job while one is running with the policy Forbid',
      { concurrencyPolicy: 'Forbid' },
      true,
      ['status web'],
    ],
    [
      'deletes the running job with the policy Replace',
      { concurrencyPolicy: 'Replace' },
      true,
      ['delete web-0', `create ${name}`, 'status web'],
    ],
    ['starts no job while suspended', { suspend: true }, false, []],
  ])('%s', async (_what, spec, withRunning, expected) => {
    const owner = cron(spec);
    const world = await worldOf(owner, ...(withRunning ? [running(owner)] : []));
    expect(summary(planCronJob(world, owner))).toEqual(expected);
  });
});

describe('planSlices', () => {
  const service = (spec: object): Service => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'default', uid: 'svc' },
    spec: { selector: { app: 'web' }, ports: [{ port: 80 }], ...spec },
  });

  test('lists a terminating pod as serving and not ready', async () => {
    const terminating = {
      ...pod('a', undefined),
      metadata: { ...pod('a', undefined).metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    };
    const { writes } = planSlices(await worldOf(terminating), service({}));
    expect(writes).toMatchObject([
      { object: { endpoints: [{ conditions: { ready: false, serving: true, terminating: true } }] } },
    ]);
  });

  test('ignores services without a selector', async () => {
    expect(planSlices(await worldOf(pod('a', undefined)), service({ selector: {} })).writes).toEqual([]);
  });
});

describe('planGarbage', () => {
  test('deletes the dependents of an owner in foreground deletion; those with dependents of their own in the foreground', async () => {
    const configMap = (name: string, owner?: KubeObject, more: object = {}): KubeObject => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name,
        namespace: 'default',
        uid: name,
        ...(owner !== undefined && { ownerReferences: [{ ...managedBy(owner), controller: false }] }),
        ...more,
      },
    });
    const parent = configMap('parent', undefined, {
      deletionTimestamp: '2026-01-01T00:00:00Z',
      finalizers: ['foregroundDeletion'],
    });
    const child = configMap('child', parent);
    const world = await worldOf(parent, child, configMap('leaf', parent), configMap('grandchild', child));
    const { writes } = planGarbage(world, { ...parent });
    expect(
      writes.map((write) => [write.object.metadata.name, write.verb === 'delete' && write.options?.propagationPolicy]),
    ).toEqual([
      ['child', 'Foreground'],
      ['leaf', 'Background'],
    ]);
  });
});

describe('planNamespace', () => {
  test('first reports that a terminating namespace is empty, then removes its finalizer', async () => {
    const namespace = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'team', uid: 't', deletionTimestamp: '2026-01-01T00:00:00Z' },
      spec: { finalizers: ['kubernetes'] },
    };
    const reported = planNamespace(await worldOf(namespace), namespace);
    expect(summary(reported)).toEqual(['status team']);
    const after = reported.writes[0]!.object as KubeObject;
    expect(summary(planNamespace(await worldOf(after), after))).toEqual(['finalize team']);
  });
});
