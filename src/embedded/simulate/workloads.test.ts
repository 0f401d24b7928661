import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import {
  controllerRevisions,
  cronJobs,
  daemonSets,
  deployments,
  jobs,
  nodes,
  pods,
  replicaSets,
  statefulSets,
} from './kinds.ts';
import type { Condition, Deployment, Pod } from './kinds.ts';
import { testCluster } from './testing/cluster.ts';
import type { TestCluster } from './testing/cluster.ts';

const simulate = 'offshoot.dev/simulate';

function template(app: string, image = 'app:1', annotations: Record<string, string> = {}): object {
  return { metadata: { labels: { app }, annotations }, spec: { containers: [{ name: 'main', image }] } };
}

function workload(kind: string, name: string, spec: object, annotations: Record<string, string> = {}): object {
  const selector = { matchLabels: { app: name } };
  const metadata = { name, namespace: 'default' };
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata,
    spec: { selector, template: template(name, 'app:1', annotations), ...spec },
  };
}

function withImage<T extends { spec: { template: unknown } }>(image: string): (object: T) => T {
  return (object) => {
    const { metadata, spec } = object.spec.template as { metadata: object; spec: { containers: object[] } };
    const containers = spec.containers.map((container) => ({ ...container, image }));
    return { ...object, spec: { ...object.spec, template: { metadata, spec: { ...spec, containers } } } };
  };
}

function reason(conditions: readonly Condition[] | undefined, type: string): string | undefined {
  return conditions?.find((condition) => condition.type === type)?.reason;
}

function images(cluster: TestCluster): (string | undefined)[] {
  return cluster.list(pods).map((pod) => pod.spec.containers[0]?.image);
}

