// The local gateway of the playground routes as real Envoys do: the same requests to the sample shop take the same
// paths and get the same answers on a mesh and in the playground.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DynamicEnv } from '../../src/api/dynamicenv.ts';
import type { Manager } from '../../src/controller/index.ts';
import type { Client, Kind } from '../../src/kube/index.ts';
import { LiveFacts } from '../../src/playground/live-facts.ts';
import type { PodAnswer } from '../../src/playground/answer.ts';
import { gatewayOf } from '../../src/playground/requests.ts';
import { Namespace, NAMESPACE, shopObjects } from '../../src/playground/shop.ts';
import { Gateway, VirtualService } from '../../src/traffic/istio/objects.ts';
import type { HttpRoute } from '../../src/traffic/istio/objects.ts';
import { poll } from '../scenarios/poll.ts';
import { describeMeshes } from './index.ts';
import type { Proxy } from './mesh.ts';
import { KEY, startControllers, withEnvironment } from './workload.ts';

/** The ingress gateway of the mesh, which replaces the shop's own Gateway, and the port of all Services. */
const EDGE = 'istio-system/ingress';
const PORT = 8080;
/** The service that each service of the shop calls. */
const NEXT: Readonly<Record<string, string>> = { frontend: 'catalog', catalog: 'reviews', reviews: 'ratings' };

type Sent = Readonly<Record<string, string>>;

/** The path of a request, and the answer to the client. */
interface Travelled {
  /** Images; the last is the status if a proxy inside the mesh answered. */
  readonly path: readonly (string | number)[];
  readonly status?: number;
  readonly text?: string;
  readonly location?: string | undefined;
  /** The response header that the route at the gateway adds. */
  readonly added?: string | undefined;
}

describeMeshes('the playground and a mesh', { debounce: '1ms', ports: [PORT] }, (handle) => {
  let manager: Manager;
  const callers: Record<string, Proxy> = {};

  beforeAll(async () => {
    const { mesh } = handle;
    manager = await startControllers(mesh.client, { settleMs: 0, drainMs: 100 });
    await makeShop(mesh.client);
    for (const app of Object.keys(NEXT)) {
      callers[app] = await mesh.caller({ name: app, namespace: NAMESPACE, labels: { app, version: 'shared' } });
    }
  });
  afterAll(() => manager?.stop());

  /** Sends a request through Envoys: the gateway, then the sidecar of each pod that was reached. */
  async function onMesh(headers: Sent, host: string): Promise<Travelled> {
    const path: (string | number)[] = [];
    let [proxy, asked, sent]: [Proxy, string, Sent] = [handle.mesh.ingress, host, headers];
    for (;;) {
      const answer = await proxy.ask({ host: asked, headers: Object.entries(sent) });
      const { pod, status, body, headers: got } = answer;
      if (pod === undefined && path.length === 0) {
        return { path, status, text: body, location: got['location'] as string, added: got['x-added'] as string };
      }
      path.push(pod?.image ?? status);
      const app = pod?.labels['app'] ?? '';
      const next = NEXT[app];
      if (pod === undefined || next === undefined) return { path };
      sent = propagated(pod.headers);
      [proxy, asked] = [callers[app]!, `${next}:${PORT}`];
    }
  }

  async function inPlayground(headers: Sent, host: string): Promise<Travelled> {
    const facts = new LiveFacts(manager.tables);
    const send = gatewayOf({ facts, random: () => 0 });
    const request = { host, port: PORT, path: '/', headers, source: { gateway: EDGE } };
    const { answer, status, text, headers: got } = await send(request, AbortSignal.timeout(10_000));
    facts.close();
    if (answer !== undefined) return { path: pathOf(answer) };
    return { path: [], status, text: text!, location: got['location'] as string, added: got['x-added'] as string };
  }

  /** Sends a request to both and compares them; the playground may see changes a little later. */
  async function travelled(headers: Sent, host = 'shop.example.com'): Promise<Travelled> {
    const real = await onMesh(headers, host);
    let own = await inPlayground(headers, host);
    await poll(async () => {
      own = await inPlayground(headers, host);
      return JSON.stringify(own) === JSON.stringify(real);
    }, 5_000).catch(() => undefined);
    expect(own).toEqual(real);
    return own;
  }

  /** Replaces the routes of a VirtualService for a while. */
  async function withRoutes(name: string, http: readonly HttpRoute[], use: () => Promise<void>): Promise<void> {
    const { client } = handle.mesh;
    const ref = { name, namespace: NAMESPACE };
    const before = (await client.get(VirtualService, ref)).spec;
    await client.patch(VirtualService, ref, { type: 'merge', body: { spec: { http } } });
    await handle.mesh.settled();
    await use();
    await client.patch(VirtualService, ref, { type: 'merge', body: { spec: before } });
    await handle.mesh.settled();
  }

  const BASE = ['shop/frontend:1', 'shop/catalog:1', 'shop/reviews:1', 'shop/ratings:1'];
  const base = (host: string): HttpRoute => ({ route: [{ destination: { host, subset: 'shared' } }] });

  test('send requests along the same paths without an environment', async () => {
    expect(await travelled({})).toEqual({ path: BASE });
    expect(await travelled({ [KEY]: 'pr-7' })).toEqual({ path: BASE });
  });

  test('send requests along the same paths with environments of one workload and of several', async () => {
    await withEnvironment(handle.mesh, environment('pr-7', { reviews: 'shop/reviews:2' }), async () => {
      const replaced = BASE.with(2, 'shop/reviews:2');
      expect(await travelled({ [KEY]: 'pr-7' })).toEqual({ path: replaced });
      expect(await travelled({ baggage: 'a=b, env=pr-7;c' })).toEqual({ path: replaced });
      for (const other of ['pr-77', 'PR-7', '']) expect(await travelled({ [KEY]: other })).toEqual({ path: BASE });
    });
    await withEnvironment(
      handle.mesh,
      environment('both', { frontend: 'my/own:3', ratings: 'shop/ratings:rc' }),
      async () => {
        const path = BASE.with(0, 'my/own:3').with(3, 'shop/ratings:rc');
        expect(await travelled({ [KEY]: 'both' })).toEqual({ path });
        expect(await travelled({})).toEqual({ path: BASE });
      },
    );
    expect(await travelled({ [KEY]: 'both' })).toEqual({ path: BASE });
  });

  test('route the next hops by the headers that a route has changed', async () => {
    const set = { request: { set: { [KEY]: 'pr-7' } } };
    await withEnvironment(handle.mesh, environment('pr-7', { ratings: 'shop/ratings:2' }), async () => {
      await withRoutes('catalog', [{ ...base('catalog'), headers: set }], async () => {
        expect(await travelled({ [KEY]: 'other' })).toEqual({ path: BASE.with(3, 'shop/ratings:2') });
      });
      await withRoutes('catalog', [{ ...base('catalog'), headers: { request: { remove: [KEY] } } }], async () => {
        expect(await travelled({ [KEY]: 'pr-7' })).toEqual({ path: BASE });
      });
    });
  });

  const abort = { abort: { httpStatus: 418, percentage: { value: 100 } } };
  test.each<[string, HttpRoute, number]>([
    ['aborts', { ...base('reviews'), fault: abort }, 418],
    ['has a missing subset', { route: [{ destination: { host: 'reviews', subset: 'gone' } }] }, 503],
    ['has a missing host', { route: [{ destination: { host: 'gone' } }] }, 503],
    ['matches no request', { ...base('reviews'), match: [{ headers: { never: { exact: 'x' } } }] }, 404],
  ])('answer alike where a route inside the mesh %s', async (_what, route, status) => {
    await withRoutes('reviews', [route], async () => {
      expect(await travelled({})).toEqual({ path: [...BASE.slice(0, 2), status] });
    });
  });

  const headers = { response: { set: { 'x-added': 'yes' } } };
  test.each<[string, HttpRoute, Partial<Travelled>]>([
    [
      'redirects',
      { redirect: { uri: '/new', redirectCode: 307 }, headers },
      { status: 307, location: 'http://shop.example.com/new' },
    ],
    [
      'has a direct response',
      { directResponse: { status: 418, body: { string: 'tea' } }, headers },
      { status: 418, text: 'tea' },
    ],
    [
      'has a direct response 201',
      { directResponse: { status: 201 } },
      { status: 201, location: 'http://shop.example.com/' },
    ],
    [
      'has a direct response 302',
      { directResponse: { status: 302 } },
      { status: 302, location: 'http://shop.example.com/' },
    ],
    ['aborts', { ...base('frontend'), fault: abort, headers }, { status: 418, text: 'fault filter abort' }],
    [
      'has a missing subset',
      { route: [{ destination: { host: 'frontend', subset: 'gone' } }], headers },
      { status: 503, text: '' },
    ],
    ['has a missing host', { route: [{ destination: { host: 'gone' } }], headers }, { status: 503, text: '' }],
    [
      'matches no request',
      { ...base('frontend'), match: [{ headers: { never: { exact: 'x' } } }] },
      { status: 404, text: '' },
    ],
  ])('answer alike where a route at the gateway %s', async (_what, route, answer) => {
    await withRoutes('shop', [route], async () => {
      expect(await travelled({})).toMatchObject({ path: [], ...answer });
      // The host is an IP address that no route names.
      expect(await travelled({}, '127.0.0.1:7480')).toMatchObject({ path: [], status: answer.status });
    });
  });
});

