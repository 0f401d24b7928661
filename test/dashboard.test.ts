// The dashboard's server as the page uses it: live streams, answers, and rejected requests.
import { request as send } from 'node:http';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type {
  Choices,
  DetailLine,
  EnvironmentDetail,
  EnvironmentRow,
  LiveLine,
  PlanAnswer,
  Row,
  Tried,
} from '../src/dashboard/data.ts';
import { DynamicEnv } from '../src/api/dynamicenv.ts';
import { DeploymentTargetClass } from '../src/api/targets.ts';
import type { Kind } from '../src/kube/index.ts';
import type { Lines } from '../src/dashboard/server/lines.ts';
import { streamRows } from '../src/dashboard/server/live.ts';
import { defaultSettings } from '../src/environments/index.ts';
import { ask as askPage, linesUntil as linesAt } from './dashboard/page.ts';
import type { Answered, Headers } from './dashboard/page.ts';
import { openDashboardShop } from './dashboard/shop.ts';
import type { DashboardShop } from './dashboard/shop.ts';
import { until } from './support/until.ts';

let shop: DashboardShop;
beforeAll(async () => {
  shop = await openDashboardShop();
}, 60_000);
afterAll(() => shop.stop());

const linesUntil = <L>(path: string, isEnough: (line: L) => boolean): Promise<readonly L[]> =>
  linesAt<L>(shop.url, path, isEnough);

function rowsIn(line: LiveLine): readonly (Row | null)[] {
  if ('snapshot' in line) return line.snapshot;
  return 'changes' in line ? line.changes.map(({ row }) => row) : [];
}

const environmentIn = (line: LiveLine, name: string): EnvironmentRow | undefined =>
  rowsIn(line).find((row): row is EnvironmentRow => row?.type === 'environment' && row.name === name);

async function detailOf(name: string, isEnough: (detail: EnvironmentDetail) => boolean): Promise<EnvironmentDetail> {
  const lines = await linesUntil<DetailLine>(
    `/api/live/environments/shop/${name}`,
    (line) => 'detail' in line && line.detail !== null && isEnough(line.detail as EnvironmentDetail),
  );
  return (lines.at(-1) as { detail: EnvironmentDetail }).detail;
}

/** Sends a request as the page does, with these headers on top. */
async function ask(
  method: string,
  path: string,
  body?: unknown,
  headers: Headers = {},
): Promise<Pick<Answered, 'status' | 'body'>> {
  const { status, body: answer } = await askPage(shop.url, method, path, { body, headers });
  return { status, body: answer };
}

function manifest(name: string, more = ''): string {
  return `
apiVersion: riskified.com/v1alpha1
kind: DynamicEnv
metadata: { name: ${name}, namespace: shop }
spec:
  istioMatches: [{ headers: { x-env: { exact: ${name} } } }]
  subsets: [{ name: cart, namespace: shop, ${more} containers: [{ containerName: cart, image: 'cart:3' }] }]
`;
}

test('rows are streamed as a snapshot, then as changes', async () => {
  const seen = linesUntil<LiveLine>('/api/live', (line) => environmentIn(line, 'seen')?.state === 'ready');
  await shop.environment('seen');
  const lines = await seen;
  const last = environmentIn(lines.at(-1)!, 'seen')!;
  expect(last).toMatchObject({
    namespace: 'shop',
    state: 'ready',
    tone: 'good',
    ready: '1/1',
    match: 'x-env=seen',
    replaces: [{ workload: 'shop/reviews', images: ['reviews:2'] }],
  });
  expect(last.call).toContain(`curl -H 'x-env: seen' http://reviews.shop:9080/`);
  await shop.client.delete(DynamicEnv, { name: 'seen', namespace: 'shop' });
  await linesUntil<LiveLine>('/api/live', (line) =>
    'snapshot' in line
      ? environmentIn(line, 'seen') === undefined
      : 'changes' in line && line.changes.some(({ key, row }) => key === 'environment shop/seen' && row === null),
  );
});

