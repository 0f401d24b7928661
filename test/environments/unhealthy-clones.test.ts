// What environments report about clones that do not run, or not for long.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import { createLogger, Manager } from '../../src/controller/index.ts';
import { environments } from '../../src/environments/index.ts';
import { PodEvent } from '../../src/environments/clone/start-failures.ts';
import { Deployment, Pod } from '../../src/environments/objects.ts';
import { Event } from '../../src/kube/events.ts';
import { describeClusters } from '../cluster/index.ts';
import { until } from '../support/until.ts';
import { installKinds } from './install.ts';
import { environment, makeWorkload } from './workload.ts';

describeClusters('an environment with an unhealthy clone', (cluster) => {
  let manager: Manager;

  beforeAll(async () => {
    const client = cluster.client();
    await installKinds(client);
    const logger = createLogger({ level: 'error' });
    manager = new Manager({ client, controllers: environments({ settleMs: 0, routeAfterMs: 1_000 }), logger });
    await manager.start();
  });

  afterAll(() => manager.stop());

  /** An environment of a workload whose pods are simulated this way. */
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

  test.each([
    [
      'FailedMount',
      'MountVolume.SetUp failed for volume "keys" : secret "keys" not found',
      'FailedMount: volume keys: secret "keys" not found',
    ],
    [
      'FailedAttachVolume',
      'Multi-Attach error for volume "pvc-1"',
      'FailedAttachVolume: Multi-Attach error for volume "pvc-1"',
    ],
  ])('reports a volume that cannot be used (%s)', async (reason, text, told) => {
    const env = await makeEnvironment('pending');
    const { namespace } = env.metadata;
    const client = cluster.client();
    const podOf = async (): Promise<Pod | undefined> =>
      (await client.list(Pod, { namespace, labelSelector: 'dynamic-env=true' })).items[0];
    await until(async () => (await podOf())?.status?.containerStatuses !== undefined);
    const { name } = (await podOf())!.metadata;
    // In place of the kubelet.
    await client.create(PodEvent, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `${name}.1`, namespace },
      involvedObject: { kind: 'Pod', name, namespace },
      reason,
      message: text,
    });
    const message = async (): Promise<string | undefined> =>
      (await client.get(DynamicEnv, env.metadata)).status?.subsetsStatus[`${namespace}/cart`]?.deployment.message;
    await until(async () => (await message()) !== undefined);
    expect(await message()).toBe(told);
  });

  test('emits an Event if requests are routed to the clone before it runs', async () => {
    const { namespace } = (await makeEnvironment('no-image')).metadata;
    const client = cluster.client();
    const notes = async (): Promise<(string | undefined)[]> => {
      const { items } = await client.list(Event, { namespace });
      return items.filter(({ reason }) => reason === 'RoutedWithoutClone').map(({ note }) => note);
    };
    await until(async () => (await notes()).length > 0);
    // Whether the reason is known by then depends on the speed of the node.
    const clone = `${namespace}/cart-${namespace}-feature`;
    expect(await notes()).toEqual([
      expect.stringMatching(
        `^requests are routed to Deployment ${clone}, which is not running after 1 s( \\(.*\\))?: they fail until it is$`,
      ),
    ]);
  });

  test(
    'does not alternate between ready and not ready while the clone is ready between crashes',
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
