import { describe, expect, test } from 'vitest';
import type { JsonObject, KubeObject } from '../../../kube/objects.ts';
import { TokenKey } from '../../auth/tokens.ts';
import { pods, services } from '../../kinds/types.ts';
import type { Collection, Pod } from '../../kinds/types.ts';
import { testCluster } from '../testing/cluster.ts';
import type { TestCluster } from '../testing/cluster.ts';
import { pod, service } from '../testing/objects.ts';

type Any = KubeObject & JsonObject;
const endpoints: Collection<Any> = 'endpoints';
const slices: Collection<Any & { endpoints: JsonObject[]; ports: JsonObject[] }> = 'endpointslices.discovery.k8s.io';

function slicesOf(cluster: TestCluster, name = 'web'): (Any & { endpoints: JsonObject[]; ports: JsonObject[] })[] {
  return cluster.list(slices).filter((slice) => slice.metadata.labels?.['kubernetes.io/service-name'] === name);
}

describe('endpoints', () => {
  test('list ready and unready pods with their named ports', async () => {
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

  test('are updated when labels change, and deleted with the service', async () => {
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

  test('publish unready pods with publishNotReadyAddresses, and split many pods into several slices', async () => {
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
      found.flatMap((slice) => slice.endpoints).every((one) => (one['conditions'] as JsonObject)['ready'] === true),
    ).toBe(true);
    expect(found[0]!.metadata.labels).toHaveProperty(['service.kubernetes.io/headless'], '');
  });
});

describe('services', () => {
  test('get distinct cluster IPs and node ports, even when created at the same time', async () => {
    const cluster = await testCluster();
    const names = Array.from({ length: 50 }, (_unused, index) => `s${index}`);
    await Promise.all(names.map((name) => cluster.create(service({ type: 'NodePort', ports: [{ port: 80 }] }, name))));
    const specs = cluster
      .list(services)
      .filter(({ metadata }) => names.includes(metadata.name))
      .map(({ spec }) => spec);
    expect(new Set(specs.map((spec) => spec.clusterIP)).size).toBe(50);
    expect(new Set(specs.map((spec) => (spec.ports?.[0] as JsonObject | undefined)?.['nodePort'])).size).toBe(50);
  });
});

describe('service accounts', () => {
  test('exist in every namespace as `default`, beside the CA certificate, and are created again after a deletion', async () => {
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

  test('get their token in a token Secret, which is deleted with them', async () => {
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

  test('are mounted into pods as a token; a pod with an unknown account is refused', async () => {
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