test('a slow reader gets the last state of each row, without those in between', async () => {
  const ending = new AbortController();
  const written: LiveLine[] = [];
  let read = Promise.withResolvers<void>();
  const lines = {
    signal: ending.signal,
    write(line: LiveLine) {
      written.push(line);
      return read.promise;
    },
  };
  const visitor = { permissions: undefined, check: async () => {}, inTheirName: () => Promise.reject(new Error('no')) };
  const viewer = { tables: shop.tables, settings: defaultSettings, visitor };
  const session = { version: 'test', writes: false, keyHeader: 'x-env' };
  const streaming = streamRows(lines as unknown as Lines, viewer, session);
  await until(() => written.length === 1);
  await shop.environment('slow', 'cart');
  let last = 0;
  for (let image = 10; image < 30; image++) {
    const body = [{ op: 'replace', path: '/spec/subsets/0/containers/0/image', value: `cart:${image}` }];
    const patch = { type: 'json', body } as const;
    const { metadata } = await shop.client.patch(DynamicEnv, { name: 'slow', namespace: 'shop' }, patch);
    last = metadata.generation!;
  }
  await until(() => {
    const { status } = shop.tables.of(DynamicEnv).get('shop/slow') ?? {};
    return status?.state === 'ready' && status.observedGeneration === last;
  });
  expect(written).toHaveLength(1);
  const { resolve } = read;
  read = Promise.withResolvers();
  resolve();
  await until(() => written.some((line) => 'changes' in line));
  const slow = written
    .flatMap((line) => ('changes' in line ? line.changes : []))
    .filter(({ key }) => key.endsWith('/slow'));
  expect(slow).toEqual([
    expect.objectContaining({
      row: expect.objectContaining({ state: 'ready', replaces: [{ workload: 'shop/cart', images: ['cart:29'] }] }),
    }),
  ]);
  ending.abort();
  read.resolve();
  await streaming;
  await shop.client.delete(DynamicEnv, { name: 'slow', namespace: 'shop' });
});

test('the stream of an environment has its graph, timeline, tree and YAML', async () => {
  await shop.environment('pr-7');
  const detail = await detailOf(
    'pr-7',
    ({ row, timeline }) =>
      row.state === 'ready' && row.isolation !== undefined && timeline.every(({ state }) => state === 'done'),
  );
  expect(detail.sentence).toBe(
    'Requests with `x-env: pr-7` reach `reviews:2`; nobody else in the mesh is affected (proved).',
  );
  expect(detail.timeline.map(({ label }) => label)).toEqual([
    'created',
    'clone ready',
    'rule settled',
    'routed',
    'ready',
  ]);
  expect(detail.tree).toMatchObject({ kind: 'Environment', state: 'ready' });
  expect(detail.yaml).toContain('kind: DynamicEnv');
  const path = (on: string) =>
    detail.picture.edges.filter((edge) => edge.on === on).map(({ from, to }) => `${from} → ${to}`);
  expect(path('path')).toEqual([
    'shop/Deployment/catalog → shop/Deployment/reviews-shop-pr-7',
    'shop/Deployment/reviews-shop-pr-7 → shop/Deployment/ratings',
  ]);
  expect(path('base')).toEqual([
    'shop/Deployment/catalog → shop/Deployment/reviews',
    'shop/Deployment/reviews → shop/Deployment/ratings',
  ]);
  expect(path('both')).toContain('gateway shop/public → shop/Deployment/web');
  expect(detail.picture.edges.find(({ to }) => to.endsWith('reviews-shop-pr-7'))?.rule).toMatch(
    /^route "dynamic-environment-shop-pr-7-reviews-[0-9a-f]+" of VirtualService shop\/reviews$/,
  );
});

test('the classes of targets are listed for the form of a claim', async () => {
  const classesNow = async () => ((await askPage(shop.url, 'GET', '/api/choices')).body as Choices).classes;
  expect(await classesNow()).toEqual([]);
  await shop.create(DeploymentTargetClass as unknown as Kind, {
    metadata: { name: 'preview' },
    spec: { provisioner: 'offshoot.dev/namespace', reclaimPolicy: 'Delete' },
  });
  await until(async () => (await classesNow())?.[0] === 'preview');
});

