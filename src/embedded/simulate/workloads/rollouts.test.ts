import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { deployments, pods, replicaSets } from '../../kinds/types.ts';
import type { Deployment, Pod } from '../../kinds/types.ts';
import { testCluster } from '../testing/cluster.ts';
import { images, reason, simulate, withImage, workload } from '../testing/objects.ts';

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

  test('create replica sets and pods with the metadata that Kubernetes writes', async () => {
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

  test('create no new pod before the last old one is deleted, with the strategy Recreate', async () => {
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

  test('delete old revisions beyond the history limit', async () => {
    const cluster = await testCluster();
    await cluster.create(workload('Deployment', 'web', { replicas: 1, revisionHistoryLimit: 1 }));
    for (const image of ['app:2', 'app:3', 'app:4']) {
      await cluster.settle();
      await cluster.change(deployments, 'default/web', withImage(image));
    }
    await cluster.settle();
    expect(cluster.list(replicaSets)).toHaveLength(2);
  });

  test('stop a rollout whose pods never become ready, keep the old pods, and exceed the progress deadline', async () => {
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

  test('become available after minReadySeconds, and leave no timer behind', async () => {
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

  test('roll out after they are resumed', async () => {
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
  test('replace pods that are deleted or no longer match, and adopt matching pods', async () => {
    const cluster = await testCluster();
    await cluster.create(workload('ReplicaSet', 'web', { replicas: 2 }));
    await cluster.settle();
    const [deleted, released] = cluster.list(pods);
    await cluster.remove(pods, `default/${deleted!.metadata.name}`);
    await cluster.change<Pod>(pods, `default/${released!.metadata.name}`, (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, labels: { app: 'other' } },
    }));
    await cluster.settle();
    const owned = (): Pod[] => cluster.list(pods).filter((pod) => pod.metadata.ownerReferences !== undefined);
    expect(cluster.list(pods)).toHaveLength(3);
    expect(owned()).toHaveLength(2);
    await cluster.change<Pod>(pods, `default/${released!.metadata.name}`, (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, labels: { app: 'web' } },
    }));
    await cluster.settle();
    expect(owned()).toHaveLength(2);
    expect(cluster.list(pods)).toHaveLength(2);
  });
});
