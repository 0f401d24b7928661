import { describe, expect, test } from 'vitest';
import { until } from '../../../../test/support/until.ts';
import type { KubeObject, OwnerReference } from '../../../kube/objects.ts';
import { deployments, namespaces, pods, replicaSets } from '../../kinds/types.ts';
import type { Collection } from '../../kinds/types.ts';
import { testCluster } from '../testing/cluster.ts';
import type { TestCluster } from '../testing/cluster.ts';

const configMaps: Collection<KubeObject> = 'configmaps';

function owner(object: KubeObject, more: Partial<OwnerReference> = {}): OwnerReference {
  const { apiVersion, kind, metadata } = object;
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid!, ...more };
}

function configMap(name: string, owners: readonly OwnerReference[] = [], namespace = 'default'): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, ownerReferences: owners } };
}

/** The names of the remaining ConfigMaps, without the one that every namespace has. */
function remaining(cluster: TestCluster): string[] {
  return cluster
    .list(configMaps)
    .flatMap(({ metadata }) => (metadata.name === 'kube-root-ca.crt' ? [] : [metadata.name]));
}

async function family(cluster: TestCluster): Promise<void> {
  await cluster.create(configMap('parent'));
  const parent = cluster.must(configMaps, 'default/parent');
  await cluster.create(configMap('child', [owner(parent, { blockOwnerDeletion: true })]));
  await cluster.create(
    configMap('grandchild', [owner(cluster.must(configMaps, 'default/child'), { blockOwnerDeletion: true })]),
  );
  await cluster.settle();
}

describe('garbage collection', () => {
  test('deletes dependents after their owner in the background', async () => {
    const cluster = await testCluster();
    await family(cluster);
    await cluster.remove(configMaps, 'default/parent', { propagationPolicy: 'Background' });
    expect(remaining(cluster)).not.toContain('parent');
    await cluster.settle();
    expect(remaining(cluster)).toEqual([]);
  });

  test('deletes the owner last in the foreground', async () => {
    const cluster = await testCluster();
    await family(cluster);
    const deleted: string[] = [];
    cluster.embedded.store.subscribe(
      'configmaps',
      ({ type, stored }) => void (type === 'DELETED' && deleted.push(stored.object.metadata.name)),
    );
    await cluster.remove(configMaps, 'default/parent', { propagationPolicy: 'Foreground' });
    await cluster.settle();
    expect(deleted).toEqual(['grandchild', 'child', 'parent']);
  });

  test('keeps an owner in foreground deletion while a dependent has a finalizer', async () => {
    const cluster = await testCluster();
    await cluster.create(configMap('parent'));
    const reference = owner(cluster.must(configMaps, 'default/parent'), { blockOwnerDeletion: true });
    const child = configMap('child', [reference]) as { metadata: object };
    await cluster.create({ ...child, metadata: { ...child.metadata, finalizers: ['example.com/hold'] } });
    await cluster.remove(configMaps, 'default/parent', { propagationPolicy: 'Foreground' });
    await cluster.settle();
    expect(remaining(cluster)).toEqual(['child', 'parent']);
    await cluster.change(configMaps, 'default/child', (one) => ({
      ...one,
      metadata: { ...one.metadata, finalizers: [] },
    }));
    await cluster.settle();
    expect(remaining(cluster)).toEqual([]);
  });

  test('keeps orphans and removes their owner reference', async () => {
    const cluster = await testCluster();
    await cluster.create({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        selector: { matchLabels: { app: 'web' } },
        template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'x' }] } },
      },
    });
    await cluster.settle();
    await cluster.remove(deployments, 'default/web', { propagationPolicy: 'Orphan' });
    await cluster.settle();
    expect(cluster.get(deployments, 'default/web')).toBeUndefined();
    expect(cluster.list(replicaSets).map((set) => set.metadata.ownerReferences)).toEqual([undefined]);
    expect(cluster.list(pods)).toHaveLength(1);
  });

  test('removes the reference to a deleted owner while other owners exist', async () => {
    const cluster = await testCluster();
    await cluster.create(configMap('one'), configMap('two'));
    const owners = ['one', 'two'].map((name) => owner(cluster.must(configMaps, `default/${name}`)));
    await cluster.create(configMap('child', owners));
    await cluster.remove(configMaps, 'default/one');
    await cluster.settle();
    expect(cluster.must(configMaps, 'default/child').metadata.ownerReferences).toEqual([owners[1]]);
  });

  test('deletes objects whose owner does not exist or is in another namespace', async () => {
    const cluster = await testCluster();
    await cluster.create(
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } },
      configMap('elsewhere', [], 'other'),
    );
    const elsewhere = owner(cluster.must(configMaps, 'other/elsewhere'));
    await cluster.create(configMap('invented', [{ ...elsewhere, uid: 'made-up' }]), configMap('crossing', [elsewhere]));
    await cluster.settle();
    expect(remaining(cluster)).toEqual([]);
  });

  test('keeps objects whose owner is of a kind that is not served', async () => {
    const cluster = await testCluster();
    await cluster.create(configMap('child', [{ apiVersion: 'example.com/v1', kind: 'Thing', name: 'x', uid: 'u' }]));
    await cluster.settle();
    expect(remaining(cluster)).toEqual(['child']);
  });

  test('collects the dependents of a custom object when its definition is deleted', async () => {
    const cluster = await testCluster();
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    await cluster.create(
      {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'things.example.com' },
        spec: {
          group: 'example.com',
          scope: 'Namespaced',
          names: { plural: 'things', kind: 'Thing' },
          versions: [{ name: 'v1', served: true, storage: true, schema }],
        },
      },
      { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'one', namespace: 'default' } },
    );
    await cluster.create(configMap('owned', [owner(cluster.must<KubeObject>('things.example.com', 'default/one'))]));
    await cluster.settle();
    await cluster.remove('customresourcedefinitions.apiextensions.k8s.io', 'things.example.com');
    await until(() => cluster.get(configMaps, 'default/owned') === undefined, 5_000);
    expect(cluster.errors).toEqual([]);
  });
});