/** Creates the shop, at the ingress gateway of the mesh instead of its own. */
async function makeShop(client: Client): Promise<void> {
  const metadata = { name: NAMESPACE };
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata });
  const deployments: string[] = [];
  for (const { kind, object } of shopObjects()) {
    if (kind === Gateway) continue;
    const spec = object['spec'] as { readonly gateways?: readonly string[] };
    await client.create(kind as Kind, { ...object, spec: { ...spec, ...(spec.gateways && { gateways: [EDGE] }) } });
    if (object.kind === 'Deployment') deployments.push(object.metadata.name);
  }
  const { kind } = shopObjects().find(({ object }) => object.kind === 'Deployment')!;
  await poll(async () => {
    const { items } = await client.list(kind as Kind, { namespace: NAMESPACE });
    const ready = items.filter(({ status }) => (status as { readyReplicas?: number } | undefined)?.readyReplicas);
    return ready.length === deployments.length;
  }, 30_000);
}

function environment(name: string, images: Readonly<Record<string, string>>): DynamicEnv {
  const subsets = Object.entries(images).map(([base, image]) => ({
    name: base,
    namespace: NAMESPACE,
    containers: [{ containerName: base, image }],
  }));
  return {
    apiVersion: 'riskified.com/v1alpha1',
    kind: 'DynamicEnv',
    metadata: { name, namespace: NAMESPACE },
    spec: { key: name, subsets },
  };
}

/** The headers that a workload of the shop propagates to the services that it calls. */
function propagated(raw: readonly string[]): Sent {
  const pairs = raw.flatMap((name, i) => (i % 2 === 0 ? [[name.toLowerCase(), raw[i + 1]!] as const] : []));
  return Object.fromEntries(pairs.filter(([name]) => name === KEY || name === 'baggage'));
}

/** The images on a path, and the status of a call that failed. */
function pathOf({ image, calls }: PodAnswer): readonly (string | number)[] {
  return [image, ...calls.flatMap(({ answer, status }) => (answer === undefined ? [status] : pathOf(answer)))];
}
