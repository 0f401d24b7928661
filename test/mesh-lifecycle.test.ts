// The lifecycle of Istio from end to end, on both clusters, with the whole control plane and the built-in renderer.
import { afterEach, beforeAll, expect, test } from 'vitest';
import { Istio } from '../src/api/istio.ts';
import { startControlPlane } from '../src/cli/run/control-plane.ts';
import type { ControlPlane } from '../src/cli/run/control-plane.ts';
import { installDefinitions } from '../src/cli/run/crds.ts';
import { partsOf } from '../src/cli/run/parts.ts';
import { createLogger } from '../src/controller/index.ts';
import { keyOf, loadConfig } from '../src/kube/index.ts';
import type { AnyObject, Client } from '../src/kube/index.ts';
import { builtinRenderer, UNINSTALLED_KINDS } from '../src/mesh/index.ts';
import { describeOwnClusters } from './cluster/index.ts';
import { istioVersion } from './programs/istio.ts';
import { ConfigMap, Deployment, Namespace } from './support/core-kinds.ts';
import { findObject } from './support/find-object.ts';
import { NOT_SCALED } from './support/running-mesh.ts';
import { settled, until } from './support/until.ts';

const ISTIO: Istio = {
  apiVersion: 'operator.kyma-project.io/v1alpha2',
  kind: 'Istio',
  metadata: { name: 'default', namespace: 'kyma-system' },
  spec: NOT_SCALED,
};

describeOwnClusters('Istio', (cluster) => {
  let client: Client;
  let plane: ControlPlane | undefined;
  let writes = 0;

  beforeAll(async () => {
    client = cluster.client();
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kyma-system' } });
  });
  afterEach(async () => {
    await plane?.stop();
  });

  const start = async (): Promise<ControlPlane> =>
    (plane = await startControlPlane({
      config: loadConfig({ path: cluster.kubeconfigPath }),
      parts: partsOf(['mesh']),
      mesh: { renderer: builtinRenderer, istioVersion },
      namespace: 'kyma-system',
      logger: createLogger({ level: 'error' }),
      onWrite: (count) => (writes = count),
      prepare: (each) => installDefinitions(each, partsOf(['mesh'])),
    }));
  const istio = (): Promise<Istio | undefined> => findObject(client, Istio, ISTIO.metadata);
  const ready = (): Promise<void> => until(async () => (await istio())?.status?.state === 'Ready', 60_000);

  /** All objects of Istio. */
  async function installed(): Promise<readonly AnyObject[]> {
    const lists = await Promise.all(UNINSTALLED_KINDS.map((kind) => client.list(kind).catch(() => ({ items: [] }))));
    return lists
      .flatMap(({ items }) => items as readonly AnyObject[])
      .filter(({ metadata }) => metadata.labels?.['operator.istio.io/component'] !== undefined);
  }
  /** The same without what the cluster itself writes, such as the status of autoscalers. */
  const contents = async (): Promise<readonly unknown[]> =>
    (await installed()).map(({ status: _status, metadata, ...object }) => {
      const { resourceVersion: _version, managedFields: _fields, ...rest } = metadata;
      return { ...object, metadata: rest };
    });

  test('is installed, repaired after drift, and removed completely', async () => {
    const first = await start();
    await client.create(Istio, ISTIO);
    await ready();
    expect(await istio()).toMatchObject({
      metadata: {
        finalizers: ['istios.operator.kyma-project.io/istio-installation'],
        annotations: {
          'operator.kyma-project.io/lastAppliedConfiguration': JSON.stringify({
            config: {},
            ...NOT_SCALED,
            IstioTag: `${istioVersion}-distroless`,
          }),
        },
      },
      status: { state: 'Ready', observedGeneration: 1, istioVersion },
    });
    expect((await installed()).length).toBeGreaterThan(30);

    // A label on the resource causes a reconcile, which writes nothing.
    await settled(first.manager);
    const before = writes;
    await client.patch(Istio, ISTIO.metadata, { type: 'merge', body: { metadata: { labels: { touched: 'true' } } } });
    const known = first.manager.tables.of(Istio);
    await until(() => known.get('kyma-system/default')?.metadata.labels?.['touched'] === 'true');
    await settled(first.manager);
    expect(writes).toBe(before);

    // A restarted process writes nothing.
    await first.stop();
    const unchanged = await contents();
    writes = 0;
    const { manager } = await start();
    await settled(manager);
    expect(writes).toBe(0);
    expect(await contents()).toEqual(unchanged);

    const gateway = { namespace: 'istio-system', name: 'istio-ingressgateway' };
    const meshConfig = { namespace: 'istio-system', name: 'istio' };
    await client.delete(Deployment, gateway);
    await client.patch(ConfigMap, meshConfig, { type: 'merge', body: { data: { mesh: 'somebody: else' } } });
    await until(async () => (await findObject(client, Deployment, gateway)) !== undefined, 20_000);
    await until(
      async () => !JSON.stringify(await findObject(client, ConfigMap, meshConfig)).includes('somebody'),
      20_000,
    );
    await settled(manager);
    await ready();

    await client.delete(Istio, ISTIO.metadata);
    await until(async () => (await istio()) === undefined, 60_000);
    expect((await installed()).map(({ kind, metadata }) => `${kind} ${keyOf(metadata)}`)).toEqual([]);
    await until(async () => (await findObject(client, Namespace, { name: 'istio-system' })) === undefined, 30_000);
  }, 180_000);
});