describe('deployments', () => {
  test('become available, roll out, roll back and scale', async () => {
    const cluster = await testCluster();
    await cluster.create(workload('Deployment', 'web', { replicas: 3 }));
    await cluster.settle();
    expect(cluster.must(deployments, 'default/web').status).toMatchObject({
      observedGeneration: 1,
      replicas: 3,
      updatedReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      conditions: expect.arrayContaining([
        expect.objectContaining({ type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable' }),
        expect.objectContaining({ type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' }),
      ]),
    });
    const [first] = cluster.list(replicaSets);
    await cluster.change(deployments, 'default/web', withImage('app:2'));
    await cluster.settle();
    expect(images(cluster)).toEqual(['app:2', 'app:2', 'app:2']);
    expect(cluster.must(deployments, 'default/web').metadata.annotations?.['deployment.kubernetes.io/revision']).toBe(
      '2',
    );
    await cluster.change(deployments, 'default/web', withImage('app:1'));
    await cluster.settle();
    expect(images(cluster)).toEqual(['app:1', 'app:1', 'app:1']);
    expect(cluster.must(deployments, 'default/web').metadata.annotations?.['deployment.kubernetes.io/revision']).toBe(
      '3',
    );
    expect(cluster.must(replicaSets, `default/${first!.metadata.name}`).metadata.uid).toBe(first!.metadata.uid);
    await cluster.change(deployments, 'default/web', (one) => ({ ...one, spec: { ...one.spec, replicas: 1 } }));
    await cluster.settle();
    expect(cluster.list(pods)).toHaveLength(1);
    expect(cluster.errors).toEqual([]);
  });

  test('objects carry what a real cluster writes', async () => {
    const cluster = await testCluster();
    await cluster.create(workload('Deployment', 'web', { replicas: 1 }));
    await cluster.settle();
    const [set] = cluster.list(replicaSets);
    const [pod] = cluster.list(pods);
    const hash = set!.metadata.labels?.['pod-template-hash'];
    expect(set!.metadata.name).toBe(`web-${hash}`);
    expect(set!.spec.selector.matchLabels).toEqual({ app: 'web', 'pod-template-hash': hash });
    expect(pod!.metadata).toMatchObject({
      generateName: `web-${hash}-`,
      labels: { app: 'web', 'pod-template-hash': hash },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: set!.metadata.name,
          uid: set!.metadata.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    });
    expect(pod!.spec.nodeName).toBe('offshoot-node-1');
    expect(pod!.metadata.generation).toBe(1);
    expect(new Set(set!.metadata.managedFields?.map((entry) => entry.manager))).toEqual(
      new Set(['kube-controller-manager']),
    );
  });

  test('Recreate has no new pod before the last old one is gone', async () => {
    const cluster = await testCluster();
    await cluster.create(workload('Deployment', 'web', { replicas: 2, strategy: { type: 'Recreate' } }));
    await cluster.settle();
    const seen = new Set<string>();
    cluster.embedded.store.subscribe('pods', () =>
      seen.add(['app:1', 'app:2'].filter((image) => images(cluster).includes(image)).join()),
    );
    await cluster.change(deployments, 'default/web', withImage('app:2'));
    await cluster.settle();
    expect(images(cluster)).toEqual(['app:2', 'app:2']);
    expect(seen).not.toContain('app:1,app:2');
  });

  test('old revisions are forgotten beyond the limit', async () => {
    const cluster = await testCluster();
    await cluster.create(workload('Deployment', 'web', { replicas: 1, revisionHistoryLimit: 1 }));
    for (const image of ['app:2', 'app:3', 'app:4']) {
      await cluster.settle();
      await cluster.change(deployments, 'default/web', withImage(image));
    }
    await cluster.settle();
    expect(cluster.list(replicaSets)).toHaveLength(2);
  });

  test('an update whose pods never get ready stops, keeps the old ones, and is late in time', async () => {
    const clock = new FakeClock(new Date().toISOString());
    const cluster = await testCluster({ clock });
    await cluster.create(workload('Deployment', 'web', { replicas: 2, progressDeadlineSeconds: 60 }));
    await cluster.settle();
    await cluster.change<Deployment>(deployments, 'default/web', (one) => ({
      ...one,
      spec: {
        ...one.spec,
        template: {
          ...one.spec.template,
          metadata: { ...one.spec.template.metadata, annotations: { [simulate]: 'never-ready' } },
        },
      },
    }));
    await cluster.settle();
    const ready = (): number =>
      cluster
        .list(pods)
        .filter((pod) => pod.status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True')).length;
    expect([cluster.list(pods).length, ready()]).toEqual([3, 2]);
    expect(reason(cluster.must(deployments, 'default/web').status?.conditions, 'Progressing')).toBe(
      'ReplicaSetUpdated',
    );
    await clock.advance(62_000);
    await cluster.settle();
    expect(reason(cluster.must(deployments, 'default/web').status?.conditions, 'Progressing')).toBe(
      'ProgressDeadlineExceeded',
    );
    expect(ready()).toBe(2);
  });

  test('minReadySeconds holds availability back, and nothing waits once it is over', async () => {
    const clock = new FakeClock(new Date().toISOString());
    const cluster = await testCluster({ clock });
    await cluster.create(workload('Deployment', 'web', { replicas: 1, minReadySeconds: 30 }));
    await cluster.settle();
    expect(cluster.must(deployments, 'default/web').status).toMatchObject({ readyReplicas: 1, unavailableReplicas: 1 });
    await clock.advance(31_000);
    await cluster.settle();
    expect(cluster.must(deployments, 'default/web').status?.availableReplicas).toBe(1);
    expect(clock.pending).toBe(0);
  });

  test('a paused deployment rolls out when it goes on', async () => {
    const cluster = await testCluster();
    await cluster.create(workload('Deployment', 'web', { replicas: 1 }));
    await cluster.settle();
    await cluster.change(deployments, 'default/web', (one) => ({
      ...withImage<Deployment>('app:2')(one),
      spec: { ...withImage<Deployment>('app:2')(one).spec, paused: true },
    }));
    await cluster.settle();
    expect(images(cluster)).toEqual(['app:1']);
    expect(reason(cluster.must(deployments, 'default/web').status?.conditions, 'Progressing')).toBe('DeploymentPaused');
    await cluster.change(deployments, 'default/web', (one) => ({ ...one, spec: { ...one.spec, paused: false } }));
    await cluster.settle();
    expect(images(cluster)).toEqual(['app:2']);
    expect(reason(cluster.must(deployments, 'default/web').status?.conditions, 'Progressing')).toBe(
      'NewReplicaSetAvailable',
    );
  });
});

describe('replica sets', () => {
  test('replace a pod that is deleted or no longer matches, and adopt one that does', async () => {
    const cluster = await testCluster();
    await cluster.create(workload('ReplicaSet', 'web', { replicas: 2 }));
    await cluster.settle();
    const [gone, freed] = cluster.list(pods);
    await cluster.remove(pods, `default/${gone!.metadata.name}`);
    await cluster.change<Pod>(pods, `default/${freed!.metadata.name}`, (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, labels: { app: 'other' } },
    }));
    await cluster.settle();
    const owned = (): Pod[] => cluster.list(pods).filter((pod) => pod.metadata.ownerReferences !== undefined);
    expect(cluster.list(pods)).toHaveLength(3);
    expect(owned()).toHaveLength(2);
    await cluster.change<Pod>(pods, `default/${freed!.metadata.name}`, (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, labels: { app: 'web' } },
    }));
    await cluster.settle();
    expect(owned()).toHaveLength(2);
    expect(cluster.list(pods)).toHaveLength(2);
  });
});

describe('stateful sets', () => {
  test('start in order, update from the last, and remember revisions', async () => {
    const cluster = await testCluster();
    const started: string[] = [];
    cluster.embedded.store.subscribe(
      'pods',
      ({ type, stored }) => void (type === 'ADDED' && started.push(stored.object.metadata.name)),
    );
    await cluster.create(workload('StatefulSet', 'db', { replicas: 3, serviceName: 'db' }));
    await cluster.settle();
    expect(started).toEqual(['db-0', 'db-1', 'db-2']);
    started.length = 0;
    await cluster.change(statefulSets, 'default/db', withImage('app:2'));
    await cluster.settle();
    expect(started).toEqual(['db-2', 'db-1', 'db-0']);
    const { status } = cluster.must(statefulSets, 'default/db');
    expect(status).toMatchObject({
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      currentReplicas: 3,
      updatedReplicas: 3,
    });
    expect(status?.currentRevision).toBe(status?.updateRevision);
    expect(new Set(cluster.list(controllerRevisions).map((one) => one.revision))).toEqual(new Set([1, 2]));
    await cluster.change(statefulSets, 'default/db', (one) => ({ ...one, spec: { ...one.spec, replicas: 1 } }));
    await cluster.settle();
    expect(cluster.list(pods).map((pod) => pod.metadata.name)).toEqual(['db-0']);
  });

  test('a partition keeps pods below it', async () => {
    const cluster = await testCluster();
    await cluster.create(
      workload('StatefulSet', 'db', {
        replicas: 3,
        serviceName: 'db',
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } },
      }),
    );
    await cluster.settle();
    await cluster.change(statefulSets, 'default/db', withImage('app:2'));
    await cluster.settle();
    expect(images(cluster)).toEqual(['app:1', 'app:1', 'app:2']);
    expect(cluster.must(statefulSets, 'default/db').status).toMatchObject({ currentReplicas: 2, updatedReplicas: 1 });
  });

  test('an unready pod holds up its successors, unless all may start at once', async () => {
    const cluster = await testCluster();
    await cluster.create(
      workload('StatefulSet', 'db', { replicas: 3, serviceName: 'db' }, { [simulate]: 'never-ready' }),
      workload(
        'StatefulSet',
        'cache',
        { replicas: 3, serviceName: 'cache', podManagementPolicy: 'Parallel' },
        { [simulate]: 'never-ready' },
      ),
    );
    await cluster.settle();
    expect(cluster.list(pods).map((pod) => pod.metadata.name)).toEqual(['cache-0', 'cache-1', 'cache-2', 'db-0']);
  });
});

