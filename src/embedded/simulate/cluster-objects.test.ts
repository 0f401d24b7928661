import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { TokenKey } from '../auth/tokens.ts';
import { Fault } from '../rest/fault.ts';
import { nodes, pods, replicaSets, services } from './kinds.ts';
import type { Collection, Condition, Fields, Labels, Pod } from './kinds.ts';
import { testCluster } from './testing/cluster.ts';
import type { TestCluster } from './testing/cluster.ts';

type Any = KubeObject & Fields;
const endpoints: Collection<Any> = 'endpoints';
const slices: Collection<Any & { endpoints: Fields[]; ports: Fields[] }> = 'endpointslices.discovery.k8s.io';
const quotas: Collection<Any & { status?: { used?: Labels } }> = 'resourcequotas';

function pod(
  name: string,
  labels: Labels = {},
  more: { annotations?: Labels; container?: object; spec?: object } = {},
): object {
  const containers = [{ name: 'main', image: 'app:1', ...more.container }];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels, annotations: more.annotations ?? {} },
    spec: { containers, ...more.spec },
  };
}

function service(spec: object, name = 'web'): object {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: 'default' }, spec };
}

function slicesOf(cluster: TestCluster, name = 'web'): (Any & { endpoints: Fields[]; ports: Fields[] })[] {
  return cluster.list(slices).filter((slice) => slice.metadata.labels?.['kubernetes.io/service-name'] === name);
}

describe('endpoints', () => {
  test('name ready and unready pods with the ports that they name', async () => {
    const cluster = await testCluster();
    const container = { ports: [{ name: 'http', containerPort: 8080 }] };
    await cluster.create(
      service({ selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 'http' }] }),
      pod('ready', { app: 'web' }, { container }),
      pod('unready', { app: 'web' }, { container, annotations: { 'offshoot.dev/simulate': 'never-ready' } }),
      pod('other', { app: 'other' }),
    );
    await cluster.settle();
    expect(cluster.must(endpoints, 'default/web')['subsets']).toMatchObject([
      {
        addresses: [{ targetRef: { kind: 'Pod', name: 'ready' } }],
        notReadyAddresses: [{ targetRef: { name: 'unready' } }],
        ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      },
    ]);
    const [slice, ...more] = slicesOf(cluster);
    expect(more).toEqual([]);
    expect(slice).toMatchObject({
      addressType: 'IPv4',
      metadata: {
        labels: { 'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io' },
        ownerReferences: [{ kind: 'Service', name: 'web' }],
      },
      ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    });
    expect(slice!.endpoints.map((one) => one['conditions'])).toEqual([
      { ready: true, serving: true, terminating: false },
      { ready: false, serving: false, terminating: false },
    ]);
  });

  test('follow labels, selectors and the end of the service', async () => {
    const cluster = await testCluster();
    await cluster.create(service({ selector: { app: 'web' }, ports: [{ port: 80 }] }), pod('one'));
    await cluster.settle();
    expect(slicesOf(cluster).map((slice) => slice.endpoints)).toEqual([[]]);
    await cluster.change<Pod>(pods, 'default/one', (one) => ({
      ...one,
      metadata: { ...one.metadata, labels: { app: 'web' } },
    }));
    await cluster.settle();
    expect(slicesOf(cluster)[0]?.endpoints).toHaveLength(1);
    await cluster.remove('services', 'default/web');
    await cluster.settle();
    expect(slicesOf(cluster)).toEqual([]);
    expect(cluster.get(endpoints, 'default/web')).toBeUndefined();
  });

  test('unready pods are published when asked for, and many pods take several slices', async () => {
    const cluster = await testCluster();
    await cluster.create(
      service({ selector: { app: 'web' }, ports: [{ port: 80 }], publishNotReadyAddresses: true, clusterIP: 'None' }),
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        metadata: { name: 'web', namespace: 'default' },
        spec: {
          replicas: 150,
          selector: { matchLabels: { app: 'web' } },
          template: {
            metadata: { labels: { app: 'web' }, annotations: { 'offshoot.dev/simulate': 'never-ready' } },
            spec: { containers: [{ name: 'main', image: 'x' }] },
          },
        },
      },
    );
    await cluster.settle();
    const found = slicesOf(cluster);
    expect(found).toHaveLength(2);
    expect(found.flatMap((slice) => slice.endpoints)).toHaveLength(150);
    expect(
      found.flatMap((slice) => slice.endpoints).every((one) => (one['conditions'] as Fields)['ready'] === true),
    ).toBe(true);
    expect(found[0]!.metadata.labels).toHaveProperty(['service.kubernetes.io/headless'], '');
  });
});