describe('deleting a namespace', () => {
  test('deletes everything in it, and refuses new objects meanwhile', async () => {
    const cluster = await testCluster();
    await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
    await cluster.settle();
    const held = configMap('held', [], 'team') as { metadata: object };
    await cluster.create(
      { ...held, metadata: { ...held.metadata, finalizers: ['example.com/hold'] } },
      configMap('free', [], 'team'),
    );
    await cluster.create({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'team' },
      spec: {
        selector: { matchLabels: { app: 'web' } },
        template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'x' }] } },
      },
    });
    await cluster.settle();
    await cluster.remove(namespaces, 'team');
    await cluster.settle();
    const { status } = cluster.must(namespaces, 'team');
    expect(status?.phase).toBe('Terminating');
    expect(status?.conditions?.map(({ type, status: holds, message }) => [type, holds, message])).toEqual([
      ['NamespaceDeletionDiscoveryFailure', 'False', 'All resources successfully discovered'],
      ['NamespaceDeletionGroupVersionParsingFailure', 'False', 'All legacy kube types successfully parsed'],
      ['NamespaceDeletionContentFailure', 'False', 'All content successfully deleted, may be waiting on finalization'],
      ['NamespaceContentRemaining', 'True', 'Some resources are remaining: configmaps. has 1 resource instances'],
      [
        'NamespaceFinalizersRemaining',
        'True',
        'Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
      ],
    ]);
    await expect(cluster.create(configMap('late', [], 'team'))).rejects.toThrow('because it is being terminated');
    await cluster.change(configMaps, 'team/held', (one) => ({ ...one, metadata: { ...one.metadata, finalizers: [] } }));
    await cluster.settle();
    expect(cluster.get(namespaces, 'team')).toBeUndefined();
    expect(cluster.list(pods, 'team')).toEqual([]);
    expect(cluster.errors).toEqual([]);
  });

  test('deletes custom objects, too', async () => {
    const cluster = await testCluster();
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    await cluster.create(
      {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'things.example.com' },
        spec: {
          group: 'example.com',
          scope: 'Namespaced',
          names: { plural: 'things', kind: 'Thing' },
          versions: [{ name: 'v1', served: true, storage: true, schema }],
        },
      },
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } },
      { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'one', namespace: 'team' } },
    );
    const thing = cluster.must<KubeObject>('things.example.com', 'team/one');
    await cluster.create(configMap('owned', [owner(thing)], 'team'));
    await cluster.settle();
    expect(cluster.get(configMaps, 'team/owned')).toBeDefined();
    await cluster.remove('things.example.com', 'team/one');
    await cluster.settle();
    expect(cluster.get(configMaps, 'team/owned')).toBeUndefined();
    await cluster.create({ apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'two', namespace: 'team' } });
    await cluster.remove(namespaces, 'team');
    await cluster.settle();
    expect(cluster.get(namespaces, 'team')).toBeUndefined();
    expect(cluster.list<KubeObject>('things.example.com', 'team')).toEqual([]);
  });
});
