// Proofs of environments in a cluster: their results, and which changes cause a new proof.
import { beforeEach, describe, expect, test } from 'vitest';
import { MemoryCluster } from '../../../test/environments/memory-cluster.ts';
import { environment, workload } from '../../../test/environments/workload.ts';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { factsOf, forecast, Reads } from '../../controller/index.ts';
import type { Facts } from '../../controller/index.ts';
import type { Kind, KubeObject } from '../../kube/index.ts';
import { ConfigMap } from '../../traffic/index.ts';
import { ServiceEntry, VirtualService } from '../../traffic/istio/objects.ts';
import type { HttpRoute } from '../../traffic/istio/objects.ts';
import { untracked } from '../../watchable/index.ts';
import { assumedRollouts } from '../forecast/rollouts.ts';
import { defaultSettings, environments, proveEnvironment } from '../index.ts';
import { ASLEEP } from '../lifecycle/sleep.ts';
import { Deployment } from '../objects.ts';

const cart = { name: 'cart', namespace: 'shop' };

function environmentOf(name: string): DynamicEnv {
  const env = environment('shop', name, [cart]);
  return { ...env, spec: { ...env.spec, istioMatches: [{ headers: { 'x-env': { exact: name } } }] } };
}

/** A settled shop with these environments and other objects. */
async function shopWith(names: readonly string[], others: readonly KubeObject[] = []): Promise<MemoryCluster> {
  const cluster = await MemoryCluster.of([
    ...Object.values(workload('shop', 'cart')),
    ...others,
    ...names.map(environmentOf),
  ]);
  expect(await cluster.settle()).toEqual([]);
  return cluster;
}

const proofOf = (facts: Facts, name: string) => proveEnvironment(facts, { name, namespace: 'shop' }, defaultSettings);
const proofIn = (cluster: MemoryCluster, name = 'a') => proofOf(factsOf(cluster.tables, untracked), name);

let version = 1_000;
/** Changes an object in the tables, without running the controllers. */
function observe<T extends KubeObject>(cluster: MemoryCluster, kind: Kind<T>, observed: T): void {
  const object = { ...observed, metadata: { ...observed.metadata, resourceVersion: String(++version) } };
  for (const table of cluster.tables.holding(kind)) table.observe(object);
}

function observeRoutes(cluster: MemoryCluster, edit: (http: readonly HttpRoute[]) => readonly HttpRoute[]): void {
  const [service] = cluster.list(VirtualService);
  observe(cluster, VirtualService, {
    ...service!,
    spec: { ...service!.spec, http: edit(service!.spec?.http ?? []) },
  });
}

