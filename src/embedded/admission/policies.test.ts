import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import type { JsonObject, KubeObject } from '../../kube/objects.ts';
import { deployments, pods, replicaSets } from '../kinds/types.ts';
import type { Collection, Condition, Labels } from '../kinds/types.ts';
import { testCluster } from '../simulate/testing/cluster.ts';
import { pod } from '../simulate/testing/objects.ts';

type Any = KubeObject & JsonObject;
const quotas: Collection<Any & { status?: { used?: Labels } }> = 'resourcequotas';

describe('admission', () => {
  test('refuses pods that exceed a quota, and the replica set reports why it has too few pods', async () => {
    const clock = new FakeClock(new Date().toISOString());
    const cluster = await testCluster({ clock });
    await cluster.create(
      {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'small', namespace: 'default' },
        spec: { hard: { pods: '2' } },
      },
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        metadata: { name: 'web', namespace: 'default' },
        spec: {
          replicas: 3,
          selector: { matchLabels: { app: 'web' } },
          template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'x' }] } },
        },
      },
    );
    const failure = (): Condition | undefined => cluster.must(replicaSets, 'default/web').status?.conditions?.[0];
    await cluster.settle();
    expect(cluster.list(pods)).toHaveLength(2);
    expect(failure()).toMatchObject({
      type: 'ReplicaFailure',
      status: 'True',
      reason: 'FailedCreate',
      message: expect.stringMatching(
        /^pods "web-\w+" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2$/,
      ),
    });
    await cluster.change<Any & { spec: JsonObject }>('resourcequotas', 'default/small', (one) => ({
      ...one,
      spec: { hard: { pods: '5' } },
    }));
    // The replica set retries with backoff.
    await clock.advance(60_000);
    await cluster.settle();
    expect(cluster.list(pods)).toHaveLength(3);
    expect(failure()).toBeUndefined();
    expect(cluster.must(quotas, 'default/small').status?.used).toEqual({ pods: '3' });
  });

  test('adds up the requests of pods, frees them on deletion, and refuses pods without requests', async () => {
    const cluster = await testCluster();
    await cluster.create({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'cpu', namespace: 'default' },
      spec: { hard: { 'requests.cpu': '1' } },
    });
    const requesting = (cpu: string): { container: object } => ({ container: { resources: { requests: { cpu } } } });
    await cluster.create(pod('one', {}, requesting('700m')));
    await expect(cluster.create(pod('two', {}, requesting('400m')))).rejects.toThrow(
      'pods "two" is forbidden: exceeded quota: cpu, requested: requests.cpu=400m, used: requests.cpu=700m, limited: requests.cpu=1',
    );
    await expect(cluster.create(pod('three'))).rejects.toThrow(
      'failed quota: cpu: must specify requests.cpu for: main',
    );
    await cluster.settle();
    await cluster.remove(pods, 'default/one');
    await cluster.settle();
    expect(cluster.must(quotas, 'default/cpu').status?.used).toEqual({ 'requests.cpu': '0' });
    await cluster.create(pod('two', {}, requesting('400m')));
  });

  test('admits only one of several concurrent requests when a quota has room for one', async () => {
    const cluster = await testCluster();
    await cluster.create({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'one', namespace: 'default' },
      spec: { hard: { 'count/secrets': '1' } },
    });
    await cluster.settle();
    const secret = (name: string): object => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: 'default' },
    });
    const results = await Promise.allSettled(['a', 'b', 'c'].map((name) => cluster.create(secret(name))));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('never exceeds a quota under concurrent creations and deletions', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'embedded-quota-'));
    onTestFinished(() => rmSync(dataDir, { recursive: true }));
    const cluster = await testCluster({}, { dataDir });
    await cluster.create({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'few', namespace: 'default' },
      spec: { hard: { 'count/secrets': '3' } },
    });
    await cluster.settle();
    let most = 0;
    const stop = cluster.embedded.store.subscribe('secrets', () => {
      most = Math.max(most, cluster.list('secrets').length);
    });
    onTestFinished(stop);
    const createAndDelete = async (name: string): Promise<number> => {
      let created = 0;
      for (let round = 0; round < 20; round++) {
        const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'default' } };
        const isCreated = await cluster.create(secret).then(
          () => true,
          () => false,
        );
        if (isCreated) created++;
        // Varies the order of other creations and of the writes of the quota's status.
        for (let turn = 0; turn < (name.charCodeAt(0) * 7 + round * 5) % 11; turn++) await setImmediate();
        if (isCreated) await cluster.remove('secrets', `default/${name}`);
      }
      return created;
    };
    const created = await Promise.all('abcdefghijkl'.split('').map(createAndDelete));
    expect(created.reduce((sum, count) => sum + count)).toBeGreaterThan(20);
    expect(most).toBe(3);
    await cluster.settle();
    expect(cluster.must(quotas, 'default/few').status?.used).toEqual({ 'count/secrets': '0' });
  });

  test('sets the defaults of a limit range, lists them in an annotation, and refuses what violates it', async () => {
    const cluster = await testCluster();
    await cluster.create({
      apiVersion: 'v1',
      kind: 'LimitRange',
      metadata: { name: 'range', namespace: 'default' },
      spec: {
        limits: [{ type: 'Container', default: { cpu: '500m' }, defaultRequest: { cpu: '300m' }, max: { cpu: '2' } }],
      },
    });
    await cluster.create(pod('plain'));
    const { metadata, spec } = cluster.must(pods, 'default/plain');
    expect(spec.containers[0]?.resources).toEqual({ limits: { cpu: '500m' }, requests: { cpu: '300m' } });
    expect(metadata.annotations?.['kubernetes.io/limit-ranger']).toBe(
      'LimitRanger plugin set: cpu request for container main; cpu limit for container main',
    );
    await expect(
      cluster.create(pod('big', {}, { container: { resources: { limits: { cpu: '3' } } } })),
    ).rejects.toThrow('pods "big" is forbidden: maximum cpu usage per Container is 2, but limit is 3');
  });

  test('sets the priority of a pod from its class or the global default class', async () => {
    const cluster = await testCluster();
    const priorityClass = (name: string, value: number, globalDefault = false): Any => ({
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name },
      value,
      globalDefault,
    });
    const named = (name: string, priorityClassName?: string): Any => {
      const { spec, ...rest } = pod(name) as Any & { spec: JsonObject };
      return { ...rest, spec: { ...spec, ...(priorityClassName !== undefined && { priorityClassName }) } };
    };
    await cluster.create(priorityClass('high', 9), priorityClass('all', 3, true));
    await cluster.create(named('one', 'high'), named('two'), named('three', 'system-node-critical'));
    const spec = (name: string): unknown => cluster.must(pods, `default/${name}`).spec;
    expect(spec('one')).toMatchObject({ priority: 9, priorityClassName: 'high' });
    expect(spec('two')).toMatchObject({ priority: 3, priorityClassName: 'all' });
    expect(spec('three')).toMatchObject({ priority: 2_000_001_000 });
    await expect(cluster.create(named('four', 'none'))).rejects.toThrow('no PriorityClass with name none was found');
  });
});

