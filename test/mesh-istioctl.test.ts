// The manifests of the real istioctl through a whole lifecycle: installed, repaired after drift and removed. Pods are
// simulated, so istiod's own webhooks never answer.
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Istio } from '../src/api/istio.ts';
import { createLogger, Manager } from '../src/controller/index.ts';
import { keyOf } from '../src/kube/index.ts';
import type { AnyObject, Client } from '../src/kube/index.ts';
import { istioctlRenderer, ISTIO_NAMESPACE, mesh, MODULE_NAMESPACE, UNINSTALLED_KINDS } from '../src/mesh/index.ts';
import type { Renderer } from '../src/mesh/index.ts';
import { describeOwnClusters } from './cluster/index.ts';
import { installKinds } from './mesh-lifecycle/all.ts';
import { takeAway } from './mesh-lifecycle/leftovers.ts';
import { istioNode } from './programs/istio.ts';
import { findPrograms } from './programs/programs.ts';
import { ConfigMap } from './support/core-kinds.ts';
import { NOT_SCALED } from './support/running-mesh.ts';
import { settled, until } from './support/until.ts';

const found = findPrograms(istioNode, ['istioctl']);
const LABEL = 'operator.istio.io/component';
const meshConfig = { namespace: ISTIO_NAMESPACE, name: 'istio' };
/** Kinds that the test does not delete: all objects of a definition would go with it, and pods are recreated anyway. */
const KEPT = new Set(['CustomResourceDefinition', 'Pod']);
const resource = { namespace: MODULE_NAMESPACE, name: 'default' };

const namesOf = (objects: readonly AnyObject[]): string =>
  objects
    .flatMap(({ kind, metadata }) => (kind === 'Pod' ? [] : [`${kind} ${keyOf(metadata)}`]))
    .sort()
    .join('\n');

describeOwnClusters('a mesh of the real istioctl', (cluster) => {
  let client: Client;
  let manager: Manager;
  let writes = 0;
  let rendered = 0;

  beforeAll(async () => {
    if ('missing' in found) return;
    client = cluster.client();
    await installKinds(client);
    await startControllers();
  });
  afterAll(async () => {
    await manager?.stop();
  });

  async function startControllers(): Promise<void> {
    if ('missing' in found) return;
    const istioctl = istioctlRenderer({ program: path.join(found.dir, 'istioctl') });
    const renderer: Renderer = {
      ...istioctl,
      async render(...args) {
        const manifests = await istioctl.render(...args);
        rendered++;
        return manifests;
      },
    };
    manager = new Manager({
      client,
      controllers: mesh({ renderer }),
      logger: createLogger({ level: 'error' }),
      onWrite: () => writes++,
    });
    await manager.start();
  }

  const isReady = async (): Promise<boolean> => (await client.get(Istio, resource)).status?.state === 'Ready';
  /** Every object of the installation. */
  const installed = async (): Promise<readonly AnyObject[]> => {
    const lists = await Promise.all(
      UNINSTALLED_KINDS.map((kind) => client.list(kind, { labelSelector: LABEL }).catch(() => ({ items: [] }))),
    );
    return lists.flatMap(({ items }) => items);
  };

  test.skipIf('missing' in found)(
    'is installed, repaired after drift, and removed completely',
    async () => {
      await client.create(Istio, {
        apiVersion: 'operator.kyma-project.io/v1alpha2',
        kind: 'Istio',
        metadata: resource,
        spec: NOT_SCALED,
      });
      await until(isReady, 90_000);
      await settled(manager, 30_000);
      const before = await installed();
      expect(before.length).toBeGreaterThan(40);
      const kinds = new Map(before.map((object) => [object.kind, object]));
      expect([...kinds.keys()]).toEqual(
        expect.arrayContaining(['CustomResourceDefinition', 'DaemonSet', 'HorizontalPodAutoscaler']),
      );

      // Another reconcile writes nothing.
      const quiet = writes;
      await client.patch(Istio, resource, { type: 'merge', body: { metadata: { labels: { touched: 'true' } } } });
      await until(() => manager.tables.of(Istio).get(keyOf(resource))?.metadata.labels?.['touched'] === 'true');
      await settled(manager, 30_000);
      expect(writes).toBe(quiet);

      // Neither does a restarted process.
      await manager.stop();
      rendered = 0;
      await startControllers();
      await until(() => rendered > 0, 30_000);
      await settled(manager, 30_000);
      expect(writes).toBe(quiet);

      // Deletes one object of each kind.
      for (const object of kinds.values()) {
        if (KEPT.has(object.kind)) continue;
        const kind = UNINSTALLED_KINDS.find((each) => each.kind === object.kind)!;
        await client.delete(kind, object.metadata);
      }
      await until(async () => namesOf(await installed()) === namesOf(before), 60_000);
      const body = { data: { mesh: 'accessLogFile: /dev/stdout' } };
      await client.patch(ConfigMap, meshConfig, { type: 'merge', body });
      await until(async () => JSON.stringify(await client.get(ConfigMap, meshConfig)).includes('trustDomain'), 30_000);
      await until(isReady, 60_000);

      expect(await takeAway(client)).toEqual([]);
      expect(await installed()).toEqual([]);
    },
    240_000,
  );
});