describe('an environment in a cluster', () => {
  test('is isolated, even beside others', async () => {
    const cluster = await shopWith(['a', 'b']);
    for (const name of ['a', 'b']) {
      expect(proofIn(cluster, name)).toEqual({
        verdict: 'True',
        reason: 'Isolated',
        message: expect.any(String) as unknown,
        notes: [
          expect.stringContaining(`Service cart.shop.svc.cluster.local selects shop/Deployment/cart-shop-${name}`),
          `answers to requests with the key carry x-dynamic-env: cart-shop-${name}`,
        ],
      });
    }
  });

  test('gets no notes on responses and pods that it does not have', async () => {
    const keyed = ['first', 'second'].map((name) => ({
      ...environment('shop', name, [cart]),
      spec: { key: 'pr-7', subsets: environment('shop', name, [cart]).spec.subsets },
    }));
    const cluster = await shopWith([], []);
    for (const each of keyed) {
      await cluster.put(each);
      await cluster.settle();
    }
    const header = expect.stringContaining('x-dynamic-env') as string;
    expect(proofIn(cluster, 'first')?.notes).toContainEqual(header);
    expect(proofIn(cluster, 'second')?.notes).not.toContainEqual(header);
    const [first] = cluster.list(DynamicEnv);
    await cluster.put({ ...first!, metadata: { ...first!.metadata, annotations: { [ASLEEP]: 'true' } } });
    expect(await cluster.settle()).toEqual([]);
    expect(proofIn(cluster, 'first')?.notes).toEqual([]);
    expect(proofIn(cluster, 'second')?.notes).toContainEqual(header);
  });

  test('is isolated if it has a key', async () => {
    const keyed = ['pr-1', 'pr-12'].map((key) => ({
      ...environment('shop', key, [cart]),
      spec: { key, subsets: environment('shop', key, [cart]).spec.subsets },
    }));
    const cluster = await shopWith([], keyed);
    for (const { metadata } of keyed) expect(proofIn(cluster, metadata.name)).toMatchObject({ reason: 'Isolated' });
  });

  test('is not isolated if a route leads to the workload without a subset', async () => {
    const { routes } = workload('shop', 'cart');
    const plain: HttpRoute = { match: [{ uri: { prefix: '/plain' } }], route: [{ destination: { host: 'cart' } }] };
    const cluster = await shopWith(
      ['a'],
      [{ ...routes, spec: { ...routes.spec, http: [plain, ...(routes.spec?.http ?? [])] } } as KubeObject],
    );
    expect(proofIn(cluster)).toMatchObject({
      verdict: 'False',
      reason: 'OtherRequestsMoved',
      counterexample: {
        request: { path: '/plain' },
        before: { destinations: [{ workloads: ['shop/Deployment/cart'] }] },
        after: { destinations: [{ workloads: ['shop/Deployment/cart', 'shop/Deployment/cart-shop-a'] }] },
      },
    });
  });

  test('is not isolated if another Service without routes selects its pods', async () => {
    const { service } = workload('shop', 'cart');
    const cluster = await shopWith(['a'], [{ ...service, metadata: { name: 'basket', namespace: 'shop' } }]);
    expect(proofIn(cluster)).toMatchObject({
      verdict: 'False',
      counterexample: { request: { host: 'basket.shop.svc.cluster.local' } },
    });
  });

  test('is not isolated if a ServiceEntry selects its pods', async () => {
    const cluster = await shopWith(['a']);
    observe(cluster, ServiceEntry, {
      apiVersion: 'networking.istio.io/v1beta1',
      kind: 'ServiceEntry',
      metadata: { name: 'old', namespace: 'shop' },
      spec: {
        hosts: ['cart.old.example'],
        ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
        resolution: 'STATIC',
        workloadSelector: { labels: { app: 'cart' } },
      },
    });
    expect(proofIn(cluster)).toMatchObject({
      verdict: 'False',
      counterexample: { request: { host: 'cart.old.example' } },
    });
  });

  test('is not isolated while its routes match more than its key', async () => {
    const cluster = await shopWith(['a']);
    const wider = [{ headers: { 'x-env': { prefix: 'a' } } }];
    observeRoutes(cluster, ([own, ...others]) => [{ ...own!, match: wider }, ...others]);
    expect(proofIn(cluster)).toMatchObject({ verdict: 'False', reason: 'OtherRequestsMoved' });
  });

  test('that does not exist has no proof', async () => {
    expect(proofIn(await shopWith([]))).toBeUndefined();
  });

  test('can be proved before it is created', async () => {
    const { tables, now } = await shopWith(['b']);
    const { facts } = forecast({
      controllers: [...environments(), assumedRollouts()],
      tables,
      now,
      intents: [{ kind: DynamicEnv, put: environmentOf('a') }],
      horizonMs: 120_000,
    });
    expect(proofOf(facts, 'a')).toMatchObject({
      verdict: 'True',
      notes: expect.arrayContaining([expect.stringContaining('x-dynamic-env: cart-shop-a')]) as unknown,
    });
  });
});

describe('an environment is proved again when', () => {
  let cluster: MemoryCluster;
  beforeEach(async () => {
    cluster = await shopWith(['a', 'b']);
  });

  /** The environments whose proofs may change because of a change. */
  async function affectedBy(change: () => void | Promise<void>): Promise<readonly string[]> {
    const woken: string[] = [];
    const { tables, now } = cluster;
    const reads = new Reads({ tables, now: () => now, wake: (reader) => woken.push(reader) });
    for (const name of ['a', 'b']) reads.track(name, (view) => proofOf(view, name));
    await change();
    reads.deliver();
    reads.close();
    return woken.sort();
  }

  test('a base route or its own routes change', async () => {
    const isOfA = ({ name = '' }: HttpRoute): boolean => name.includes('-shop-a-');
    const slow = (http: readonly HttpRoute[]) => http.map((route) => ({ ...route, timeout: '1s' }));
    expect(await affectedBy(() => observeRoutes(cluster, slow))).toEqual(['a', 'b']);
    expect(await affectedBy(() => observeRoutes(cluster, (http) => http.filter((each) => !isOfA(each))))).toEqual([
      'a',
    ]);
  });

  test('another Service that selects its pods is created', async () => {
    const { service } = workload('shop', 'cart');
    const basket = { ...service, metadata: { name: 'basket', namespace: 'shop' } };
    expect(await affectedBy(() => cluster.put(basket))).toEqual(['a', 'b']);
  });

  test('the configuration of istiod changes', async () => {
    const config = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'istio', namespace: 'istio-system' },
      data: { mesh: 'rootNamespace: roots\n' },
    };
    expect(await affectedBy(() => observe(cluster, ConfigMap, config))).toEqual(['a', 'b']);
  });

  test('but not when another environment is created or deleted', async () => {
    const create = async (): Promise<void> => {
      await cluster.put(environmentOf('c'));
      expect(await cluster.settle()).toEqual([]);
    };
    expect(await affectedBy(create)).toEqual([]);
    expect(proofIn(cluster, 'c')).toMatchObject({ verdict: 'True' });
  });

  test('nor when pods become ready, or a status is written', async () => {
    const unready = (): void => {
      for (const each of cluster.list(Deployment)) observe(cluster, Deployment, { ...each, status: {} });
      for (const each of cluster.list(DynamicEnv)) {
        const status = { subsetsStatus: {}, totalReady: 0, state: 'degraded' };
        observe(cluster, DynamicEnv, { ...each, status });
      }
    };
    expect(await affectedBy(unready)).toEqual([]);
  });
});
