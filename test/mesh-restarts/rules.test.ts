// When a workload is restarted and when not, end to end: maintenance windows, PodDisruptionBudgets, pods without a
// sidecar, and Events.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Istio } from '../../src/api/istio.ts';
import { runnerFor } from '../../src/cli/testing/offshoot-process.ts';
import type { Manager } from '../../src/controller/index.ts';
import { defineKind } from '../../src/kube/index.ts';
import type { AnyObject, Client } from '../../src/kube/index.ts';
import { describeOwnClusters } from '../cluster/index.ts';
import { settled, until } from '../support/until.ts';
import type { Injector } from './injector.ts';
import { createIstio, Deployment, Pods, prepare, reached, RESOURCE, SHOP, startMesh, workload } from './world.ts';

const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });
const Event = defineKind('events.k8s.io/v1', 'Event', 'events');
const PodDisruptionBudget = defineKind('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets');
const VERSION = '1.31.0';
const ANNOTATION = 'restarter.istio-operator.kyma-project.io';
const DEADLINE_MS = 60_000;
/** Removes old pods before new ones are created. */
const DISTURBING = { strategy: { rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } } };

describeOwnClusters('a workload', (cluster) => {
  let client: Client;
  let injector: Injector;
  let manager: Manager;
  let cpu = 20;

  beforeAll(async () => {
    client = cluster.client();
    injector = await prepare(client);
    manager = await startMesh(client, { istioVersion: VERSION });
    await createIstio(client);
    await reached(client, 'Ready', VERSION);
  }, 120_000);
  afterAll(async () => {
    await manager?.stop();
    await injector?.close();
  });

  const running = async (made: AnyObject): Promise<void> => {
    await client.create(Deployment, made);
    await until(async () => {
      const { status } = await client.get(Deployment, made.metadata);
      return status?.availableReplicas === 2;
    }, DEADLINE_MS);
  };
  /** Changes the resources of sidecars. */
  const changeSidecars = async (): Promise<void> => {
    const resources = { requests: { cpu: `${++cpu}m` } };
    const body = { spec: { components: { proxy: { k8s: { resources } } } } };
    await client.patch(Istio, RESOURCE, { type: 'merge', body });
  };
  const sidecars = async (namespace: string, app: string): Promise<readonly unknown[]> => {
    const { items } = await client.list(Pods, { namespace, labelSelector: `app=${app}` });
    return items
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ spec }) => spec?.containers?.find(({ name }) => name === 'istio-proxy')?.resources?.requests?.cpu);
  };
  const isCurrent = async (name: string, namespace = SHOP): Promise<boolean> => {
    const found = await sidecars(namespace, name);
    return found.length === 2 && found.every((each) => each === `${cpu}m`);
  };
  /** What a workload waits for, according to the status. */
  const waitingOf = async (workloadName: string): Promise<string | undefined> => {
    const { status } = await client.get(Istio, RESOURCE);
    return status?.restarts?.workloads.find(({ name }) => name === workloadName)?.waiting;
  };
  /** The pod template, which every restart changes. */
  const template = async (name: string): Promise<string> =>
    JSON.stringify((await client.get(Deployment, { namespace: SHOP, name })).spec?.template);
  const eventsOf = async (reason: string): Promise<readonly string[]> =>
    (await client.list(Event)).items
      .filter((event) => event['reason'] === reason)
      .map((event) => {
        const { kind, name } = event['regarding'] as { kind: string; name: string };
        return `${kind} ${name}: ${String(event['note'])}`;
      });

  test('that is restarted gets an Event, and so does the Istio resource', { timeout: 180_000 }, async () => {
    await running(workload('plain'));
    await changeSidecars();
    await until(() => isCurrent('plain'), DEADLINE_MS);
    const restarted = 'Restarted for the service mesh: requests.cpu of its sidecar is 10m, and should be 21m';
    for (const reason of ['RestartedForMesh', 'RestartingWorkloads']) {
      await until(async () => (await eventsOf(reason)).length > 0);
    }
    expect(await eventsOf('RestartedForMesh')).toEqual([`Deployment plain: ${restarted}`]);
    expect(await eventsOf('RestartingWorkloads')).toEqual([
      'Istio default: Restarting Deployment shop/plain: 0 of 1 are done',
    ]);
  });

  test('waits for its maintenance window without blocking others', { timeout: 180_000 }, async () => {
    const day = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'][(new Date().getUTCDay() + 3) % 7]!;
    const name = 'windowed';
    await running(workload(name, { annotations: { [`${ANNOTATION}/maintenance-window`]: `${day} 00:00-01:00` } }));
    const before = await template(name);
    await changeSidecars();
    await until(() => isCurrent('plain'), DEADLINE_MS);
    const waits = /^its maintenance window opens at \d{4}-\d\d-\d\dT00:00:00Z$/;
    await until(async () => waits.test((await waitingOf(name)) ?? ''), DEADLINE_MS);
    await reached(client, 'Ready', VERSION);
    expect(await template(name)).toBe(before);
    const annotations = { [`${ANNOTATION}/maintenance-window`]: '00:00-24:00' };
    await client.patch(Deployment, { namespace: SHOP, name }, { type: 'merge', body: { metadata: { annotations } } });
    await until(() => isCurrent(name), DEADLINE_MS);
  });

  test('waits for a PodDisruptionBudget that allows no disruption', { timeout: 180_000 }, async () => {
    const name = 'guarded';
    const ref = { namespace: SHOP, name };
    await running(workload(name, { spec: DISTURBING }));
    const spec = { minAvailable: 2, selector: { matchLabels: { app: name } } };
    await client.create(PodDisruptionBudget, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: ref,
      spec,
    });
    await counted(0);
    const before = await template(name);
    await changeSidecars();
    const forbidden = 'PodDisruptionBudget shop/guarded allows no disruption';
    await until(async () => (await waitingOf(name)) === forbidden, DEADLINE_MS);
    await until(() => isCurrent('plain'), DEADLINE_MS);
    // For a short time it waits for the rollouts of others.
    await until(async () => (await waitingOf(name)) === forbidden, DEADLINE_MS);
    expect(await template(name)).toEqual(before);
    await client.patch(PodDisruptionBudget, ref, { type: 'merge', body: { spec: { minAvailable: 1 } } });
    await counted(1);
    await until(() => isCurrent(name), DEADLINE_MS);

    /** Resolves when the budget allows this number of disruptions. */
    async function counted(disruptionsAllowed: number): Promise<void> {
      await until(async () => {
        const { metadata, status } = (await client.get(PodDisruptionBudget, ref)) as AnyObject & {
          status?: { observedGeneration?: number; disruptionsAllowed?: number };
        };
        const isObserved = status?.observedGeneration === metadata.generation;
        return isObserved && (status?.disruptionsAllowed ?? 0) === disruptionsAllowed;
      }, DEADLINE_MS);
    }
  });

  test('that is outdated and not healthy is listed, but not restarted', { timeout: 180_000 }, async () => {
    const name = 'broken';
    const podAnnotations = { 'offshoot.dev/simulate': 'never-ready' };
    await client.create(Deployment, workload(name, { podAnnotations }));
    await until(async () => (await client.get(Deployment, { namespace: SHOP, name })).status?.updatedReplicas === 2);
    const before = await template(name);
    await changeSidecars();
    await until(async () => (await waitingOf(name)) === '0 of 2 pods are available', DEADLINE_MS);
    expect(await template(name)).toBe(before);
    await client.delete(Deployment, { namespace: SHOP, name });
  });

  test(
    'without a sidecar is listed, and restarted only if its namespace has the annotation',
    { timeout: 180_000 },
    async () => {
      const namespace = 'late';
      await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
      const { metadata, ...rest } = workload('late');
      await running({ ...rest, metadata: { ...metadata, namespace } });
      const change = (body: object): Promise<unknown> =>
        client.patch(Namespace, { name: namespace }, { type: 'merge', body: { metadata: body } });
      await change({ labels: { 'istio-injection': 'enabled' } });
      const dryRun = async (): Promise<string> =>
        (await runnerFor(cluster.kubeconfigPath).run('mesh', 'restart', '--outdated', '--dry-run')).stdout;
      const why = 'injection is on in namespace late, and it has no sidecar';
      const listed = new RegExp(`^Pod late/late-\\S+: only with --uninjected; ${why}$`, 'm');
      await until(async () => listed.test(await dryRun()), DEADLINE_MS);
      const uninjected = async (): Promise<NonNullable<Istio['status']>['uninjected']> =>
        (await client.get(Istio, RESOURCE)).status?.uninjected;
      await until(async () => (await uninjected())?.total === 2, DEADLINE_MS);
      await settled(manager, 30_000);
      expect(await sidecars(namespace, 'late')).toEqual([undefined, undefined]);
      expect(await uninjected()).toMatchObject({ total: 2, pods: [{ namespace }, { namespace }] });

      const annotations = { [`${ANNOTATION}/restart-uninjected`]: 'true' };
      await change({ annotations });
      await until(() => isCurrent('late', namespace), DEADLINE_MS);
      await reached(client, 'Ready', VERSION);
      const events = async (): Promise<readonly string[]> =>
        (await eventsOf('RestartedForMesh')).filter((event) => event.startsWith('Deployment late'));
      await until(async () => (await events()).length > 0, DEADLINE_MS);
      await settled(manager, 30_000);
      expect(await events()).toEqual([`Deployment late: Restarted for the service mesh: ${why}`]);
    },
  );
});