test('the key header and the cluster domain are those of the controllers', async () => {
  const settings = { keyHeader: 'x-team', clusterDomain: 'k8s.example' };
  const own = await openDashboardShop({ settings });
  try {
    await own.client.create(DynamicEnv, {
      apiVersion: 'riskified.com/v1alpha1',
      kind: 'DynamicEnv',
      metadata: { name: 'pr-7', namespace: 'shop' },
      spec: {
        key: 'pr-7',
        subsets: [
          { name: 'reviews', namespace: 'shop', containers: [{ containerName: 'reviews', image: 'reviews:2' }] },
        ],
      },
    });
    const lines = await linesAt<DetailLine>(
      own.url,
      '/api/live/environments/shop/pr-7',
      (line) => 'detail' in line && line.detail !== null && (line.detail as EnvironmentDetail).row.state === 'ready',
    );
    const { row, picture, sentence } = (lines.at(-1) as { detail: EnvironmentDetail }).detail;
    expect(row.carries).toBe('x-team: pr-7');
    expect(sentence).toContain('Requests with the key `pr-7` (`x-team` or `baggage`) reach `reviews:2`');
    expect(picture.edges.filter(({ on }) => on === 'path').map(({ to }) => to)).toContain(
      'shop/Deployment/reviews-shop-pr-7',
    );
    const [first] = await linesAt<LiveLine>(own.url, '/api/live', () => true);
    expect(first).toMatchObject({ session: { keyHeader: 'x-team' } });
    const body = { url: 'http://reviews.shop.svc.k8s.example:9080/', headers: { 'x-team': 'pr-7' } };
    const { body: tried } = await askPage(own.url, 'POST', '/api/try', { body });
    expect((tried as Tried).sentence).toContain('This request reaches `reviews-shop-pr-7`');
  } finally {
    await own.stop();
  }
});

test('the stream of a missing environment says that there is none', async () => {
  const [first] = await linesUntil<DetailLine>('/api/live/environments/shop/nobody', () => true);
  expect(first).toEqual({ detail: null });
});

describe('a request of the page', () => {
  test('can try a request of the mesh, with the calls that follow', async () => {
    await shop.untilState('pr-7', 'ready');
    const tried = { url: 'http://shop.example/', headers: { 'x-env': 'pr-7' }, gateway: 'shop/public' };
    const { status, body } = await ask('POST', '/api/try', tried);
    expect([status, body]).toEqual([200, expect.anything()]);
    const { sentence, hops, command } = body as Tried;
    expect(sentence).toBe(
      'This request reaches `web` (version `shared`), because route http[0] of VirtualService shop/web matches; its calls go on to `reviews-shop-pr-7`.',
    );
    const reached = new Set(hops.flatMap(({ to }) => to));
    expect(reached).toContain('shop/Deployment/reviews-shop-pr-7');
    expect(reached).not.toContain('shop/Deployment/reviews');
    expect(command).toBe(`offshoot explain GET http://shop.example/ -H 'x-env: pr-7' --gateway shop/public`);
    const direct = await ask('POST', '/api/try', { url: 'http://reviews.shop:9080/', headers: { 'x-env': 'pr-8' } });
    expect((direct.body as Tried).hops[0]?.considered[0]).toMatchObject({
      matched: false,
      reason: 'header x-env is "pr-8", not "pr-7"',
    });
  });

  test('fails with the name of an invalid field', async () => {
    expect(await ask('POST', '/api/try', { url: 'no address' })).toEqual({
      status: 400,
      body: { error: 'url: "no address" is no address such as http://reviews.shop:9080/api' },
    });
  });

  test('returns a plan, and creates nothing', async () => {
    const { status, body } = await ask('POST', '/api/plan', { yaml: manifest('planned') });
    expect([status, body]).toEqual([200, expect.anything()]);
    const plan = body as PlanAnswer;
    expect(plan.sentence).toBe('This makes 3 objects, changes 1, and reroutes only requests with `x-env: planned`.');
    expect(plan.traffic.join('\n')).toContain(
      'Requests to cart.shop:9080 with x-env: planned go to cart version shop-planned instead of version shared.',
    );
    expect(plan.proof).toMatchObject({ verdict: 'True', reason: 'Isolated' });
    expect(plan.changes.map(({ do: verb, kind }) => `${verb} ${kind}`)).toEqual([
      'make DynamicEnv',
      'make Deployment',
      'make DestinationRule',
      'change VirtualService',
    ]);
    const [first] = await linesUntil<DetailLine>('/api/live/environments/shop/planned', () => true);
    expect(first).toEqual({ detail: null });
  });

  test('returns the error of the API server', async () => {
    const { status, body } = await ask('POST', '/api/plan', { yaml: manifest('bad', 'replicas: 0,') });
    expect(status).toBe(422);
    expect(body).toMatchObject({ refusal: expect.stringContaining("It's illegal to use 0 replicas!") });
    const other = await ask('POST', '/api/plan', { yaml: 'kind: Pod\napiVersion: v1' });
    expect(other).toMatchObject({
      status: 400,
      body: { error: 'this is v1 Pod, not riskified.com/v1alpha1 DynamicEnv' },
    });
  });

  test('creates and deletes an environment', async () => {
    expect(await ask('POST', '/api/environments', { yaml: manifest('made') })).toEqual({
      status: 201,
      body: { namespace: 'shop', name: 'made' },
    });
    await shop.untilState('made', 'ready');
    expect(await ask('DELETE', '/api/environments/shop/made')).toMatchObject({ status: 200 });
  });

  test('lists the choices for forms', async () => {
    const { body } = await ask('GET', '/api/choices');
    expect(body).toMatchObject({
      gateways: ['shop/public'],
      urls: expect.arrayContaining(['http://shop.example/', 'http://reviews.shop:9080/']),
      workloads: expect.arrayContaining([{ key: 'shop/cart', containers: ['cart'] }]),
    });
  });
});