describe('services', () => {
  test('no two share an address or a port, also when they come at once', async () => {
    const cluster = await testCluster();
    const names = Array.from({ length: 50 }, (_unused, index) => `s${index}`);
    await Promise.all(names.map((name) => cluster.create(service({ type: 'NodePort', ports: [{ port: 80 }] }, name))));
    const specs = cluster
      .list(services)
      .filter(({ metadata }) => names.includes(metadata.name))
      .map(({ spec }) => spec);
    expect(new Set(specs.map((spec) => spec.clusterIP)).size).toBe(50);
    expect(new Set(specs.map((spec) => (spec.ports?.[0] as Fields | undefined)?.['nodePort'])).size).toBe(50);
  });
});

describe('service accounts', () => {
  test('every namespace has the default account and the root certificate, also after they are deleted', async () => {
    const cluster = await testCluster();
    await cluster.settle();
    const [account, certificate] = [
      cluster.must<Any>('serviceaccounts', 'default/default'),
      cluster.must<Any>('configmaps', 'default/kube-root-ca.crt'),
    ];
    expect(certificate['data']).toEqual({ 'ca.crt': cluster.embedded.caPem });
    await cluster.remove('serviceaccounts', 'default/default');
    await cluster.remove('configmaps', 'default/kube-root-ca.crt');
    await cluster.settle();
    expect(cluster.must<Any>('serviceaccounts', 'default/default').metadata.uid).not.toBe(account.metadata.uid);
    expect(cluster.get<Any>('configmaps', 'default/kube-root-ca.crt')).toBeDefined();
  });

  test('a token Secret gets the token of its account, and goes with it', async () => {
    const cluster = await testCluster();
    const metadata = {
      name: 'bot-token',
      namespace: 'default',
      annotations: { 'kubernetes.io/service-account.name': 'bot' },
    };
    await cluster.create(
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'bot', namespace: 'default' } },
      { apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/service-account-token', metadata },
    );
    await cluster.settle();
    const { token } = cluster.must<Any>('secrets', 'default/bot-token')['data'] as { token: string };
    const { tokens } = cluster.embedded.cluster.access;
    expect(tokens).toBeInstanceOf(TokenKey);
    expect(tokens.read(Buffer.from(token, 'base64').toString())).toMatchObject({ namespace: 'default', name: 'bot' });
    await cluster.remove('serviceaccounts', 'default/bot');
    await cluster.settle();
    expect(cluster.get<Any>('secrets', 'default/bot-token')).toBeUndefined();
  });

  test('pods mount the token of their account, and an unknown account is refused', async () => {
    const cluster = await testCluster();
    await cluster.settle();
    await cluster.create(pod('one'), pod('two', {}, { spec: { automountServiceAccountToken: false } }));
    expect(cluster.must(pods, 'default/one').spec.containers[0]).toMatchObject({
      volumeMounts: [{ mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true }],
    });
    expect(cluster.must(pods, 'default/two').spec.volumes).toBeUndefined();
    await expect(cluster.create(pod('three', {}, { spec: { serviceAccountName: 'nobody' } }))).rejects.toThrow(
      'pods "three" is forbidden: error looking up service account default/nobody: serviceaccount "nobody" not found',
    );
  });
});

