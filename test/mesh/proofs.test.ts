// A proof about an environment agrees with a real mesh: a counterexample is misrouted there, and where isolation is
// proved no request is.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import { withTables } from '../../src/cli/objects/tables.ts';
import { factsOf } from '../../src/controller/index.ts';
import type { Manager } from '../../src/controller/index.ts';
import { defaultSettings, environmentTables, proveEnvironment } from '../../src/environments/index.ts';
import type { HttpRoute } from '../../src/traffic/istio/objects.ts';
import { VirtualService } from '../../src/traffic/istio/objects.ts';
import type { Proof, Request } from '../../src/traffic/index.ts';
import { aimedRequest, randomFrom } from '../../src/traffic/testing/aimed-requests.ts';
import { untracked } from '../../src/watchable/index.ts';
import { describeMeshes } from './index.ts';
import type { Proxy } from './mesh.ts';
import { environmentOf, gone, KEY, makeWorkloads, ready, startControllers } from './workload.ts';

const NAMESPACE = 'shop';
const ORDERS = { name: 'orders', namespace: NAMESPACE };
const ENV = environmentOf(NAMESPACE, 'alice', 'orders', 'orders:2');
const HOST = 'orders.shop.svc.cluster.local';
/** Enough to see load balancing: one of three pods belongs to the clone. */
const TIMES = 40;

describeMeshes('proofs on a mesh', { debounce: '1ms', clusters: ['embedded'] }, (handle) => {
  let manager: Manager;
  let web: Proxy;

  beforeAll(async () => {
    const { mesh } = handle;
    manager = await startControllers(mesh.client, { settleMs: 0, drainMs: 100 });
    await makeWorkloads(mesh.client, NAMESPACE, ['orders'], mesh.ports[0]!);
    web = await mesh.caller({ name: 'web', namespace: NAMESPACE, labels: { app: 'web' } });
    await mesh.client.create(DynamicEnv, ENV);
    await ready(mesh.client, ENV);
    await mesh.settled();
  });
  afterAll(() => manager?.stop());

  function proof(): Promise<Proof> {
    const { signal } = new AbortController();
    return withTables(handle.mesh.client, environmentTables, signal, (tables) =>
      proveEnvironment(factsOf(tables, untracked), ENV.metadata, defaultSettings)!,
    );
  }

  /** The distinct images that answer a request. */
  async function images(
    { host, port, path, method = 'GET', headers = {} }: Request,
    times = 1,
  ): Promise<readonly string[]> {
    const sent = Object.entries(headers).flatMap(([name, values]) =>
      [values].flat().map((each) => [name, each] as const),
    );
    const answers = await Promise.all(
      Array.from({ length: times }, () => web.ask({ host, port, path, method, headers: sent })),
    );
    return [...new Set(answers.map(({ status, pod }) => pod?.image ?? String(status)))].sort();
  }

  async function edit(change: (http: readonly HttpRoute[]) => readonly HttpRoute[]): Promise<void> {
    const { client } = handle.mesh;
    const { spec } = await client.get(VirtualService, ORDERS);
    await client.patch(VirtualService, ORDERS, { type: 'merge', body: { spec: { http: change(spec?.http ?? []) } } });
    await handle.mesh.settled();
  }

  test('where isolation is proved, requests without the key reach only the base', { timeout: 60_000 }, async () => {
    expect(await proof()).toMatchObject({ verdict: 'True' });
    const random = randomFrom(1);
    const aim = { entries: [{}, ...ENV.spec.istioMatches!], own: ENV.spec.istioMatches!, hosts: [HOST] };
    let carriers = 0;
    for (let i = 0; i < 300; i++) {
      const request = { ...aimedRequest(aim, random), port: handle.mesh.ports[0]! };
      const isCarrier = [request.headers?.[KEY] ?? []].flat().includes('alice');
      if (isCarrier) carriers++;
      expect([request, await images(request)]).toEqual([request, [isCarrier ? 'orders:2' : 'orders:1']]);
    }
    expect(carriers).toBeGreaterThan(30);
    expect(carriers).toBeLessThan(270);
  });

  test(
    'the counterexample of a route without a subset reaches the clone by load balancing',
    { timeout: 60_000 },
    async () => {
      const plain = {
        name: 'plain',
        match: [{ uri: { prefix: '/plain' } }],
        route: [{ destination: { host: 'orders' } }],
      };
      await edit((http) => [plain, ...http]);
      const refuted = await proof();
      expect(refuted).toMatchObject({ verdict: 'False', reason: 'OtherRequestsMoved' });
      expect(await images(refuted.counterexample!.request, TIMES)).toEqual(['orders:1', 'orders:2']);
      await edit((http) => http.filter(({ name }) => name !== 'plain'));
      expect(await images(refuted.counterexample!.request, TIMES)).toEqual(['orders:1']);
    },
  );

  test(
    'the counterexample of a route that matches more than the key reaches the clone',
    { timeout: 60_000 },
    async () => {
      // The controllers would revert the edit.
      await manager.stop();
      await edit(([own, ...others]) => [{ ...own!, match: [{ headers: { [KEY]: { prefix: 'alice' } } }] }, ...others]);
      const refuted = await proof();
      expect(refuted).toMatchObject({ verdict: 'False', reason: 'OtherRequestsMoved' });
      const { request } = refuted.counterexample!;
      expect(request.headers?.[KEY]).not.toBe('alice');
      expect(await images(request, TIMES)).toEqual(['orders:2']);
      manager = await startControllers(handle.mesh.client, { settleMs: 0, drainMs: 100 });
      await handle.mesh.client.delete(DynamicEnv, ENV.metadata);
      await gone(handle.mesh.client, ENV);
      await handle.mesh.settled();
      expect(await images(request, TIMES)).toEqual(['orders:1']);
    },
  );
});
