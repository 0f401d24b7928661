// No part of the control plane gets a second writer, on every cluster: a process does not start while another one holds
// the Lease of a part.
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { dropLeases, holdLeases, leasesElsewhere, refuseSecondWriter } from '../src/cli/run/lease-holders.ts';
import { partsOf } from '../src/cli/run/parts.ts';
import { createLogger } from '../src/controller/index.ts';
import { connect, defineKind, isForbidden, LeaderElector, Lease, loadConfig, systemClock } from '../src/kube/index.ts';
import type { Client } from '../src/kube/index.ts';
import { keyOf } from '../src/kube/objects.ts';
import { microTime } from '../src/kube/times.ts';
import { describeClusters } from './cluster/index.ts';
import { until } from './support/until.ts';
import { installObject, manifestOf } from './support/with-permissions.ts';
import type { PartWithControllers } from './support/with-permissions.ts';

const RBAC = 'rbac.authorization.k8s.io/v1';
const Role = defineKind(RBAC, 'Role', 'roles');
const RoleBinding = defineKind(RBAC, 'RoleBinding', 'rolebindings');
const silent = createLogger({ level: 'silent' });
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

  async function createLease(
    namespace: string,
    holderIdentity: string,
    renewedAgoMs: number,
    name = 'writer-targets',
  ): Promise<void> {
    await client.create(Lease, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace },
      spec: { holderIdentity, leaseDurationSeconds: 15, renewTime: microTime(NOW - renewedAgoMs) },
    });
  }

  const check = (leaderElect: boolean, namespace = ours, now = NOW): Promise<void> =>
    refuseSecondWriter(client, parts, { namespace, leaderElect, logger: silent }, now);

  /** The leases for which leader election in a namespace would wait. */
  async function elsewhere(part: Parameters<typeof leasesElsewhere>[1], namespace: string): Promise<string[]> {
    const leases = await leasesElsewhere(client, part, namespace, new AbortController().signal, NOW);
    return leases.map(({ metadata }) => keyOf(metadata));
  }

  function connectAs(user: string): Client {
    const connected = connect({ ...loadConfig({ path: cluster.kubeconfigPath }), impersonate: { user } });
    onTestFinished(() => connected.close());
    return connected;
  }

  test('is rejected while another process holds the Lease of a part, in whatever namespace', async () => {
    await createLease(theirs, 'pod-1', 2_000);
    await expect(check(false)).rejects.toThrow(
      `pod-1 runs the controllers of targets for this cluster (Lease ${theirs}/writer-targets), and two would undo each other's writes: stop it, or wait for it with --leader-elect`,
    );
    const others = refuseSecondWriter(
      client,
      [parts[0]!],
      { namespace: ours, leaderElect: false, logger: silent },
      NOW,
    );
    await expect(others).resolves.toBeUndefined();
  });

  test('is allowed to wait for the Lease', async () => {
    await createLease(theirs, 'pod-1', 2_000);
    for (const namespace of [ours, theirs]) await expect(check(true, namespace)).resolves.toBeUndefined();
    expect(await elsewhere(parts[1]!, ours)).toEqual([`${theirs}/writer-targets`]);
    expect(await elsewhere(parts[1]!, theirs)).toEqual([]);
  });

  // A minute may be the difference of two clocks.
  test.each([
    ['a minute', 60_000, 1],
    ['a day', 86_400_000, 0],
  ])('is awaited, or not, after its Lease was last renewed %s ago', async (_when, ago, count) => {
    await createLease(theirs, 'pod-1', ago);
    expect(await elsewhere(parts[1]!, ours)).toHaveLength(count);
  });

  test('is rejected while another operator does a part of its work, with the flag that leaves it to that one', async () => {
    await createLease(theirs, 'host-operator', 2_000, 'writer-spaces');
    const part = { ...parts[1]!, other: { lease: 'writer-spaces', flag: '--space-controllers=false' } };
    const start = (leaderElect: boolean): Promise<void> =>
      refuseSecondWriter(client, [part], { namespace: ours, leaderElect, logger: silent }, NOW);
    await expect(start(false)).rejects.toThrow(
      `host-operator runs the controllers of targets for this cluster (Lease ${theirs}/writer-spaces), and two would undo each other's writes: stop it, or leave that work to it with --space-controllers=false, or wait for it with --leader-elect`,
    );
    await expect(start(true)).resolves.toBeUndefined();
    expect(await elsewhere(part, theirs)).toEqual([`${theirs}/writer-spaces`]);
  });

  test.each([
    ['has expired', 'pod-1', 16_000],
    ['was released', '', 1_000],
  ])('is allowed if the Lease %s', async (_how, holder, ago) => {
    await createLease(ours, holder, ago);
    await expect(check(false)).resolves.toBeUndefined();
  });

  test('is rejected while there is an elected leader, and allowed once that has stopped', async () => {
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
    await expect(check(false, ours, Date.now())).rejects.toThrow('pod-1 runs the controllers of targets');
    end.abort();
    await running;
    await expect(check(false, ours, Date.now())).resolves.toBeUndefined();
  });

  test('is rejected on a cluster of "offshoot up", which takes over and deletes its own Leases', async () => {
    await holdLeases(client, parts, theirs);
    await expect(check(false, ours, Date.now())).rejects.toThrow(
      `offshoot-up_${process.pid} runs the controllers of environments for this cluster (Lease ${theirs}/writer-environments), and two would undo each other's writes: stop it, or start it as "offshoot up --no-controllers", or wait for it with --leader-elect`,
    );
    // The next process finds existing Leases.
    await holdLeases(client, parts, theirs);
    await createLease(ours, 'pod-1', 0);
    await dropLeases(client, ['writer-environments', 'writer-targets', 'other'], theirs);
    await dropLeases(client, ['writer-targets'], ours);
    const left = [ours, theirs].map(async (namespace) => (await client.list(Lease, { namespace })).items.length);
    expect(await Promise.all(left)).toEqual([1, 0]);
  });

  // The original operator normally runs in its own namespace, with the same Lease.
  test.each(partsOf())('of $name is found in another namespace with the permissions of its manifest', async (part) => {
    const user = `second-writer-of-${part.name}`;
    const role = manifestOf(part.name as PartWithControllers).find(
      ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === `offshoot-${part.name}`,
    )!;
    // Under its own name: other suites compare the requests of the real accounts with their roles.
    await installObject(client, { ...role, metadata: { name: user } });
    await installObject(client, {
      apiVersion: RBAC,
      kind: 'ClusterRoleBinding',
      metadata: { name: user },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: user },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    });
    await createLease(theirs, 'the original', 0, part.lease);
    const account = connectAs(user);
    const checked = (): Promise<string> =>
      refuseSecondWriter(account, [part], { namespace: ours, leaderElect: false, logger: silent }, NOW).then(
        () => '',
        (error: Error) => error.message,
      );
    // A new role takes effect after a moment.
    await until(async () => (await checked()) !== '');
    expect(await checked()).toContain(
      `the original runs the controllers of ${part.name} for this cluster (Lease ${theirs}/${part.lease})`,
    );
    // The role allows nothing about other Leases.
    await expect(account.list(Lease)).rejects.toSatisfy(isForbidden);
    await expect(account.get(Lease, { namespace: theirs, name: part.lease })).rejects.toSatisfy(isForbidden);
  });

  test('is checked in its own namespace if it may not list others, and the log says so', async () => {
    await createLease(ours, 'pod-1', 0);
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
    const jane = connectAs('jane');
    let logged: string[] = [];
    const logger = createLogger({ format: 'json', write: (line) => logged.push(line) });
    const checkAs = (namespace: string, namespaces?: readonly string[]): Promise<void> => {
      logged = [];
      return refuseSecondWriter(jane, parts, { namespace, leaderElect: false, namespaces, logger }, NOW);
    };
    // A new role takes effect after a moment.
    await until(() =>
      checkAs(ours).then(
        () => false,
        (error: Error) => error.message.includes('pod-1 runs the controllers of targets'),
      ),
    );
    await expect(checkAs(theirs)).resolves.toBeUndefined();
    expect(logged.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({
        level: 40,
        leases: ['writer-environments', 'writer-targets'],
        msg: expect.stringMatching(/^could not check other namespaces .* list leases\.coordination\.k8s\.io/),
      }),
    ]);
    // Controllers of single namespaces do not have the permission by intention.
    await expect(checkAs(theirs, [theirs])).resolves.toBeUndefined();
    expect(logged.map((line) => JSON.parse(line) as unknown)).toEqual([expect.objectContaining({ level: 30 })]);
  });
});