describe('controllers', () => {
  test('report in a disruption budget how many pods may be evicted', async () => {
    const cluster = await testCluster();
    await cluster.create(pod('one', { app: 'web' }), pod('two', { app: 'web' }), {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'web', namespace: 'default' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
    });
    await cluster.settle();
    const status = (): unknown => cluster.must<Any>('poddisruptionbudgets.policy', 'default/web')['status'];
    expect(status()).toMatchObject({
      currentHealthy: 2,
      desiredHealthy: 1,
      expectedPods: 2,
      disruptionsAllowed: 1,
      conditions: [{ type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods' }],
    });
    await cluster.remove(pods, 'default/one');
    await cluster.settle();
    expect(status()).toMatchObject({ disruptionsAllowed: 0, conditions: [{ reason: 'InsufficientPods' }] });
  });

  test('give an aggregated ClusterRole the rules of the roles that it selects', async () => {
    const cluster = await testCluster();
    const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' };
    await cluster.create({
      ...role,
      metadata: { name: 'all' },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { part: 'yes' } }] },
      rules: [],
    });
    await cluster.create({ ...role, metadata: { name: 'part', labels: { part: 'yes' } }, rules });
    await cluster.settle();
    expect(cluster.must<Any>('clusterroles.rbac.authorization.k8s.io', 'all')['rules']).toEqual(rules);
    await cluster.remove('clusterroles.rbac.authorization.k8s.io', 'part');
    await cluster.settle();
    expect(cluster.must<Any>('clusterroles.rbac.authorization.k8s.io', 'all')['rules'] ?? []).toEqual([]);
  });

  test('report that the target of an autoscaler does not exist', async () => {
    const cluster = await testCluster();
    await cluster.create({
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'web', namespace: 'default' },
      spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } },
    });
    await cluster.settle();
    expect(cluster.must<Any>('horizontalpodautoscalers.autoscaling', 'default/web')['status']).toMatchObject({
      conditions: [{ type: 'AbleToScale', status: 'False', reason: 'FailedGetScale' }],
    });
  });

  test('scale the target of an autoscaler to its limits, unless it has zero replicas', async () => {
    const cluster = await testCluster();
    const labels = { app: 'web' };
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'app' }] } },
      },
    };
    await cluster.create(deployment, {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        minReplicas: 2,
        maxReplicas: 3,
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      },
    });
    const scaled = async (replicas?: number): Promise<unknown> => {
      if (replicas !== undefined) {
        await cluster.change(deployments, 'default/web', (found) => ({ ...found, spec: { ...found.spec, replicas } }));
      }
      await cluster.settle();
      return cluster.must(deployments, 'default/web').spec.replicas;
    };
    expect(await scaled()).toBe(2);
    expect(cluster.must<Any>('horizontalpodautoscalers.autoscaling', 'default/web')['status']).toMatchObject({
      currentReplicas: 2,
      desiredReplicas: 2,
    });
    expect(await scaled(9)).toBe(3);
    expect(await scaled(1)).toBe(2);
    expect(await scaled(0)).toBe(0);
  });
});
