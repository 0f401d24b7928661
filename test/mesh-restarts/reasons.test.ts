// Each reason to restart, end to end: something changes in the mesh, and every workload is restarted once.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Istio } from '../../src/api/istio.ts';
import type { Manager } from '../../src/controller/index.ts';
import { defineKind } from '../../src/kube/index.ts';
import type { AnyObject, Client } from '../../src/kube/index.ts';
import type { Pod } from '../../src/mesh/index.ts';
import { describeOwnClusters } from '../cluster/index.ts';
import { settled, until } from '../support/until.ts';
import type { Injector } from './injector.ts';
import {
  createIstio,
  Deployment,
  imageOf,
  Pods,
  podsOf,
  prepare,
  reached,
  RESOURCE,
  SHOP,
  startMesh,
  workload,
  WORKLOADS,
} from './world.ts';

const EnvoyFilter = defineKind('networking.istio.io/v1alpha3', 'EnvoyFilter', 'envoyfilters');
const ConfigMap = defineKind('v1', 'ConfigMap', 'configmaps');
const GATEWAY = { namespace: 'istio-system', name: 'istio-ingressgateway' };
/** This version uses an EnvoyFilter that proxies read only at startup. */
const OLD = '1.20.8';
const NEW = '1.21.0';

describeOwnClusters('workloads are restarted once', (cluster) => {
  // The embedded cluster creates no pods for ReplicationControllers.
  const workloads = Object.entries(WORKLOADS).filter(
    ([kind]) => kind !== 'ReplicationController' || cluster.name !== 'embedded',
  );
  const names = workloads.map(([kind]) => kind.toLowerCase());
  const total = names.length * 2 - 1;
  let client: Client;
  let injector: Injector;
  let manager: Manager;

  beforeAll(async () => {
    client = cluster.client();
    injector = await prepare(client);
    manager = await startMesh(client, { istioVersion: OLD });
    await createIstio(client);
    await reached(client, 'Ready', OLD);
    for (const [kind, of] of workloads) await client.create(of, workload(kind.toLowerCase(), { kind }));
    await until(async () => (await Promise.all(names.map(running))).every(Boolean), 60_000);
  }, 120_000);

  afterAll(async () => {
    await manager?.stop();
    await injector?.close();
  });

  const running = async (name: string): Promise<boolean> => {
    const pods = await podsOf(client, name);
    const isReady = ({ status }: Pod): boolean =>
      status?.conditions?.some(({ type, status: holds }) => type === 'Ready' && holds === 'True') ?? false;
    return pods.length === (name === 'daemonset' ? 1 : 2) && pods.every(isReady);
  };
  const uids = async (name: string): Promise<string[]> =>
    (await podsOf(client, name)).map(({ metadata }) => metadata.uid!);
  /** The generation and annotations of each workload, which every restart changes. */
  const revisions = async (): Promise<Readonly<Record<string, string>>> =>
    Object.fromEntries(
      await Promise.all(
        workloads.map(async ([kind, of]): Promise<[string, string]> => {
          const live = await client.get(of, { namespace: SHOP, name: kind.toLowerCase() });
          return [kind, `${live.metadata.generation} ${JSON.stringify(live.metadata.annotations)}`];
        }),
      ),
    );
  /** How often the pods of the gateway were replaced. Its generation would also count autoscaling. */
  const gatewayRevision = async (): Promise<number> =>
    Number((await client.get(Deployment, GATEWAY)).metadata.annotations?.['deployment.kubernetes.io/revision']);

  /** Makes a change, waits until all pods are replaced and `isNew` holds, and returns what is then restarted again. */
  async function restarts(act: () => Promise<unknown>, isNew: (pod: Pod) => boolean): Promise<readonly string[]> {
    const before = new Set((await Promise.all(names.map(uids))).flat());
    const pods = async (): Promise<readonly Pod[]> =>
      (await Promise.all(names.map((name) => podsOf(client, name)))).flat();
    await act();
    await until(async () => {
      const now = await pods();
      const isDone = now.length === total && now.every((pod) => !before.has(pod.metadata.uid!) && isNew(pod));
      return isDone && (await Promise.all(names.map(running))).every(Boolean);
    }, 90_000).catch(async (error: unknown) => {
      const { status } = await client.get(Istio, RESOURCE);
      throw new Error(`${(error as Error).message}; ${JSON.stringify(status)}`);
    });
    await settled(manager, 30_000);
    const [after, all] = [await revisions(), (await pods()).map(({ metadata }) => metadata.uid)];
    // This wakes the controllers, but is not a reason to restart.
    const label = { metadata: { labels: { touched: String(Date.now()) } } };
    await client.patch(Istio, RESOURCE, { type: 'merge', body: label });
    await settled(manager, 30_000);
    const now = await revisions();
    const replaced = (await pods()).filter(({ metadata }) => !all.includes(metadata.uid));
    return [
      ...Object.keys(now).filter((kind) => now[kind] !== after[kind]),
      ...replaced.map(({ metadata }) => metadata.name),
    ];
  }

  test('when an EnvoyFilter has changed, and so are gateways', { timeout: 180_000 }, async () => {
    const filter = { namespace: 'istio-system', name: 'kyma-referer' };
    const body = { spec: { configPatches: [] } };
    const revision = await gatewayRevision();
    const again = await restarts(
      () => client.patch(EnvoyFilter, filter, { type: 'merge', body }),
      () => true,
    );
    expect(again).toEqual([]);
    await until(async () => (await gatewayRevision()) === revision + 1);
    await reached(client, 'Ready', OLD);
  });

  test('when the version of Istio changes', { timeout: 180_000 }, async () => {
    const again = await restarts(
      async () => {
        await manager.stop();
        manager = await startMesh(client, { istioVersion: NEW });
      },
      (pod) => imageOf(pod) === `docker.io/istio/proxyv2:${NEW}-distroless`,
    );
    expect(again).toEqual([]);
    await reached(client, 'Ready', NEW);
  });

  test('when the resources of sidecars change', { timeout: 180_000 }, async () => {
    const resources = { requests: { cpu: '30m', memory: '190Mi' }, limits: { cpu: '700m', memory: '700Mi' } };
    const body = { spec: { components: { proxy: { k8s: { resources } } } } };
    const requests = ({ spec }: Pod): unknown =>
      spec?.containers?.find(({ name }) => name === 'istio-proxy')?.resources?.requests?.cpu;
    const again = await restarts(
      () => client.patch(Istio, RESOURCE, { type: 'merge', body }),
      (pod) => requests(pod) === '30m',
    );
    expect(again).toEqual([]);
    await reached(client, 'Ready', NEW);
  });

  test('when CNI is disabled', { timeout: 180_000 }, async () => {
    const metadata = { namespace: 'kyma-system', name: 'istio-features' };
    const data = { features: JSON.stringify({ disableCni: true }) };
    const features: AnyObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
    const again = await restarts(
      () => client.create(ConfigMap, features),
      ({ spec }) => spec?.initContainers?.some(({ name }) => name === 'istio-init') ?? false,
    );
    expect(again).toEqual([]);
    await reached(client, 'Ready', NEW);
  });

  test('when a setting changes that proxies read only at startup', { timeout: 180_000 }, async () => {
    const body = { spec: { config: { enableDNSProxying: true } } };
    const again = await restarts(
      () => client.patch(Istio, RESOURCE, { type: 'merge', body }),
      () => true,
    );
    expect(again).toEqual([]);
    await reached(client, 'Ready', NEW);
  });

  test('but only gateways when the number of trusted proxies changes', { timeout: 180_000 }, async () => {
    const before = { revisions: await revisions(), revision: await gatewayRevision() };
    const body = { spec: { config: { numTrustedProxies: 2 } } };
    await client.patch(Istio, RESOURCE, { type: 'merge', body });
    await until(async () => (await gatewayRevision()) > before.revision, 30_000);
    await reached(client, 'Ready', NEW);
    await settled(manager, 30_000);
    expect(await gatewayRevision()).toBe(before.revision + 1);
    expect(await revisions()).toEqual(before.revisions);
  });

  test('but pods without an owner are reported by name', { timeout: 180_000 }, async () => {
    const metadata = { namespace: SHOP, name: 'alone' };
    const spec = { containers: [{ name: 'app', image: 'example.org/app' }] };
    await client.create(Pods, { apiVersion: 'v1', kind: 'Pod', metadata, spec });
    await until(async () => (await client.get(Pods, metadata)).status?.phase === 'Running', 30_000);
    const body = { spec: { components: { proxy: { k8s: { resources: { requests: { cpu: '31m' } } } } } } };
    await client.patch(Istio, RESOURCE, { type: 'merge', body });
    const { status } = await reached(client, 'Warning', NEW, 90_000);
    expect(status?.conditions?.find(({ type }) => type === 'ProxySidecarRestartSucceeded')).toMatchObject({
      reason: 'ProxySidecarManualRestartRequired',
      message: 'The sidecars of the following workloads could not be restarted: shop/alone',
    });
    await client.delete(Pods, metadata);
    await reached(client, 'Ready', NEW, 90_000);
  });

  test('when Istio is uninstalled, to remove their sidecars', { timeout: 180_000 }, async () => {
    const gone = (): Promise<boolean> =>
      client.get(Istio, RESOURCE).then(
        () => false,
        () => true,
      );
    await client.delete(Istio, RESOURCE);
    await until(gone, 120_000);
    const pods = (await Promise.all(names.map((name) => podsOf(client, name)))).flat();
    expect(pods.map(imageOf)).toEqual(Array.from({ length: total }, () => undefined));
  });
});
