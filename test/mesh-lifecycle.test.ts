// The life of Istio from end to end, on both clusters, with the built-in renderer.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Istio } from '../src/api/istio.ts';
import { startControlPlane } from '../src/cli/run/control-plane.ts';
import type { ControlPlane } from '../src/cli/run/control-plane.ts';
import { installDefinitions } from '../src/cli/run/crds.ts';
import { partsOf } from '../src/cli/run/parts.ts';
import { createLogger } from '../src/controller/index.ts';
import { defineKind, isNotFound, keyOf, loadConfig } from '../src/kube/index.ts';
import type { AnyObject, Client, Kind, KubeObject, Ref } from '../src/kube/index.ts';
import { builtinRenderer, UNINSTALLED_KINDS } from '../src/mesh/index.ts';
import { describeOwnClusters } from './cluster/index.ts';
import { settled, until } from './support/until.ts';

const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });
const Deployment = defineKind('apps/v1', 'Deployment', 'deployments');
const ConfigMap = defineKind('v1', 'ConfigMap', 'configmaps');

const ISTIO: Istio = {
  apiVersion: 'operator.kyma-project.io/v1alpha2',
  kind: 'Istio',
  metadata: { name: 'default', namespace: 'kyma-system' },
  spec: {},
};

describeOwnClusters('the life of Istio', (cluster) => {
  let client: Client;
  let plane: ControlPlane;
  let writes = 0;

  beforeAll(async () => {
    client = cluster.client();
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kyma-system' } });
    plane = await startControlPlane({
      config: loadConfig({ path: cluster.kubeconfigPath }),
      parts: partsOf(['mesh']),
      mesh: { renderer: builtinRenderer },
      namespace: 'kyma-system',
      logger: createLogger({ level: 'warn' }),
      onWrite: (count) => (writes = count),
      prepare: (each) => installDefinitions(each, partsOf(['mesh'])),
    });
  });
  afterAll(async () => {
    await plane.stop();
  });

  const find = <T extends KubeObject>(kind: Kind<T>, ref: Ref): Promise<T | undefined> =>
    client.get(kind, ref).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      return undefined;
    });
  const istio = (): Promise<Istio | undefined> => find(Istio, ISTIO.metadata);

  test('it is installed, kept as it is, and removed without a trace', async () => {
    await client.create(Istio, ISTIO);
    await until(async () => (await istio())?.status?.state === 'Ready', 60_000);
    expect(await istio()).toMatchObject({
      metadata: { finalizers: ['istios.operator.kyma-project.io/istio-installation'] },
      status: { state: 'Ready', observedGeneration: 1, istioVersion: '1.31.0' },
    });

    // Somebody touches the resource: everything is looked at again, and nothing is written.
    await settled(plane.manager);
    const before = writes;
    await client.patch(Istio, ISTIO.metadata, { type: 'merge', body: { metadata: { labels: { touched: 'true' } } } });
    await until(
      () => plane.manager.tables.of(Istio).get('kyma-system/default')?.metadata.labels?.['touched'] === 'true',
    );
    await settled(plane.manager);
    expect(writes).toBe(before);

    const gateway = { namespace: 'istio-system', name: 'istio-ingressgateway' };
    const meshConfig = { namespace: 'istio-system', name: 'istio' };
    await client.delete(Deployment, gateway);
    await client.patch(ConfigMap, meshConfig, { type: 'merge', body: { data: { mesh: 'somebody: else' } } });
    await until(async () => (await find(Deployment, gateway)) !== undefined);
    await until(async () => JSON.stringify(await find(ConfigMap, meshConfig)).includes('trustDomain'));
    await settled(plane.manager);
    await until(async () => (await istio())?.status?.state === 'Ready', 60_000);

    await client.delete(Istio, ISTIO.metadata);
    await until(async () => (await istio()) === undefined, 60_000);
    const left = (await Promise.all(UNINSTALLED_KINDS.map((kind) => client.list(kind).catch(() => ({ items: [] })))))
      .flatMap(({ items }) => items as readonly AnyObject[])
      .filter(({ metadata }) => metadata.labels?.['operator.istio.io/component'] !== undefined)
      .map(({ kind, metadata }) => `${kind} ${keyOf(metadata)}`);
    expect(left).toEqual([]);
    await until(async () => (await find(Namespace, { name: 'istio-system' })) === undefined, 30_000);
  }, 120_000);
});
