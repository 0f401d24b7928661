import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { controllerRevisions, daemonSets, nodes, pods, statefulSets } from '../../kinds/types.ts';
import { testCluster } from '../testing/cluster.ts';
import { images, simulate, withImage, workload } from '../testing/objects.ts';

describe('stateful sets', () => {
  test('create pods in order, update them in reverse order, and keep revisions', async () => {
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

  test('do not update pods below the partition', async () => {
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

  test('wait for each pod to be ready before the next, unless podManagementPolicy is Parallel', async () => {
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
  test('run one pod on every matching node, including nodes that are added later', async () => {
    const cluster = await testCluster({ nodes: 2 });
    await cluster.create(workload('DaemonSet', 'agent', {}));
    await cluster.settle();
    const nodesInUse = (): Set<string | undefined> => new Set(cluster.list(pods).map((pod) => pod.spec.nodeName));
    expect(nodesInUse()).toEqual(new Set(['offshoot-node-1', 'offshoot-node-2']));
    await cluster.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'third' } });
    await cluster.settle();
    expect(nodesInUse()).toEqual(new Set(['offshoot-node-1', 'offshoot-node-2', 'third']));
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

describe('pods', () => {
  test('report why they cannot be scheduled, and start when a node matches', async () => {
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

  test('start after the delay that they simulate', async () => {
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

  test('get distinct IPs', async () => {
    const cluster = await testCluster();
    await cluster.create(workload('ReplicaSet', 'web', { replicas: 20 }));
    await cluster.settle();
    expect(new Set(cluster.list(pods).map((pod) => pod.status?.podIP)).size).toBe(20);
  });
});
