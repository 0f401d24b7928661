import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startEmbedded } from '../../embedded/index.ts';
import type { Embedded } from '../../embedded/index.ts';
import { connect, defineKind, Lease } from '../../kube/index.ts';
import type { Client } from '../../kube/index.ts';
import { microTime } from '../../kube/times.ts';
import { dropLeases, holdLeases, refuseSecondWriter } from './lease-holders.ts';

const RBAC = 'rbac.authorization.k8s.io/v1';
const Role = defineKind(RBAC, 'Role', 'roles');
const RoleBinding = defineKind(RBAC, 'RoleBinding', 'rolebindings');
const NOW = Date.parse('2026-01-01T00:00:00Z');
const parts = [
  { name: 'environments', lease: 'environments-lock' },
  { name: 'targets', lease: 'targets-lock' },
];

let cluster: Embedded;
let client: Client;
beforeAll(async () => {
  cluster = await startEmbedded();
  client = connect({ server: cluster.url, caPem: cluster.caPem, token: cluster.admin.token });
});
afterAll(async () => {
  client.close();
  await cluster.stop();
});
beforeEach(async () => {
  for (const { metadata } of (await client.list(Lease)).items) await client.delete(Lease, metadata);
});

async function held(namespace: string, holderIdentity: string, renewedAgoMs: number): Promise<void> {
  await client.create(Lease, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'targets-lock', namespace },
    spec: { holderIdentity, leaseDurationSeconds: 15, renewTime: microTime(NOW - renewedAgoMs) },
  });
}

const refused = (leaderElect: boolean, namespace = 'default'): Promise<void> =>
  refuseSecondWriter(client, parts, { namespace, leaderElect }, NOW);

test('who holds the lease of a part keeps others out, wherever the lease is', async () => {
  await held('kube-system', 'pod-1', 2_000);
  await expect(refused(false)).rejects.toThrow(
    "pod-1 runs the controllers of targets for this cluster (Lease kube-system/targets-lock), and two would undo each other's writes: stop it; or stand by for it with --leader-elect --namespace kube-system",
  );
  await expect(refused(true)).rejects.toThrow('pod-1 runs');
  await refuseSecondWriter(client, [parts[0]!], { namespace: 'default', leaderElect: false }, NOW);
});

test('who would wait for the lease is let in', async () => {
  await held('kube-system', 'pod-1', 2_000);
  await expect(refused(true, 'kube-system')).resolves.toBeUndefined();
});

test.each([
  ['has expired', 'pod-1', 16_000],
  ['was given up', '', 1_000],
])('a lease that %s keeps nobody out', async (_how, holder, ago) => {
  await held('default', holder, ago);
  await expect(refused(false)).resolves.toBeUndefined();
});

test('a cluster of our own is held as long as it lives, and its leases are found and dropped', async () => {
  await holdLeases(client, parts, 'kube-system');
  await expect(refuseSecondWriter(client, parts, { namespace: 'default', leaderElect: false })).rejects.toThrow(
    `offshoot-up_${process.pid} runs the controllers of environments for this cluster (Lease kube-system/environments-lock), and two would undo each other's writes: stop it, or start it as "offshoot up --no-controllers"`,
  );
  await held('default', 'pod-1', 0);
  await dropLeases(client, ['environments-lock', 'targets-lock', 'other'], 'kube-system');
  await dropLeases(client, ['targets-lock'], 'default');
  expect((await client.list(Lease)).items.map(({ metadata }) => metadata.namespace)).toEqual(['default']);
});

test('where no other namespace may be seen, ours is looked at', async () => {
  await held('default', 'pod-1', 0);
  const rules = [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get'] }];
  const metadata = { name: 'jane', namespace: 'default' };
  await client.create(Role, { apiVersion: RBAC, kind: 'Role', metadata, rules });
  await client.create(RoleBinding, {
    apiVersion: RBAC,
    kind: 'RoleBinding',
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'jane' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' }],
  });
  const { url: server, caPem, admin } = cluster;
  const jane = connect({ server, caPem, token: admin.token, impersonate: { user: 'jane' } });
  const look = (namespace: string): Promise<void> =>
    refuseSecondWriter(jane, parts, { namespace, leaderElect: false }, NOW);
  await expect(look('default')).rejects.toThrow('pod-1 runs the controllers of targets');
  await look('kube-system');
  jane.close();
});
