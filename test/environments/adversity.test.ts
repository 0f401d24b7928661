// A running environment when objects that it depends on are deleted and recreated.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import { installDefinitions } from '../../src/cli/run/crds.ts';
import { partsOf } from '../../src/cli/run/parts.ts';
import { createLogger, Manager } from '../../src/controller/index.ts';
import { startEmbedded } from '../../src/embedded/index.ts';
import { environments } from '../../src/environments/index.ts';
import { Deployment, Service } from '../../src/environments/objects.ts';
import { DestinationRule, VirtualService } from '../../src/traffic/istio/objects.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { connect } from '../../src/kube/client/connect.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import { defineKind } from '../../src/kube/objects.ts';
import type { AnyKind, KubeObject, Ref } from '../../src/kube/objects.ts';
import { describeClusters } from '../cluster/index.ts';
import { settled, until } from '../support/until.ts';
import { installKinds } from './install.ts';
import { environment, isIn, makeWorkload, workload } from './workload.ts';
import { environmentsManager } from './manager.ts';

const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });
const DEADLINE = 60_000;

test(
  'an environment reports that Istio is missing, and continues once it is installed',
  { timeout: 2 * DEADLINE },
  async () => {
    const cluster = await startEmbedded();
    const client = connect({ server: cluster.url, caPem: cluster.caPem, token: cluster.admin.token });
    await installDefinitions(client, partsOf(['environments']));
    const logger = createLogger({ level: 'silent' });
    const manager = new Manager({ client, controllers: environments(), logger });
    try {
      await manager.start();
      const namespace = 'default';
      const { deployment, service, rule, routes } = workload(namespace, 'cart');
      await client.create(Deployment, deployment);
      await client.create(Service, service);
      const env = await client.create(DynamicEnv, environment(namespace, 'feature', [{ name: 'cart', namespace }]));
      await until(() => isIn(client, env.metadata, 'degraded'), DEADLINE);
      const routed = (await client.get(DynamicEnv, env.metadata)).status?.conditions?.find(
        ({ type }) => type === 'Routed',
      );
      expect(routed?.message).toContain(
        'the cluster does not know destinationrules.networking.istio.io: install Istio',
      );

      await installKinds(client);
      await client.create(DestinationRule, rule);
      await client.create(VirtualService, routes);
      await until(() => isIn(client, env.metadata, 'ready'), DEADLINE);
    } finally {
      await manager.stop();
      client.close();
      await cluster.stop();
    }
  },
);

describeClusters('an environment', (cluster) => {
  let client: Client;
  let manager: Manager;
  beforeAll(async () => {
    client = cluster.client();
    await installKinds(client);
    manager = environmentsManager({ client });
    await manager.start();
  });
  afterAll(() => manager.stop());

  /** An environment of one workload that is ready. */
  async function readyIn(namespace: string): Promise<Ref> {
    const env = { name: 'feature', namespace };
    await makeWorkload(client, namespace, 'cart');
    await client.create(DynamicEnv, environment(namespace, env.name, [{ name: 'cart', namespace }]));
    await until(() => isIn(client, env, 'ready'), DEADLINE);
    return env;
  }

  /** A namespace that the test itself deletes. */
  async function temporaryNamespace(): Promise<string> {
    const metadata = { generateName: 'doomed-' } as unknown as KubeObject['metadata'];
    return (await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata })).metadata.name;
  }

  function untilGone(kind: AnyKind, ref: Ref): Promise<void> {
    return until(() => client.get<KubeObject>(kind, ref).then(() => false, isNotFound), DEADLINE);
  }

  test('keeps its clone and routes while its base is deleted', { timeout: 2 * DEADLINE }, async () => {
    const namespace = await cluster.namespace('base');
    const env = await readyIn(namespace);
    const clone = { name: `cart-${namespace.slice(0, 20)}-feature`, namespace };
    const { uid } = (await client.get(Deployment, clone)).metadata;
    await client.delete(Deployment, { name: 'cart', namespace });
    await until(() => isIn(client, env, 'degraded'), DEADLINE);
    expect((await client.get(VirtualService, { name: 'cart', namespace })).spec?.http).toHaveLength(2);
    await client.create(Deployment, workload(namespace, 'cart').deployment);
    await until(() => isIn(client, env, 'ready'), DEADLINE);
    expect((await client.get(Deployment, clone)).metadata.uid).toBe(uid);
  });

  test('gets its routes again when a VirtualService is recreated', { timeout: 2 * DEADLINE }, async () => {
    const namespace = await cluster.namespace('anew');
    const env = await readyIn(namespace);
    const service = { name: 'cart', namespace };
    await client.delete(VirtualService, service);
    await until(() => isIn(client, env, 'degraded'), DEADLINE);
    const { status } = await client.get(DynamicEnv, env);
    expect(status?.subsetsStatus[`${namespace}/cart`]?.virtualServices).toBeUndefined();
    await client.create(VirtualService, workload(namespace, 'cart').routes);
    await until(() => isIn(client, env, 'ready'), DEADLINE);
    expect((await client.get(VirtualService, service)).spec?.http).toHaveLength(2);
  });

  test('is deleted with its namespace', { timeout: 2 * DEADLINE }, async () => {
    const namespace = await temporaryNamespace();
    await readyIn(namespace);
    await client.delete(Namespace, { name: namespace });
    await untilGone(Namespace, { name: namespace });
    expect((await client.list(DynamicEnv, { namespace })).items).toEqual([]);
  });

  test('is kept when the namespace of a subset is deleted, and can be deleted', { timeout: 2 * DEADLINE }, async () => {
    const [namespace, other] = [await cluster.namespace('home'), await temporaryNamespace()];
    const env = await readyIn(namespace);
    await makeWorkload(client, other, 'web');
    const both = environment(namespace, env.name, [
      { name: 'cart', namespace },
      { name: 'web', namespace: other },
    ]);
    await client.patch(DynamicEnv, env, { type: 'merge', body: { spec: both.spec } });
    await until(async () => (await client.get(DynamicEnv, env)).status?.totalReady === 2, DEADLINE);
    await client.delete(Namespace, { name: other });
    await untilGone(Namespace, { name: other });
    await until(() => isIn(client, env, 'degraded'), DEADLINE);
    await settled(manager);
    const { status } = await client.get(DynamicEnv, env);
    expect(status?.subsetsStatus[`${namespace}/cart`]?.subsetErrors).toBeUndefined();
    const errors = status?.subsetsStatus[`${other}/web`]?.subsetErrors?.deployment ?? [];
    expect(errors.map(({ error }) => error)).toEqual([
      `couldn't find the deployment we need to override (name: web, ns: ${other}), Deployment.apps "web" not found`,
    ]);
    await client.delete(DynamicEnv, env);
    await untilGone(DynamicEnv, env);
    const { items } = await client.list(Deployment, { namespace });
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['cart']);
  });
});