describe('daemon sets', () => {
  test('one pod a node that fits, also for nodes that come later', async () => {
    const cluster = await testCluster({ nodes: 2 });
    await cluster.create(workload('DaemonSet', 'agent', {}));
    await cluster.settle();
    const places = (): Set<string | undefined> => new Set(cluster.list(pods).map((pod) => pod.spec.nodeName));
    expect(places()).toEqual(new Set(['offshoot-node-1', 'offshoot-node-2']));
    await cluster.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'third' } });
    await cluster.settle();
    expect(places()).toEqual(new Set(['offshoot-node-1', 'offshoot-node-2', 'third']));
    await cluster.change(daemonSets, 'default/agent', withImage('app:2'));
    await cluster.settle();
    expect(images(cluster)).toEqual(['app:2', 'app:2', 'app:2']);
    expect(cluster.must(daemonSets, 'default/agent').status).toMatchObject({
      desiredNumberScheduled: 3,
      currentNumberScheduled: 3,
      numberReady: 3,
      updatedNumberScheduled: 3,
      numberAvailable: 3,
    });
  });
});

function job(name: string, spec: object, annotations: Record<string, string> = {}): object {
  const podSpec = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'app:1' }] };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: 'default' },
    spec: { template: { metadata: { annotations }, spec: podSpec }, ...spec },
  };
}

