// What is left when the finalizers of an environment are removed by hand while no controller runs.
import { beforeAll, expect, test } from 'vitest';
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import { createLogger, Manager } from '../../src/controller/index.ts';
import { environments } from '../../src/environments/index.ts';
import type { Settings } from '../../src/environments/index.ts';
import { WATCH_ANNOTATION } from '../../src/environments/identity/ownership.ts';
import { Deployment } from '../../src/environments/objects.ts';
import { DestinationRule, VirtualService } from '../../src/traffic/istio/objects.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import { Event } from '../../src/kube/events.ts';
import type { Kind, KubeObject, Ref } from '../../src/kube/objects.ts';
import { describeClusters } from '../cluster/index.ts';
import { until } from '../support/until.ts';
import { installKinds } from './install.ts';
import { environment, isIn, makeWorkload, workload } from './workload.ts';

describeClusters('orphans', (cluster) => {
  let client: Client;
  beforeAll(async () => {
    client = cluster.client();
    await installKinds(client);
  });

  const isThere = (kind: Kind<KubeObject>, ref: Ref): Promise<boolean> =>
    client.get(kind, ref).then(
      () => true,
      (error: unknown) => {
        if (isNotFound(error)) return false;
        throw error;
      },
    );

  /** Runs controllers for as long as some work takes. */
  async function whileRunning(settings: Partial<Settings>, work: (manager: Manager) => Promise<void>): Promise<void> {
    const controllers = environments({ drainMs: 0, settleMs: 0, ...settings });
    const manager = new Manager({ client, controllers, logger: createLogger({ level: 'error' }) });
    await manager.start();
    try {
      await work(manager);
    } finally {
      await manager.stop();
    }
  }

  test('are removed, routes first, and objects of users are kept', { timeout: 120_000 }, async () => {
    const namespace = await cluster.namespace('orphans');
    await makeWorkload(client, namespace, 'cart');
    const env = environment(namespace, 'feature', [{ name: 'cart', namespace }]);
    const clone = { name: `cart-${namespace.slice(0, 20)}-feature`, namespace };
    const rule = { name: `${clone.name}-cart`, namespace };
    await whileRunning({}, async () => {
      await client.create(DynamicEnv, env);
      await until(() => isIn(client, env.metadata, 'ready'), 60_000);
    });
    // No controller runs.
    await client.patch(DynamicEnv, env.metadata, { type: 'merge', body: { metadata: { finalizers: null } } });
    await client.delete(DynamicEnv, env.metadata);
    await until(async () => !(await isThere(DynamicEnv, env.metadata)));
    const { deployment } = workload(namespace, 'own');
    const annotations = { [WATCH_ANNOTATION]: `${namespace}/feature` };
    await client.create(Deployment, { ...deployment, metadata: { ...deployment.metadata, annotations } });

    // First they are reported.
    await whileRunning({ orphanSweepMs: 50 }, async ({ metrics }) => {
      await until(async () => {
        const { items } = await client.list(Event, { namespace });
        const reported = items.filter(({ reason }) => reason === 'Orphaned').map(({ regarding }) => regarding.name);
        return new Set(reported).size === 3;
      });
      const text = await metrics.text();
      expect(text).toMatch(/offshoot_orphaned_objects\{kind="Deployment",certain="true"\} [1-9]/);
      expect(text).toMatch(/offshoot_orphaned_objects\{kind="Deployment",certain="false"\} [1-9]/);
    });
    expect(await isThere(Deployment, clone)).toBe(true);

    // Then they are removed. No route ever leads to a missing object.
    let isStranded = false;
    await whileRunning({ orphanSweepMs: 50, orphanGraceMs: 0 }, async () => {
      await until(async () => {
        const hasRule = await isThere(DestinationRule, rule);
        const { spec } = await client.get(VirtualService, { name: 'cart', namespace });
        isStranded ||= !hasRule && spec?.http?.length !== 1;
        return !hasRule && !(await isThere(Deployment, clone));
      }, 30_000);
    });
    expect(isStranded).toBe(false);
    const { spec, metadata } = await client.get(VirtualService, { name: 'cart', namespace });
    expect(spec?.http).toEqual(workload(namespace, 'cart').routes.spec?.http);
    expect(metadata.annotations?.[WATCH_ANNOTATION]).toBe('');
    expect(await isThere(Deployment, { name: 'own', namespace })).toBe(true);
  });
});