describe('quotas and limits', () => {
  test('what is too much is refused, and a replica set says why it has too few pods', async () => {
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
    await cluster.change<Any & { spec: Fields }>('resourcequotas', 'default/small', (one) => ({
      ...one,
      spec: { hard: { pods: '5' } },
    }));
    // The replica set tries again after a while.
    await clock.advance(60_000);
    await cluster.settle();
    expect(cluster.list(pods)).toHaveLength(3);
    expect(failure()).toBeUndefined();
    expect(cluster.must(quotas, 'default/small').status?.used).toEqual({ pods: '3' });
  });

  test('amounts are added up, freed, and asked for', async () => {
    const cluster = await testCluster();
    await cluster.create({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'cpu', namespace: 'default' },
      spec: { hard: { 'requests.cpu': '1' } },
    });
    const asking = (cpu: string): { container: object } => ({ container: { resources: { requests: { cpu } } } });
    await cluster.create(pod('one', {}, asking('700m')));
    await expect(cluster.create(pod('two', {}, asking('400m')))).rejects.toThrow(
      'pods "two" is forbidden: exceeded quota: cpu, requested: requests.cpu=400m, used: requests.cpu=700m, limited: requests.cpu=1',
    );
    await expect(cluster.create(pod('three'))).rejects.toThrow(
      'failed quota: cpu: must specify requests.cpu for: main',
    );
    await cluster.settle();
    await cluster.remove(pods, 'default/one');
    await cluster.settle();
    expect(cluster.must(quotas, 'default/cpu').status?.used).toEqual({ 'requests.cpu': '0' });
    await cluster.create(pod('two', {}, asking('400m')));
  });

  test('two requests at once cannot both take the last place', async () => {
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

  test('a limit range fills in, notes what, and refuses what is outside', async () => {
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
});

describe('budgets, roles and autoscalers', () => {
  test('a disruption budget says how many pods may go', async () => {
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

  test('an aggregated cluster role has the rules of those that it selects', async () => {
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

  test('an autoscaler says that it has nothing to scale by', async () => {
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
});

describe('the simulation itself', () => {
  test('goes on after a restart with what was left undone', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'simulate-'));
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
    const before = await testCluster(false, { dataDir });
    await before.create(pod('one', { app: 'web' }), service({ selector: { app: 'web' }, ports: [{ port: 80 }] }));
    expect(before.must(pods, 'default/one').spec.nodeName).toBeUndefined();
    await before.embedded.stop();
    const after = await testCluster({}, { dataDir });
    await after.settle();
    expect(after.must(pods, 'default/one').status?.phase).toBe('Running');
    expect(slicesOf(after)[0]?.endpoints).toHaveLength(1);
    await after.embedded.stop();
    const again = await testCluster({}, { dataDir });
    const { version } = again.embedded.store;
    await again.settle();
    expect(again.embedded.store.version).toBe(version);
  });

  test('rests when there is nothing to do', async () => {
    const cluster = await testCluster({ nodes: 2 });
    await cluster.create(pod('one'));
    await cluster.settle();
    const { version } = cluster.embedded.store;
    await cluster.settle();
    expect(cluster.embedded.store.version).toBe(version);
    expect(cluster.list(nodes, '')).toHaveLength(2);
  });

  test('controllers can be left out', async () => {
    const cluster = await testCluster({ disabled: ['scheduler'] });
    await cluster.create(pod('one'));
    await cluster.settle();
    expect(cluster.must(pods, 'default/one').spec.nodeName).toBeUndefined();
  });

  test('what was done is told as Events on the objects', async () => {
    const cluster = await testCluster();
    await cluster.create(pod('one'));
    await cluster.settle();
    const events = cluster.list<Any>('events').map((event) => [event['reason'], event['message']]);
    expect(events).toContainEqual(['Scheduled', 'Successfully assigned default/one to offshoot-node-1']);
  });

  test('refusals carry a status that clients understand', async () => {
    const cluster = await testCluster();
    await cluster.create({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'none', namespace: 'default' },
      spec: { hard: { pods: '0' } },
    });
    const refusal = await cluster.create(pod('one')).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(Fault);
    expect((refusal as Fault).status).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      details: { name: 'one', kind: 'pods' },
    });
  });
});