describe('jobs', () => {
  test('complete after their completions, a few at a time', async () => {
    const cluster = await testCluster();
    let most = 0;
    cluster.embedded.store.subscribe('pods', () => {
      most = Math.max(most, cluster.list(pods).filter((pod) => pod.status?.phase !== 'Succeeded').length);
    });
    await cluster.create(job('sum', { completions: 5, parallelism: 2 }));
    await cluster.settle();
    const { status } = cluster.must(jobs, 'default/sum');
    expect(status).toMatchObject({
      succeeded: 5,
      ready: 0,
      uncountedTerminatedPods: {},
      completionTime: expect.any(String),
    });
    expect(status?.conditions?.map((one) => [one.type, one.reason])).toEqual([
      ['SuccessCriteriaMet', 'CompletionsReached'],
      ['Complete', 'CompletionsReached'],
    ]);
    expect(most).toBeLessThanOrEqual(2);
    expect(cluster.list(pods).every((pod) => pod.metadata.finalizers === undefined)).toBe(true);
  });

  test('indexed pods know their index', async () => {
    const cluster = await testCluster();
    await cluster.create(job('parts', { completions: 3, parallelism: 3, completionMode: 'Indexed' }));
    await cluster.settle();
    expect(cluster.must(jobs, 'default/parts').status?.completedIndexes).toBe('0-2');
    const indexes = cluster.list(pods).map((pod) => pod.metadata.labels?.['batch.kubernetes.io/job-completion-index']);
    expect(new Set(indexes)).toEqual(new Set(['0', '1', '2']));
  });

  test('fail after too many failures, with time in between', async () => {
    const clock = new FakeClock(new Date().toISOString());
    const cluster = await testCluster({ clock });
    await cluster.create(job('bad', { backoffLimit: 1 }, { [simulate]: 'fail' }));
    await cluster.settle();
    expect(cluster.list(pods)).toHaveLength(1);
    await clock.advance(11_000);
    await cluster.settle();
    const { status } = cluster.must(jobs, 'default/bad');
    expect(status?.failed).toBe(2);
    expect(status?.conditions?.map((one) => [one.type, one.reason, one.message])).toEqual([
      ['FailureTarget', 'BackoffLimitExceeded', 'Job has reached the specified backoff limit'],
      ['Failed', 'BackoffLimitExceeded', 'Job has reached the specified backoff limit'],
    ]);
  });

  test('a deadline ends them, suspension stops them, and their time to live removes them', async () => {
    const clock = new FakeClock(new Date().toISOString());
    const cluster = await testCluster({ clock });
    await cluster.create(
      job('slow', { activeDeadlineSeconds: 5 }, { [simulate]: 'pending' }),
      job('still', { suspend: true }),
      job('brief', { ttlSecondsAfterFinished: 20 }),
    );
    await cluster.settle();
    expect(reason(cluster.must(jobs, 'default/still').status?.conditions, 'Suspended')).toBe('JobSuspended');
    expect(cluster.get(jobs, 'default/brief')).toBeDefined();
    await clock.advance(7_000);
    await cluster.settle();
    expect(reason(cluster.must(jobs, 'default/slow').status?.conditions, 'Failed')).toBe('DeadlineExceeded');
    await clock.advance(21_000);
    await cluster.settle();
    expect(cluster.get(jobs, 'default/brief')).toBeUndefined();
    await cluster.change(jobs, 'default/still', (one) => ({ ...one, spec: { ...one.spec, suspend: false } }));
    await cluster.settle();
    expect(cluster.must(jobs, 'default/still').status?.succeeded).toBe(1);
  });

  test('cron jobs start one at each time', async () => {
    const clock = new FakeClock(new Date().toISOString());
    const cluster = await testCluster({ clock });
    const { spec } = job('', {}) as { spec: object };
    await cluster.create({
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'tick', namespace: 'default' },
      spec: { schedule: '* * * * *', jobTemplate: { spec } },
    });
    await cluster.settle();
    expect(cluster.list(jobs)).toHaveLength(0);
    await clock.advance(60_000);
    await cluster.settle();
    expect(cluster.list(jobs)).toHaveLength(1);
    await clock.advance(300_000);
    await cluster.settle();
    expect(cluster.list(jobs)).toHaveLength(3);
    expect(cluster.must(cronJobs, 'default/tick').status).toMatchObject({
      lastScheduleTime: expect.any(String),
      lastSuccessfulTime: expect.any(String),
    });
  });
});

