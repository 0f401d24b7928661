// What environments say of clones that do not run, or not for long.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import { createLogger, Manager } from '../../src/controller/index.ts';
import { environments } from '../../src/environments/index.ts';
import { Deployment, Pod } from '../../src/environments/objects.ts';
import { Event } from '../../src/kube/events.ts';
import { describeClusters } from '../cluster/index.ts';
import { until } from '../support/until.ts';
import { installKinds } from './install.ts';
import { environment, makeWorkload } from './workload.ts';

describeClusters('unhealthy clones', (cluster) => {
  let manager: Manager;

  beforeAll(async () => {
    const client = cluster.client();
    await installKinds(client);
    const logger = createLogger({ level: 'error' });
    manager = new Manager({ client, controllers: environments({ settleMs: 0, routeAfterMs: 1_000 }), logger });
    await manager.start();
  });

  afterAll(() => manager.stop());

  /** An environment of a workload whose pods live as told. */
  async function makeEnvironment(simulate: string): Promise<DynamicEnv & { metadata: { namespace: string } }> {
    const client = cluster.client();
    const namespace = await cluster.namespace('unhealthy');
    await makeWorkload(client, namespace, 'cart');
    const annotations = { 'offshoot.dev/simulate': simulate };
    const patch = { type: 'merge', body: { spec: { replicas: 0, template: { metadata: { annotations } } } } } as const;
    await client.patch(Deployment, { name: 'cart', namespace }, patch);
    const env = environment(namespace, 'feature', [{ name: 'cart', namespace }]);
    await client.create(DynamicEnv, env);
    return { ...env, metadata: { ...env.metadata, namespace } };
  }

  test('an Event says that requests are led to a clone that does not run', async () => {
    const { namespace } = (await makeEnvironment('no-image')).metadata;
    const client = cluster.client();
    const why = "ImagePullBackOff: container cart: image cart:2 can't be pulled: cart:2: not found";
    const notes = async (): Promise<(string | undefined)[]> => {
      const { items } = await client.list(Event, { namespace });
      return items.filter(({ reason }) => reason === 'RoutedWithoutClone').map(({ note }) => note);
    };
    await until(async () => (await notes()).length > 0);
    expect(await notes()).toEqual([
      `requests are led to Deployment ${namespace}/cart-${namespace}-feature, which does not run after 1 s (${why}): they get errors until it does`,
    ]);
  });

  test(
    'an environment whose clone is ready between its crashes does not alternate between ready and not',
    { timeout: 60_000 },
    async () => {
      const client = cluster.client();
      const env = await makeEnvironment('crash=1s');
      const { namespace } = env.metadata;

      const seen: string[] = [];
      await until(async () => {
        const { status } = await client.get(DynamicEnv, env.metadata);
        const routed = status?.conditions?.find(({ type }) => type === 'Routed');
        const now = `${status?.state} ${routed?.reason} ${status?.subsetsStatus[`${namespace}/cart`]?.deployment.message}`;
        if (seen.at(-1) !== now) seen.push(now);
        const pods = await client.list(Pod, { namespace, labelSelector: 'dynamic-env=true' });
        return pods.items.some(({ status: pod }) => (pod?.containerStatuses?.[0]?.restartCount ?? 0) > 3);
      }, 40_000);
      const crash = 'processing NotAnswered CrashLoopBackOff: container cart: ended with exit code 1 (Error)';
      expect(seen).toContain(crash);
      expect(seen.slice(seen.indexOf(crash))).toEqual([crash]);
    },
  );
});
