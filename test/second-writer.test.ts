// No part of the control plane gets a second writer, on every cluster: who holds a lease, and who is kept out by it.
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { dropLeases, holdLeases, refuseSecondWriter } from '../src/cli/run/lease-holders.ts';
import { connect, defineKind, LeaderElector, Lease, loadConfig, systemClock } from '../src/kube/index.ts';
import type { Client } from '../src/kube/index.ts';
import { microTime } from '../src/kube/times.ts';
import { describeClusters } from './cluster/index.ts';
import { until } from './support/until.ts';

const RBAC = 'rbac.authorization.k8s.io/v1';
const Role = defineKind(RBAC, 'Role', 'roles');
const RoleBinding = defineKind(RBAC, 'RoleBinding', 'rolebindings');
const NOW = Date.parse('2026-01-01T00:00:00Z');
const parts = [
  { name: 'environments', lease: 'writer-environments' },
  { name: 'targets', lease: 'writer-targets' },
];

describeClusters('a second writer', (cluster) => {
  let client: Client;
  let ours: string;
  let theirs: string;
  beforeAll(async () => {
    client = cluster.client();
    [ours, theirs] = [await cluster.namespace('ours'), await cluster.namespace('theirs')];
  });
  beforeEach(async () => {
    for (const namespace of [ours, theirs]) {
      for (const { metadata } of (await client.list(Lease, { namespace })).items) await client.delete(Lease, metadata);
    }
  });

  async function held(namespace: string, holderIdentity: string, renewedAgoMs: number): Promise<void> {
    await client.create(Lease, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'writer-targets', namespace },
      spec: { holderIdentity, leaseDurationSeconds: 15, renewTime: microTime(NOW - renewedAgoMs) },
    });
  }

  const look = (leaderElect: boolean, namespace = ours, now = NOW): Promise<void> =>
    refuseSecondWriter(client, parts, { namespace, leaderElect }, now);

  test('who holds the lease of a part keeps others out, wherever the lease is', async () => {
    await held(theirs, 'pod-1', 2_000);
    await expect(look(false)).rejects.toThrow(
      `pod-1 runs the controllers of targets for this cluster (Lease ${theirs}/writer-targets), and two would undo each other's writes: stop it; or stand by for it with --leader-elect --namespace ${theirs}`,
    );
    await expect(look(true)).rejects.toThrow('pod-1 runs');
    const others = refuseSecondWriter(client, [parts[0]!], { namespace: ours, leaderElect: false }, NOW);
    await expect(others).resolves.toBeUndefined();
  });

  test('who would wait for the lease is let in', async () => {
    await held(theirs, 'pod-1', 2_000);
    await expect(look(true, theirs)).resolves.toBeUndefined();
  });

  test.each([
    ['has expired', 'pod-1', 16_000],
    ['was given up', '', 1_000],
  ])('a lease that %s keeps nobody out', async (_how, holder, ago) => {
    await held(ours, holder, ago);
    await expect(look(false)).resolves.toBeUndefined();
  });

  test('an elected leader is noticed, and no longer once it has stopped', async () => {
    const end = new AbortController();
    const elected = Promise.withResolvers<void>();
    const elector = new LeaderElector({
      client,
      namespace: theirs,
      name: 'writer-targets',
      identity: 'pod-1',
      clock: systemClock,
      onElected: elected.resolve,
      onLost: () => {},
    });
    const running = elector.run(end.signal);
    await elected.promise;
    await expect(look(false, ours, Date.now())).rejects.toThrow('pod-1 runs the controllers of targets');
    end.abort();
    await running;
    await expect(look(false, ours, Date.now())).resolves.toBeUndefined();
  });

  test('a cluster of our own is held as long as it lives, and its leases are found and dropped', async () => {
    await holdLeases(client, parts, theirs);
    await expect(look(false, ours, Date.now())).rejects.toThrow(
      `offshoot-up_${process.pid} runs the controllers of environments for this cluster (Lease ${theirs}/writer-environments), and two would undo each other's writes: stop it, or start it as "offshoot up --no-controllers"`,
    );
    // Again, as the next one finds them.
    await holdLeases(client, parts, theirs);
    await held(ours, 'pod-1', 0);
    await dropLeases(client, ['writer-environments', 'writer-targets', 'other'], theirs);
    await dropLeases(client, ['writer-targets'], ours);
    const left = [ours, theirs].map(async (namespace) => (await client.list(Lease, { namespace })).items.length);
    expect(await Promise.all(left)).toEqual([1, 0]);
  });

  test('where no other namespace may be seen, ours is looked at', async () => {
    await held(ours, 'pod-1', 0);
    const rules = [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get'] }];
    const metadata = { name: 'jane', namespace: ours };
    await client.create(Role, { apiVersion: RBAC, kind: 'Role', metadata, rules });
    await client.create(RoleBinding, {
      apiVersion: RBAC,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'jane' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' }],
    });
    const jane = connect({ ...loadConfig({ path: cluster.kubeconfigPath }), impersonate: { user: 'jane' } });
    onTestFinished(() => jane.close());
    const lookAs = (namespace: string): Promise<void> =>
      refuseSecondWriter(jane, parts, { namespace, leaderElect: false }, NOW);
    // Rights take a moment to be known.
    await until(() =>
      lookAs(ours).then(
        () => false,
        (error: Error) => error.message.includes('pod-1 runs the controllers of targets'),
      ),
    );
    await expect(lookAs(theirs)).resolves.toBeUndefined();
  });
});
