// Where requests land on a real mesh with environments: inside the mesh, at the ingress gateway, and beside an
// environment whose match Envoy would reject.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import type { Manager } from '../../src/controller/index.ts';
import { VirtualService } from '../../src/traffic/istio/objects.ts';
import type { HttpMatch } from '../../src/traffic/istio/objects.ts';
import { poll } from '../scenarios/poll.ts';
import { describeMeshes } from './index.ts';
import type { Proxy } from './mesh.ts';
import { environmentOf, gone, KEY, makeWorkloads, ready, startControllers, withEnvironment } from './workload.ts';

const NAMESPACE = 'shop';
const PUBLIC = 'shop.example.com';
const TO_ORDERS = { route: [{ destination: { host: 'orders', subset: 'shared' } }] };

describeMeshes('environments on a mesh', { debounce: '1ms' }, (handle) => {
  let manager: Manager;
  let web: Proxy;
  let tester: Proxy;

  beforeAll(async () => {
    const { mesh } = handle;
    manager = await startControllers(mesh.client, { settleMs: 0, drainMs: 100 });
    await makeWorkloads(mesh.client, NAMESPACE, ['orders', 'payments', 'stock'], mesh.ports[0]!);
    await mesh.client.delete(VirtualService, { namespace: NAMESPACE, name: 'stock' });
    const http = [{ match: [{ uri: { prefix: '/delegate' } }], delegate: { name: 'delegate' } }, TO_ORDERS];
    const gateways = ['istio-system/ingress'];
    await mesh.client.create(VirtualService, virtualService('public', { hosts: [PUBLIC], gateways, http }));
    await mesh.client.create(VirtualService, virtualService('delegate', { http: [TO_ORDERS] }));
    web = await mesh.caller({ name: 'web', namespace: NAMESPACE, labels: { app: 'web' } });
    tester = await mesh.caller({ name: 'tester', namespace: NAMESPACE, labels: { app: 'tester' } });
  });

  afterAll(async () => {
    await manager?.stop();
  });

  /** The image that answered, or the status if no pod did. */
  async function image(proxy: Proxy, host: string, key?: string, path = '/'): Promise<string | number> {
    const { status, pod } = await proxy.ask({ host, path, ...(key !== undefined && { headers: [[KEY, key]] }) });
    return pod?.image ?? status;
  }

  test('send requests with the key to the clone, inside the mesh and at the gateway, and no others', async () => {
    const { ingress } = handle.mesh;
    await withEnvironment(handle.mesh, environmentOf(NAMESPACE, 'alice', 'orders', 'orders:2'), async () => {
      expect(await image(web, 'orders', 'alice')).toBe('orders:2');
      expect(await image(ingress, PUBLIC, 'alice')).toBe('orders:2');
      expect(await image(ingress, PUBLIC, 'alice', '/delegate')).toBe('orders:2');
      expect(await image(ingress, PUBLIC, 'bob', '/delegate')).toBe('orders:1');
      for (const key of [undefined, 'bob', 'ALICE'])
        expect([await image(web, 'orders', key), await image(ingress, PUBLIC, key)]).toEqual(['orders:1', 'orders:1']);
    });
    expect([await image(web, 'orders', 'alice'), await image(ingress, PUBLIC, 'alice')]).toEqual([
      'orders:1',
      'orders:1',
    ]);
  });

  test('match the key in its header or in the baggage, and only as a whole', async () => {
    const baggage = async (value: string): Promise<string | number> => {
      const { status, pod } = await web.ask({ host: 'orders', path: '/', headers: [['baggage', value]] });
      return pod?.image ?? status;
    };
    const keyed = ({ metadata, ...env }: DynamicEnv): DynamicEnv => {
      const { subsets } = env.spec;
      return { ...env, metadata, spec: { key: metadata.name, subsets } };
    };
    await withEnvironment(handle.mesh, keyed(environmentOf(NAMESPACE, 'pr-1', 'orders', 'orders:2')), async () => {
      await withEnvironment(handle.mesh, keyed(environmentOf(NAMESPACE, 'pr-12', 'orders', 'orders:3')), async () => {
        expect(await image(web, 'orders', 'pr-1')).toBe('orders:2');
        expect(await image(web, 'orders', 'pr-12')).toBe('orders:3');
        for (const own of ['env=pr-1', 'user=a, env = pr-1 ;ttl=1,b=c', 'env=%70r%2D1', 'env=pr-12,env=pr-1'])
          expect([own, await baggage(own)]).toEqual([own, 'orders:2']);
        expect(await baggage('user=a,env=pr-12')).toBe('orders:3');
        for (const other of ['env=pr-123', 'env=xpr-1', 'user=pr-1', 'a=b;env=pr-1', 'xenv=pr-1', 'env=pr'])
          expect([other, await baggage(other)]).toEqual([other, 'orders:1']);
      });
    });
  });

  test('are not affected by others with regular expressions that Envoy rejects', async () => {
    const { client } = handle.mesh;
    const refused = ['(', '([', '*a', 'a\\', 'a(?=b)', String.raw`(a)\1`, 'a{1,2000}'];
    const bad = refused.map((regex, i) =>
      withMatch(environmentOf(NAMESPACE, `bad-${i}`, 'orders', 'orders:9'), { headers: { [KEY]: { regex } } }),
    );
    for (const env of bad) await client.create(DynamicEnv, env);
    for (const { metadata } of bad)
      await poll(async () => (await client.get(DynamicEnv, metadata)).status?.state === 'degraded', 20_000);
    await withEnvironment(handle.mesh, environmentOf(NAMESPACE, 'alice', 'orders', 'orders:2'), async () => {
      expect([await image(web, 'orders', 'alice'), await image(web, 'orders')]).toEqual(['orders:2', 'orders:1']);
    });
    await Promise.all(bad.map(({ metadata }) => client.delete(DynamicEnv, metadata)));
    await Promise.all(bad.map((env) => gone(client, env)));
  });

  test.each([
    ['.*', { regex: '.*' }, { exact: 'boo' }],
    ['a prefix of all its values', { prefix: 'b' }, { regex: 'bo+' }],
  ])('are degraded, and get no request, behind one that matches %s', async (_what, first, second) => {
    const { client } = handle.mesh;
    const greedy = withMatch(environmentOf(NAMESPACE, 'greedy', 'orders', 'orders:2'), { headers: { [KEY]: first } });
    const late = withMatch(environmentOf(NAMESPACE, 'late', 'orders', 'orders:3'), { headers: { [KEY]: second } });
    await withEnvironment(handle.mesh, greedy, async () => {
      await client.create(DynamicEnv, late);
      await poll(async () => (await client.get(DynamicEnv, late.metadata)).status?.state === 'degraded', 20_000);
      await handle.mesh.settled();
      expect(await image(web, 'orders', 'boo')).toBe('orders:2');
    });
    await ready(client, late);
    await handle.mesh.settled();
    expect(await image(web, 'orders', 'boo')).toBe('orders:3');
    await client.delete(DynamicEnv, late.metadata);
    await gone(client, late);
  });

  test.each([
    ['', undefined],
    [' if the route names the mesh as its gateway', [{ gateways: ['mesh'] }]],
    [
      ' if the route names the mesh and other gateways',
      [{ gateways: ['mesh', 'istio-system/ingress'], sourceLabels: { app: 'x' } }],
    ],
  ])('with sourceLabels take requests of matching callers only%s', async (_where, match) => {
    const http = [{ ...(match && { match }), route: [{ destination: { host: 'payments', subset: 'shared' } }] }];
    const routes = { namespace: NAMESPACE, name: 'payments' };
    await handle.mesh.client.patch(VirtualService, routes, { type: 'merge', body: { spec: { http } } });
    const env = withMatch(environmentOf(NAMESPACE, 'labelled', 'payments', 'payments:2'), {
      sourceLabels: { app: 'tester' },
    });
    await withEnvironment(handle.mesh, env, async () => {
      expect(await image(tester, 'payments')).toBe('payments:2');
      expect(await image(web, 'payments')).toBe('payments:1');
    });
  });

  const toStock = { route: [{ destination: { host: 'stock', subset: 'shared' } }] };
  const byLabel = { sourceLabels: { app: 'tester' } };
  const byHeader = { headers: { [KEY]: { exact: 'alice' } } };
  test.each<[string, Record<string, VirtualService['spec']>, typeof byLabel | typeof byHeader, string | number]>([
    [
      'sourceLabels, but routes only at a gateway',
      { edge: { hosts: ['stock.example.com'], gateways: ['istio-system/ingress'], http: [toStock] } },
      byLabel,
      'stock:1',
    ],
    [
      'sourceLabels, but a delegate below a match that names gateways',
      {
        root: { hosts: ['stock'], http: [{ match: [{ gateways: ['mesh'] }], delegate: { name: 'stock' } }] },
        stock: { http: [toStock] },
      },
      byLabel,
      'stock:1',
    ],
    [
      'a delegate below a root that matches the same header with a regular expression',
      {
        root: {
          hosts: ['stock'],
          http: [{ match: [{ headers: { [KEY]: { regex: 'a.*' } } }], delegate: { name: 'stock' } }],
        },
        stock: { http: [toStock] },
      },
      byHeader,
      'stock:1',
    ],
    [
      'a delegate below a root that ignores the case of paths',
      {
        root: {
          hosts: ['stock'],
          http: [{ match: [{ uri: { prefix: '/' }, ignoreUriCase: true }], delegate: { name: 'stock' } }],
        },
        stock: { http: [toStock] },
      },
      byHeader,
      'stock:1',
    ],
    [
      'routes only in the second VirtualService for a host',
      {
        'a-first': { hosts: ['stock'], http: [{ directResponse: { status: 418 } }] },
        'b-second': { hosts: [`stock.${NAMESPACE}.svc.cluster.local`], http: [toStock] },
      },
      byHeader,
      418,
    ],
  ])('are degraded if no request can reach them: %s', async (_where, specs, match, answer) => {
    const { client, ingress } = handle.mesh;
    for (const [name, spec] of Object.entries(specs)) await client.create(VirtualService, virtualService(name, spec));
    const env = withMatch(environmentOf(NAMESPACE, 'alice', 'stock', 'stock:2'), match);
    await client.create(DynamicEnv, env);
    await poll(async () => {
      const { status } = await client.get(DynamicEnv, env.metadata);
      const [subset] = Object.values(status?.subsetsStatus ?? {});
      return status?.state === 'degraded' && subset?.deployment.status === 'running';
    }, 20_000);
    await handle.mesh.settled();
    const [caller, host] = 'edge' in specs ? [ingress, 'stock.example.com'] : [tester, 'stock'];
    expect(await image(caller, host, 'alice')).toBe(answer);
    await client.delete(DynamicEnv, env.metadata);
    await gone(client, env);
    for (const name of Object.keys(specs)) await client.delete(VirtualService, { namespace: NAMESPACE, name });
  });
});

function virtualService(name: string, spec: VirtualService['spec']): VirtualService {
  return {
    apiVersion: 'networking.istio.io/v1beta1',
    kind: 'VirtualService',
    metadata: { name, namespace: NAMESPACE },
    ...(spec && { spec }),
  };
}

function withMatch(env: DynamicEnv, match: Pick<HttpMatch, 'headers' | 'sourceLabels'>): DynamicEnv {
  return { ...env, spec: { ...env.spec, istioMatches: [match] } };
}