describe('pods', () => {
  test('one that fits nowhere says why, and starts when a node fits', async () => {
    const cluster = await testCluster();
    await cluster.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'picky', namespace: 'default' },
      spec: { nodeSelector: { disk: 'fast' }, containers: [{ name: 'main', image: 'app:1' }] },
    });
    await cluster.settle();
    expect(cluster.must(pods, 'default/picky').status?.conditions).toMatchObject([
      {
        type: 'PodScheduled',
        status: 'False',
        reason: 'Unschedulable',
        message: expect.stringContaining(
          "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
        ),
      },
    ]);
    await cluster.change(nodes, 'offshoot-node-1', (node) => ({
      ...node,
      metadata: { ...node.metadata, labels: { ...node.metadata.labels, disk: 'fast' } },
    }));
    await cluster.settle();
    expect(cluster.must(pods, 'default/picky').status?.phase).toBe('Running');
  });

  test('a slow one starts in its time', async () => {
    const clock = new FakeClock(new Date().toISOString());
    const cluster = await testCluster({ clock });
    await cluster.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'late', namespace: 'default', annotations: { [simulate]: 'slow=3s' } },
      spec: { containers: [{ name: 'main', image: 'app:1' }] },
    });
    await cluster.settle();
    expect(cluster.must(pods, 'default/late').status?.phase).toBe('Pending');
    await clock.advance(3_000);
    await cluster.settle();
    expect(cluster.must(pods, 'default/late').status?.phase).toBe('Running');
  });

  test('no two pods share an address', async () => {
    const cluster = await testCluster();
    await cluster.create(workload('ReplicaSet', 'web', { replicas: 20 }));
    await cluster.settle();
    expect(new Set(cluster.list(pods).map((pod) => pod.status?.podIP)).size).toBe(20);
  });
});