describe('the server rejects', () => {
  const body = { yaml: manifest('intruder') };
  test.each<[string, string, string, Record<string, string | undefined>, number]>([
    ['an unknown host (DNS rebinding)', 'GET', '/', { host: 'evil.example' }, 421],
    ['an unknown host for data', 'GET', '/api/choices', { host: 'evil.example:80' }, 421],
    ['a read by another site', 'GET', '/api/choices', { 'sec-fetch-site': 'cross-site' }, 403],
    [
      'a write by another site',
      'POST',
      '/api/environments',
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      403,
    ],
    [
      'a write by another port of this machine',
      'POST',
      '/api/environments',
      { origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' },
      403,
    ],
    ['a write without an origin', 'POST', '/api/environments', { origin: undefined, 'sec-fetch-site': undefined }, 403],
    ['a write from a file', 'POST', '/api/environments', { origin: 'null', 'sec-fetch-site': undefined }, 403],
    ['a write that a form could send', 'POST', '/api/environments', { 'content-type': 'text/plain' }, 415],
    ['a deletion by another site', 'DELETE', '/api/environments/shop/pr-7', { origin: 'https://evil.example' }, 403],
    ['an unknown method', 'PUT', '/api/environments', {}, 405],
    ['an unknown path', 'GET', '/api/nothing', {}, 404],
  ])('%s', async (_what, method, path, headers, status) => {
    expect(await ask(method, path, method === 'POST' ? body : undefined, headers)).toMatchObject({ status });
    expect(await ask('GET', '/api/choices')).toMatchObject({ status: 200 });
  });

  test('writes to a read-only dashboard', async () => {
    const reading = await openDashboardShop({ writes: false, isEmpty: true });
    try {
      const { origin } = new URL(reading.url);
      const headers = { origin, 'content-type': 'application/json' };
      const sent = await fetch(`${reading.url}api/environments`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      expect([sent.status, await sent.json()]).toEqual([
        403,
        expect.objectContaining({ error: 'this dashboard is read-only' }),
      ]);
    } finally {
      await reading.stop();
    }
  });
});

test('idle connections are kept for longer than ingresses do', async () => {
  expect((await fetch(shop.url)).headers.get('keep-alive')).toBe('timeout=120');
});

describe('files', () => {
  const get = (path: string, headers: Record<string, string> = {}) => fetch(new URL(path, shop.url), { headers });

  test('are compressed, named by their hash, and load nothing from other origins', async () => {
    const page = await get('/');
    const text = await page.text();
    const policy = page.headers.get('content-security-policy')!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    expect(text).not.toMatch(/https?:\/\/|<script>|style=/);
    const [script] = /\/assets\/page-[0-9a-f]{12}\.js/.exec(text)!;
    const { host, hostname, port } = new URL(shop.url);
    const raw = await new Promise<{ encoding: string | undefined; size: number; text: string }>((resolve) => {
      send({ hostname, port, path: script, headers: { host, 'accept-encoding': 'gzip, br' } }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const all = Buffer.concat(chunks);
          resolve({
            encoding: response.headers['content-encoding'],
            size: all.length,
            text: brotliDecompressSync(all).toString(),
          });
        });
      }).end();
    });
    expect(raw.encoding).toBe('br');
    expect(raw.text).toBe(await (await get(script, { 'accept-encoding': 'identity' })).text());
    expect((await get(script)).headers.get('cache-control')).toContain('immutable');
  });

  test('are not sent again if unchanged; every view has the same page', async () => {
    const first = await get('/environments/shop/pr-7');
    expect(first.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const again = await get('/', { 'if-none-match': first.headers.get('etag')! });
    expect(again.status).toBe(304);
    expect((await get('/assets/page-000000000000.js')).status).toBe(404);
  });
});
