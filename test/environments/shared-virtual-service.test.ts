// Many environments on one VirtualService: their routes are written together, so that they never conflict.
import { afterEach, beforeAll, expect, test } from 'vitest';
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import type { Manager } from '../../src/controller/index.ts';
import { isConflict } from '../../src/kube/errors.ts';
import { ApiError, keyOf } from '../../src/kube/index.ts';
import type { Client, Kind, KubeObject, Patch, Ref, WriteOptions } from '../../src/kube/index.ts';
import { isInserted } from '../../src/traffic/istio/inserted-routes.ts';
import { VirtualService } from '../../src/traffic/istio/objects.ts';
import { describeClusters } from '../cluster/index.ts';
import { settled, until } from '../support/until.ts';
import { installKinds } from './install.ts';
import { environment, makeWorkload, workload } from './workload.ts';
import { environmentsManager } from './manager.ts';

const COUNT = 30;
const DEADLINE = 60_000;
const DENIED = 'admission webhook "validation.istio.io" denied the request: no';

describeClusters('a VirtualService of many environments', (cluster) => {
  let client: Client;
  let manager: Manager;
  let traffic: Traffic;
  let namespace: string;

  beforeAll(async () => {
    client = cluster.client();
    await installKinds(client);
  });

  async function start(): Promise<void> {
    namespace = await cluster.namespace('shared');
    await makeWorkload(client, namespace, 'cart');
    traffic = new Traffic(namespace);
    manager = environmentsManager({
      client: traffic.watching(client),
    });
    await manager.start();
  }

  afterEach(() => manager.stop());

  const nameOf = (i: number): string => `e${String(i).padStart(2, '0')}`;
  const cart = (): Required<Ref> => ({ name: 'cart', namespace });

  async function create(names: readonly string[]): Promise<void> {
    await Promise.all(
      names.map((name) => {
        const { spec, ...rest } = environment(namespace, name, [cart()]);
        const istioMatches = [{ headers: { 'end-user': { exact: name } } }];
        return client.create(DynamicEnv, { ...rest, spec: { ...spec, istioMatches } });
      }),
    );
  }

  async function states(): Promise<Record<string, string | undefined>> {
    const { items } = await client.list(DynamicEnv, { namespace });
    return Object.fromEntries(items.map(({ metadata, status }) => [metadata.name, status?.state]));
  }

  const areReady = async (count: number): Promise<boolean> =>
    Object.values(await states()).filter((state) => state === 'ready').length === count;

  /** The environments whose routes the VirtualService has, in order. */
  async function routed(): Promise<readonly string[]> {
    const { spec } = await client.get(VirtualService, cart());
    const routes = (spec?.http ?? []).filter(isInserted);
    return routes.map(({ match }) => match?.[0]?.headers?.['end-user']?.exact ?? '');
  }

  test('is written without a conflict, and once when it is reset', { timeout: 3 * DEADLINE }, async () => {
    await start();
    const names = Array.from({ length: COUNT }, (_none, i) => nameOf(i));
    await create(names);
    await until(() => areReady(COUNT), DEADLINE);
    await settled(manager);
    // How many become ready together is random, but there is at most one write for each.
    expect(traffic.writes).toBeLessThanOrEqual(COUNT);

    // A reset as by GitOps: the original routes and annotations.
    traffic.writes = 0;
    const { metadata } = await client.get(VirtualService, cart());
    const { routes } = workload(namespace, 'cart');
    const reset = await client.update(VirtualService, {
      ...routes,
      metadata: { ...routes.metadata, resourceVersion: metadata.resourceVersion! },
    });
    await until(async () => (await routed()).length === COUNT, DEADLINE);
    await settled(manager);
    const after = await client.get(VirtualService, cart());
    expect([traffic.writes, after.metadata.generation]).toEqual([1, reset.metadata.generation! + 1]);
    const { items } = await client.list(DynamicEnv, { namespace });
    const byAge = items.map((env) => [env.metadata.creationTimestamp, env.metadata.name].join(' ')).sort();
    expect(await routed()).toEqual(byAge.map((each) => each.split(' ')[1]));
    expect(await areReady(COUNT)).toBe(true);

    await Promise.all(names.map((name) => client.delete(DynamicEnv, { name, namespace })));
    await until(async () => (await client.list(DynamicEnv, { namespace })).items.length === 0, DEADLINE);
    expect(await routed()).toEqual([]);
    expect(traffic.conflicts).toEqual([]);
  });

  test('gets all routes except those that the server refuses', { timeout: 3 * DEADLINE }, async () => {
    await start();
    await create([nameOf(0)]);
    await until(() => areReady(1), DEADLINE);
    const refusedName = nameOf(7);
    traffic.refuses = (body) => body.includes(`"${refusedName}"`);
    const names = Array.from({ length: 12 }, (_none, i) => nameOf(i));
    await create(names.slice(1));
    await until(async () => (await states())[refusedName] === 'degraded' && (await areReady(11)), DEADLINE);
    expect(await states()).toEqual(
      Object.fromEntries(names.map((name) => [name, name === refusedName ? 'degraded' : 'ready'])),
    );
    const { status } = await client.get(DynamicEnv, { name: refusedName, namespace });
    const errors = status?.subsetsStatus[keyOf(cart())]?.subsetErrors?.virtualServices?.map(({ error }) => error);
    expect(errors?.[0]).toContain(DENIED);

    // Environments that are created and deleted meanwhile do not wait for it.
    await create([nameOf(20)]);
    await client.delete(DynamicEnv, { name: nameOf(3), namespace });
    await until(async () => (await routed()).includes(nameOf(20)) && !(await routed()).includes(nameOf(3)), DEADLINE);
    expect(await routed()).not.toContain(refusedName);
    traffic.refuses = () => false;
    await until(() => areReady(12), DEADLINE);
    expect(await routed()).toContain(refusedName);
    expect(traffic.conflicts).toEqual([]);
  });
});

/** Counts the writes of controllers to the VirtualServices of a namespace, and refuses some, as a webhook would. */
class Traffic {
  refuses: (body: string) => boolean = () => false;
  writes = 0;
  readonly conflicts: string[] = [];
  readonly #namespace: string;

  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  /** A client that counts and refuses writes. */
  watching(client: Client): Client {
    const patch = async <T extends KubeObject>(
      kind: Kind<T>,
      ref: Ref,
      body: Patch,
      options?: WriteOptions,
    ): Promise<T> => {
      if (kind.kind !== 'VirtualService' || ref.namespace !== this.#namespace) {
        return client.patch(kind, ref, body, options);
      }
      if (this.refuses(JSON.stringify(body))) throw new ApiError(DENIED, { code: 400, reason: 'BadRequest' });
      this.writes++;
      return client.patch(kind, ref, body, options).catch((error: unknown) => {
        if (isConflict(error)) this.conflicts.push(error.message);
        throw error;
      });
    };
    return new Proxy(client, {
      get: (target, name) => {
        if (name === 'patch') return patch;
        if (name === 'flow') return (flow: string) => this.watching(target.flow(flow));
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === 'function' ? (member.bind(target) as unknown) : member;
      },
    });
  }
}
