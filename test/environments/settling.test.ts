// A route must not reach a proxy together with its rule: it is added when the rule has existed for a while.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import { createLogger, Manager } from '../../src/controller/index.ts';
import { defaultSettings, environments } from '../../src/environments/index.ts';
import { isInserted } from '../../src/traffic/istio/inserted-routes.ts';
import { DestinationRule, VirtualService } from '../../src/traffic/istio/objects.ts';
import { describeClusters } from '../cluster/index.ts';
import { until } from '../support/until.ts';
import { installKinds } from './install.ts';
import { environment, isIn, makeWorkload } from './workload.ts';

describeClusters('a route', (cluster) => {
  let manager: Manager;

  beforeAll(async () => {
    const client = cluster.client();
    await installKinds(client);
    manager = new Manager({
      client,
      controllers: environments({ drainMs: 0 }),
      logger: createLogger({ level: 'error' }),
    });
    await manager.start();
  });

  afterAll(() => manager.stop());

  test('is added a second after its rule, the environment is ready a second later, and it is kept when the rule is recreated', async () => {
    const client = cluster.client();
    const namespace = await cluster.namespace('settling');
    await makeWorkload(client, namespace, 'cart');
    const env = environment(namespace, 'feature', [{ name: 'cart', namespace }]);
    await client.create(DynamicEnv, env);
    await until(() => isIn(client, env.metadata, 'ready'));
    const rule = { name: `cart-${namespace}-feature-cart`, namespace };
    const made = await client.get(DestinationRule, rule);
    const routed = await client.get(VirtualService, { name: 'cart', namespace });
    const edited = routed.metadata.managedFields?.find(({ manager: by }) => by === 'offshoot-environments')?.time;
    // Both times are whole seconds: the route was written at least settleMs after the end of the rule's second.
    const ageMs = Date.parse(edited!) - Date.parse(made.metadata.creationTimestamp!);
    expect(ageMs).toBeGreaterThanOrEqual(defaultSettings.settleMs + 1_000);
    // The environment is ready when proxies have had time to get the route.
    const { status } = await client.get(DynamicEnv, env.metadata);
    const ready = status?.conditions?.find(({ type }) => type === 'Ready');
    expect(Date.parse(ready!.lastTransitionTime) - Date.parse(edited!)).toBeGreaterThanOrEqual(
      defaultSettings.settleMs,
    );

    await client.delete(DestinationRule, rule);
    await until(async () => {
      const healed = await client.get(DestinationRule, rule).catch(() => undefined);
      return healed !== undefined && healed.metadata.uid !== made.metadata.uid;
    });
    await until(() => isIn(client, env.metadata, 'ready'));
    // The routes were not changed in between.
    const after = await client.get(VirtualService, { name: 'cart', namespace });
    expect(after.metadata.generation).toBe(routed.metadata.generation);
    expect(after.spec?.http?.filter(isInserted)).toHaveLength(1);
  });
});
