// Environments with a time to live: they are deleted when they expire and not before, and an extension at that moment
// wins.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import type { Manager } from '../../src/controller/index.ts';
import { EXTENDED_UNTIL } from '../../src/environments/index.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import { Event } from '../../src/kube/events.ts';
import type { Ref } from '../../src/kube/objects.ts';
import { timestamp } from '../../src/kube/times.ts';
import { describeClusters } from '../cluster/index.ts';
import { until } from '../support/until.ts';
import { installKinds } from './install.ts';
import { environment, isIn, makeWorkload } from './workload.ts';
import { environmentsManager } from './manager.ts';

describeClusters('time to live', (cluster) => {
  let client: Client;
  let manager: Manager;
  /** Called before an environment is deleted by the controllers. */
  let beforeDelete: (ref: Ref) => Promise<void> = async () => {};

  const start = async (): Promise<void> => {
    manager = environmentsManager({
      client: intercepted(client, (ref) => beforeDelete(ref)),
    });
    await manager.start();
  };

  beforeAll(async () => {
    client = cluster.client();
    await installKinds(client);
    await start();
  });

  afterAll(() => manager.stop());

  /** A new environment with this time to live. */
  async function created(ttl: NonNullable<DynamicEnv['spec']>['ttl']): Promise<DynamicEnv> {
    const namespace = await cluster.namespace('lifetime');
    await makeWorkload(client, namespace, 'cart');
    const env = environment(namespace, 'feature', [{ name: 'cart', namespace }]);
    return client.create(DynamicEnv, { ...env, spec: { ...env.spec, ttl } });
  }

  /** The same, once it is ready. */
  async function ready(ttl: NonNullable<DynamicEnv['spec']>['ttl']): Promise<DynamicEnv> {
    const env = await created(ttl);
    await until(() => isIn(client, env.metadata, 'ready'));
    return client.get(DynamicEnv, env.metadata);
  }

  async function eventsOf(env: DynamicEnv, reason: string): Promise<readonly Event[]> {
    const { items } = await client.list(Event, { namespace: env.metadata.namespace! });
    return items.filter((event) => event.reason === reason && event.regarding.name === env.metadata.name);
  }

  const isGone = (env: DynamicEnv): Promise<boolean> =>
    client.get(DynamicEnv, env.metadata).then(
      () => false,
      (error: unknown) => isNotFound(error),
    );

  test('an environment is deleted when it expires, and not before', async () => {
    const env = await created({ duration: '3s' });
    const expiresAt = Date.parse(env.metadata.creationTimestamp!) + 3_000;
    await until(() => isGone(env));
    expect(Date.now()).toBeGreaterThanOrEqual(expiresAt);
    await until(async () => (await eventsOf(env, 'Expired')).length === 1);
  });

  test('a change of the spec postpones an expiry that counts from it', async () => {
    const env = await ready({ duration: '2h', from: 'Updated' });
    expect(env.status).toMatchObject({ specUpdatedAt: env.metadata.creationTimestamp });
    const [subset] = env.spec.subsets;
    const changedAt = Math.floor(Date.now() / 1_000) * 1_000;
    const body = { spec: { subsets: [{ ...subset, replicas: 2 }] } };
    const { metadata } = await client.patch(DynamicEnv, env.metadata, { type: 'merge', body });
    await until(async () => {
      const { status } = await client.get(DynamicEnv, metadata);
      return status?.observedGeneration === metadata.generation;
    });
    const { status } = await client.get(DynamicEnv, metadata);
    expect(Date.parse(status!.specUpdatedAt!)).toBeGreaterThanOrEqual(changedAt);
    expect(Date.parse(status!.expiresAt!)).toBe(Date.parse(status!.specUpdatedAt!) + 7_200_000);
  });

  test('an Event says once that it expires soon, however often the controllers restart', async () => {
    const env = await ready({ duration: '30m' });
    await until(async () => (await eventsOf(env, 'ExpiresSoon')).length === 1);
    await manager.stop();
    await start();
    const body = { metadata: { labels: { seen: 'again' } } };
    await client.patch(DynamicEnv, env.metadata, { type: 'merge', body });
    await until(() => manager.idle);
    const [event, ...more] = await eventsOf(env, 'ExpiresSoon');
    expect([event?.series, more]).toEqual([undefined, []]);
  });

  test('an environment that is extended while the controllers delete it is kept', async () => {
    const env = await ready({ duration: '1h' });
    const extendedUntil = timestamp(Date.now() + 7_200_000);
    let tries = 0;
    beforeDelete = async (ref) => {
      if (ref.name !== env.metadata.name || tries++ > 0) return;
      const body = { metadata: { annotations: { [EXTENDED_UNTIL]: extendedUntil } } };
      await client.patch(DynamicEnv, ref, { type: 'merge', body });
    };
    await client.patch(DynamicEnv, env.metadata, { type: 'merge', body: { spec: { ttl: { duration: '1s' } } } });
    await until(async () => (await client.get(DynamicEnv, env.metadata)).status?.expiresAt === extendedUntil);
    // The deletion may be retried before the extension is seen: that is refused as well.
    expect(tries).toBeGreaterThan(0);
    expect((await client.get(DynamicEnv, env.metadata)).metadata.deletionTimestamp).toBeUndefined();
    expect(await eventsOf(env, 'Expired')).toEqual([]);
  });
});

/** A client that calls `before` when it is about to delete an environment. */
function intercepted(client: Client, before: (ref: Ref) => Promise<void>): Client {
  return new Proxy(client, {
    get: (target, method: string) => {
      const original = (Reflect.get(target, method) as (...args: unknown[]) => unknown).bind(target);
      if (method === 'flow') return (name: string) => intercepted(target.flow(name), before);
      if (method !== 'delete') return original;
      return async (...args: unknown[]) => {
        if (args[0] === DynamicEnv) await before(args[1] as Ref);
        return original(...args);
      };
    },
  });
}
