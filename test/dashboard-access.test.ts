// The dashboard of a cluster, with only the permissions of deploy/: who can sign in, and what each user sees.
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DynamicEnv } from '../src/api/dynamicenv.ts';
import { Istio } from '../src/api/istio.ts';
import { RoutingRule } from '../src/api/routing.ts';
import type { ControlPlane } from '../src/cli/run/control-plane.ts';
import { installDefinitions } from '../src/cli/run/crds.ts';
import { partsOf } from '../src/cli/run/parts.ts';
import type { Choices, DetailLine, EnvironmentDetail, LiveLine, PlanAnswer, Row } from '../src/dashboard/data.ts';
import type { Dashboard } from '../src/dashboard/index.ts';
import { apiVersionOf, Lease } from '../src/kube/index.ts';
import type { AnyKind, AnyObject, Client } from '../src/kube/index.ts';
import { istioDefinitions } from '../src/embedded/crd/bundled/istio.ts';
import { describeOwnClusters } from './cluster/index.ts';
import { ask, follow, linesUntil } from './dashboard/page.ts';
import type { Answered } from './dashboard/page.ts';
import {
  dashboardOf,
  grant,
  makePerson,
  ServiceAccount,
  signIn,
  withDashboardPermissions,
} from './dashboard/people.ts';
import { installKinds } from './environments/install.ts';
import { environment, makeWorkload } from './environments/workload.ts';
import { claim, target } from './support/claims.ts';
import { install } from './scenarios/install.ts';
import { Namespace } from './support/core-kinds.ts';
import { until } from './support/until.ts';
import { testUsedPermissions } from './support/used-permissions.ts';
import {
  applyPermissions,
  installObject,
  installPermissions,
  startWithPermissions,
} from './support/with-permissions.ts';

/** An environment with its name as the key. */
function environmentOf(...[namespace, name, workloads]: Parameters<typeof environment>): DynamicEnv {
  const env = environment(namespace, name, workloads);
  return { ...env, spec: { ...env.spec, istioMatches: [{ headers: { 'x-env': { exact: name } } }] } };
}

const kindOf = (kind: AnyKind) => ({ apiVersion: apiVersionOf(kind), kind: kind.kind });

function manifest(name: string, namespace: string, of = namespace): string {
  const workload = of === 'shop' ? 'cart' : 'till';
  return `
apiVersion: riskified.com/v1alpha1
kind: DynamicEnv
metadata: { name: ${name}, namespace: ${namespace} }
spec:
  istioMatches: [{ headers: { x-env: { exact: ${name} } } }]
  subsets: [{ name: ${workload}, namespace: ${of}, containers: [{ containerName: ${workload}, image: '${workload}:3' }] }]
`;
}

// On its own clusters, because the test depends on which roles exist.
describeOwnClusters('the dashboard of a cluster', (cluster) => {
  let admin: Client;
  let planes: Pick<ControlPlane, 'client' | 'manager' | 'stop'>[] = [];
  let dashboards: Dashboard[] = [];
  let refused: readonly string[];
  let url: string;
  /** Tokens of an administrator, of an editor of the shop, and of a user without any permission. */
  let root: string;
  let jane: string;
  let joe: string;

  beforeAll(async () => {
    admin = cluster.client();
    await installKinds(admin);
    await installPermissions(cluster, 'environments');
    await applyPermissions(cluster, 'dashboard');
    for (const name of ['shop', 'pay']) {
      await admin.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
    const first = await startWithPermissions(cluster, 'environments');
    const second = await startWithPermissions(cluster, 'environments');
    // The first has only its own permissions; the others share those of the controllers of their process.
    planes = [await withDashboardPermissions(cluster), first.plane, second.plane];
    refused = first.refused;
    await makeWorkload(admin, 'shop', 'cart');
    await makeWorkload(admin, 'pay', 'till');
    await admin.create(DynamicEnv, environmentOf('shop', 'pr-1', [{ name: 'cart', namespace: 'shop' }]));
    await admin.create(DynamicEnv, environmentOf('pay', 'pr-2', [{ name: 'till', namespace: 'pay' }]));
    const both = ['cart', 'till'].map((name) => ({ name, namespace: name === 'cart' ? 'shop' : 'pay' }));
    await admin.create(DynamicEnv, environmentOf('shop', 'wide', both));
    root = await makePerson(admin, 'root', 'pay');
    jane = await makePerson(admin, 'jane', 'shop');
    joe = await makePerson(admin, 'joe', 'shop');
    await grant(admin, { name: 'root', namespace: 'pay' }, 'cluster-admin', 'everywhere');
    for (const role of ['offshoot-dashboard-viewer', 'offshoot-environments-edit', 'edit']) {
      await grant(admin, { name: 'jane', namespace: 'shop' }, role);
    }
    for (const plane of planes)
      dashboards.push(await dashboardOf(cluster, plane, { writes: true, hosts: ['dash.test'] }));
    url = dashboards[0]!.url;
  }, 120_000);

  afterAll(async () => {
    for (const each of dashboards) await each.close();
    for (const each of planes) await each.stop();
  });

  const by = (token: string) => ({ authorization: `Bearer ${token}` });
  const snapshotOf = async (headers: Readonly<Record<string, string>>, at = url) => {
    const [first] = await linesUntil<LiveLine>(at, '/api/live', () => true, headers);
    return first as Extract<LiveLine, { snapshot: unknown }>;
  };
  const names = (rows: readonly Row[]): string[] => rows.map(({ namespace, name }) => `${namespace}/${name}`).sort();
  const detailOf = async (key: string, token: string): Promise<EnvironmentDetail> => {
    const lines = await linesUntil<DetailLine>(
      url,
      `/api/live/environments/${key}`,
      (line) => 'detail' in line && (line.detail as EnvironmentDetail).picture.nodes.length > 0,
      by(token),
    );
    return (lines.at(-1) as { detail: EnvironmentDetail }).detail;
  };
  const asked = (token: string, method: string, path: string, body?: unknown): Promise<Answered> =>
    ask(url, method, path, { body, headers: by(token) });

  describe('a session', () => {
    test('is needed for everything but the page itself', async () => {
      const answer = await ask(url, 'GET', '/api/live');
      expect(answer).toMatchObject({ status: 401, body: { error: 'nobody has signed in' } });
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="offshoot"');
      for (const path of ['/api/choices', '/api/live/mesh', '/api/live/environments/shop/pr-1']) {
        expect(await ask(url, 'GET', path)).toMatchObject({ status: 401 });
      }
      expect((await fetch(url)).status).toBe(200);
    });

    test('starts with a token, for a cookie that scripts, other sites and the API server cannot use', async () => {
      const { status, body, headers } = await ask(url, 'POST', '/api/session', { body: { token: jane } });
      expect([status, body]).toEqual([200, { user: 'system:serviceaccount:shop:jane' }]);
      const [cookie = ''] = headers['set-cookie']!;
      expect(cookie).toMatch(/^offshoot-session=[\w-]+; Path=\/; Max-Age=3600; HttpOnly; SameSite=Strict$/);
      expect(cookie).not.toContain(jane.slice(0, 40));
      const { session } = await snapshotOf({ cookie: cookie.split(';')[0]! });
      expect(session).toMatchObject({ user: 'system:serviceaccount:shop:jane', isRestricted: true, writes: true });
      expect(Date.parse(session.until!)).toBeGreaterThan(Date.now() + 3_500_000);
      const out = await ask(url, 'DELETE', '/api/session', { headers: { cookie: cookie.split(';')[0] } });
      expect(out.headers['set-cookie']).toEqual(['offshoot-session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict']);
    });

    test('has a cookie for TLS and this host only behind an ingress, and needs TLS', async () => {
      const headers = { host: 'dash.test', origin: 'https://dash.test' };
      const signed = await ask(url, 'POST', '/api/session', { body: { token: jane }, headers });
      const [cookie = ''] = signed.headers['set-cookie']!;
      expect(cookie).toMatch(/^__Host-offshoot-session=[\w-]+; .*; Secure$/);
      const [pair] = cookie.split(';');
      expect(await ask(url, 'GET', '/api/choices', { headers: { ...headers, cookie: pair } })).toMatchObject({
        status: 200,
      });
      // A page of another subdomain could set this cookie.
      const tossed = pair!.replace('__Host-', '');
      expect(await ask(url, 'GET', '/api/choices', { headers: { ...headers, cookie: tossed } })).toMatchObject({
        status: 401,
      });
      const plain = { host: 'dash.test', origin: 'http://dash.test' };
      expect(await ask(url, 'POST', '/api/session', { body: { token: jane }, headers: plain })).toMatchObject({
        status: 403,
        body: { error: 'a token must not travel without TLS' },
      });
    });

    test.each([
      ['an unknown token', 'abc.def.ghi'],
      ['a malformed token', 'x\r\nImpersonate-User: admin'],
      ['a modified token', () => `${jane.slice(0, -8)}AAAAAAAA`],
    ])('does not start with %s', async (_what, token) => {
      const body = { token: typeof token === 'string' ? token : token() };
      expect(await ask(url, 'POST', '/api/session', { body })).toMatchObject({
        status: 401,
        body: { error: 'the API server does not know this token' },
      });
    });

    test('does not start with a token in the URL', async () => {
      expect(await ask(url, 'GET', `/api/choices?token=${root}&access_token=${root}`)).toMatchObject({ status: 401 });
    });

    test('is rejected if it was forged or modified', async () => {
      const { cookie } = await signIn(url, jane);
      const changed = `${cookie.slice(0, -2)}${cookie.endsWith('AA') ? 'BB' : 'AA'}`;
      for (const bad of [changed, 'offshoot-session=AAAA', `offshoot-session=${jane}`, 'offshoot-session=']) {
        expect(await ask(url, 'GET', '/api/choices', { headers: { cookie: bad } })).toMatchObject({ status: 401 });
      }
    });

    test('is valid for all replicas, which show the same, whoever leads', async () => {
      const leases = (await admin.list(Lease, { namespace: 'offshoot-system' })).items.map(
        ({ spec }) => spec?.holderIdentity,
      );
      expect(new Set(leases).size).toBe(1);
      const cookie = await signIn(dashboards[0]!.url, jane);
      for (const each of dashboards) {
        const { snapshot } = await snapshotOf(cookie, each.url);
        expect(names(snapshot)).toEqual(['shop/pr-1', 'shop/wide']);
      }
    });

    test('ends with its open streams when the token is revoked', { timeout: 60_000 }, async () => {
      const token = await makePerson(admin, 'brief', 'shop');
      const cookie = await signIn(url, token);
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const lines = follow<LiveLine>(new URL('/api/live', url), { headers: cookie, agent });
      expect((await lines.next()).value).toHaveProperty('snapshot');
      await admin.delete(ServiceAccount, { name: 'brief', namespace: 'shop' });
      // The stream ends.
      for await (const line of lines) expect(line).not.toHaveProperty('snapshot');
      // Its connection stays open for further requests: an ingress that reuses it just then must not lose one.
      const next = request(url, { agent });
      next.end();
      await once(next, 'response');
      expect(next.reusedSocket).toBe(true);
      agent.destroy();
      await until(async () => (await ask(url, 'GET', '/api/choices', { headers: cookie })).status === 401, 20_000);
    });
  });

  describe('a user', () => {
    test('sees all rows, those of a namespace, or none, as their roles allow', async () => {
      expect(names((await snapshotOf(by(root))).snapshot)).toEqual(['pay/pr-2', 'shop/pr-1', 'shop/wide']);
      expect(names((await snapshotOf(by(jane))).snapshot)).toEqual(['shop/pr-1', 'shop/wide']);
      expect((await snapshotOf(by(joe))).snapshot).toEqual([]);
      expect(refused).toEqual([]);
    });

    test('sees Events of their namespaces only', async () => {
      const feedOf = async (token: string, isEnough: (spaces: Set<string>) => boolean) => {
        const lines = await linesUntil<LiveLine>(
          url,
          '/api/live',
          (line) => 'feed' in line && isEnough(new Set(line.feed.map(({ namespace }) => namespace))),
          by(token),
        );
        const { feed } = lines.at(-1) as Extract<LiveLine, { feed: unknown }>;
        return new Set(feed.map(({ namespace }) => namespace));
      };
      expect(await feedOf(root, (spaces) => spaces.size === 2)).toEqual(new Set(['shop', 'pay']));
      expect(await feedOf(jane, (spaces) => spaces.size > 0)).toEqual(new Set(['shop']));
      expect(await feedOf(joe, () => true)).toEqual(new Set());
    });

    test('cannot tell whether an environment of another namespace exists', async () => {
      const answer = await asked(jane, 'GET', '/api/live/environments/pay/pr-2');
      expect(answer).toMatchObject({ status: 403, body: { error: 'you may not read dynamicenvs in namespace pay' } });
      expect(await asked(jane, 'GET', '/api/live/environments/pay/nobody')).toMatchObject({
        status: 403,
        body: answer.body,
      });
      expect(await asked(joe, 'GET', '/api/live/environments/shop/pr-1')).toMatchObject({ status: 403 });
    });

    test('sees only their half of an environment in two namespaces', async () => {
      await until(
        async () => (await admin.get(DynamicEnv, { name: 'wide', namespace: 'shop' })).status?.state === 'ready',
        30_000,
      );
      const whole = await detailOf('shop/wide', root);
      const half = await detailOf('shop/wide', jane);
      const nodes = ({ picture }: EnvironmentDetail): string[] =>
        [...new Set(picture.nodes.map(({ namespace }) => namespace))].sort();
      expect(nodes(whole)).toEqual(['pay', 'shop']);
      expect(nodes(half)).toEqual(['shop']);
      expect(half.picture.notes).toContain('Some of it is hidden: it involves objects that you may not read.');
      expect(JSON.stringify(half.picture)).not.toContain('till');
      expect(JSON.stringify(whole.tree)).toContain('pods');
      expect(half).toMatchObject({ mayDelete: true });
    });

    test('is offered in forms only what they may read', async () => {
      const choicesOf = async (token: string) => (await asked(token, 'GET', '/api/choices')).body as Choices;
      expect((await choicesOf(jane)).namespaces).toEqual(['shop']);
      expect((await choicesOf(root)).namespaces).toEqual(expect.arrayContaining(['pay', 'shop']));
      expect(await choicesOf(joe)).toEqual({ namespaces: [], workloads: [], gateways: [], urls: [] });
    });

    test('gets a request explained only if they may read its whole path', async () => {
      const tried = (token: string, host: string) => asked(token, 'POST', '/api/try', { url: `http://${host}/` });
      expect(await tried(jane, 'cart.shop')).toMatchObject({ status: 200 });
      const hidden = await tried(jane, 'till.pay');
      expect(hidden).toMatchObject({
        status: 403,
        body: { error: 'this request passes objects that you may not read' },
      });
      expect(await tried(jane, 'nothing.pay')).toMatchObject({ status: 403, body: hidden.body });
      expect(await tried(joe, 'cart.shop')).toMatchObject({ status: 403 });
      expect(await tried(root, 'till.pay')).toMatchObject({ status: 200 });
      // Any namespace may define a host outside the cluster.
      expect(await tried(jane, 'api.partner.example')).toMatchObject({ status: 403, body: hidden.body });
      expect(await tried(root, 'api.partner.example')).toMatchObject({ status: 200 });
      const from = await asked(jane, 'POST', '/api/try', { url: 'http://cart.shop/', from: 'pay/till' });
      const nobody = await asked(jane, 'POST', '/api/try', { url: 'http://cart.shop/', from: 'pay/nobody' });
      expect([from.status, nobody.status]).toEqual([400, 400]);
    });

    test('sees changes of their roles while the page is open', { timeout: 90_000 }, async () => {
      const lines = follow<LiveLine>(new URL('/api/live', url), { headers: by(joe) });
      const next = async (isIt: (line: LiveLine) => boolean): Promise<LiveLine> => {
        for (;;) {
          const { value, done } = await lines.next();
          if (done) throw new Error('the stream ended');
          if (isIt(value)) return value;
        }
      };
      expect(await next((line) => 'snapshot' in line)).toMatchObject({ snapshot: [] });
      const takeBack = await grant(admin, { name: 'joe', namespace: 'shop' }, 'offshoot-environments-view');
      const rowsOf = (line: LiveLine) => ('changes' in line ? line.changes : []);
      await next((line) => rowsOf(line).some(({ key, row }) => key === 'environment shop/pr-1' && row !== null));
      await takeBack();
      await next((line) => rowsOf(line).some(({ key, row }) => key === 'environment shop/pr-1' && row === null));
      await lines.return(undefined);
    });
  });

  describe('a write', () => {
    test('is authorized by the API server with the permissions of the user, as is a plan', async () => {
      const planned = await asked(jane, 'POST', '/api/plan', { yaml: manifest('hers', 'shop') });
      expect([planned.status, planned.body]).toEqual([200, expect.anything()]);
      expect((planned.body as PlanAnswer).changes.map(({ kind }) => kind)).toEqual([
        'DynamicEnv',
        'Deployment',
        'DestinationRule',
        'VirtualService',
      ]);
      expect(await asked(jane, 'POST', '/api/environments', { yaml: manifest('hers', 'shop') })).toMatchObject({
        status: 201,
      });
      const { metadata } = await admin.get(DynamicEnv, { name: 'hers', namespace: 'shop' });
      expect(metadata.managedFields?.map(({ manager }) => manager)).toContain('offshoot-dashboard');
      expect(await asked(joe, 'DELETE', '/api/environments/shop/hers')).toMatchObject({
        status: 422,
        body: { refusal: expect.stringContaining('"system:serviceaccount:shop:joe" cannot delete') },
      });
      expect(await asked(jane, 'DELETE', '/api/environments/shop/hers')).toMatchObject({ status: 200 });
    });

    test('is forbidden without permission, as is a plan', async () => {
      for (const path of ['/api/plan', '/api/environments']) {
        const answer = await asked(jane, 'POST', path, { yaml: manifest('elsewhere', 'pay') });
        expect([403, 422]).toContain(answer.status);
      }
      expect(await asked(jane, 'POST', '/api/plan', { yaml: manifest('across', 'shop', 'pay') })).toMatchObject({
        status: 403,
        body: { error: 'you may not read deployments in namespace pay' },
      });
      expect(await asked(joe, 'POST', '/api/environments', { yaml: manifest('his', 'shop') })).toMatchObject({
        status: 422,
      });
      expect((await admin.list(DynamicEnv)).items.map(({ metadata }) => metadata.name).sort()).toEqual(
        expect.not.arrayContaining(['elsewhere', 'across', 'his']),
      );
    });

    test('is forbidden to everybody without --dashboard-writes', async () => {
      const reading = await dashboardOf(cluster, planes[0]!);
      try {
        const answer = await ask(reading.url, 'POST', '/api/environments', {
          body: { yaml: manifest('mine', 'shop') },
          headers: by(root),
        });
        expect(answer).toMatchObject({ status: 403, body: { error: 'this dashboard is read-only' } });
        expect((await snapshotOf(by(root), reading.url)).session.writes).toBe(false);
      } finally {
        await reading.close();
      }
    });
  });

  describe('a forged request', () => {
    test('gains nothing from headers for the API server or for proxies', async () => {
      const headers = {
        ...by(jane),
        'impersonate-user': 'system:admin',
        'impersonate-group': 'system:masters',
        'x-remote-user': 'system:admin',
        'x-remote-group': 'system:masters',
        'x-forwarded-user': 'system:admin',
        'x-forwarded-access-token': root,
      };
      const { snapshot, session } = await snapshotOf(headers);
      expect(session.user).toBe('system:serviceaccount:shop:jane');
      expect(new Set(snapshot.map(({ namespace }) => namespace))).toEqual(new Set(['shop']));
      const made = await ask(url, 'POST', '/api/environments', {
        body: { yaml: manifest('smuggled', 'pay') },
        headers,
      });
      expect(made).toMatchObject({ status: 422, body: { refusal: expect.stringContaining('shop:jane') } });
    });

    test.each<[string, Record<string, string | readonly string[]>, number]>([
      ['has two hosts', { host: ['127.0.0.1', 'evil.example'] }, 400],
      ['has two tokens', { authorization: ['Bearer a', 'Bearer b'] }, 400],
      ['has a forwarded host', { host: 'evil.example', 'x-forwarded-host': '127.0.0.1' }, 421],
      ['has a password', { authorization: 'Basic YWRtaW46YWRtaW4=' }, 401],
      ['has an empty token', { authorization: 'Bearer ' }, 401],
    ])('is rejected if it %s', async (_what, headers, status) => {
      expect(await ask(url, 'GET', '/api/choices', { headers })).toMatchObject({ status });
    });

    test('with an invalid token in a header is rejected despite a valid cookie', async () => {
      const cookie = await signIn(url, jane);
      const headers = { ...cookie, authorization: 'Bearer nonsense' };
      expect(await ask(url, 'GET', '/api/choices', { headers })).toMatchObject({ status: 401 });
    });

    test.each<[string, string, Record<string, string | undefined>]>([
      ['signs in', '/api/session', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
      ['signs in by a form', '/api/session', { 'content-type': 'application/x-www-form-urlencoded' }],
      ['writes', '/api/environments', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
      ['writes without an origin', '/api/environments', { origin: undefined, 'sec-fetch-site': undefined }],
    ])('of another site is rejected if it %s', async (_what, path, headers) => {
      const cookie = await signIn(url, root);
      const body = { token: root, yaml: manifest('crossed', 'shop') };
      const { status } = await ask(url, 'POST', path, { body, headers: { ...cookie, ...headers } });
      expect([403, 415]).toContain(status);
    });
  });

  describe('a kind that is installed while the dashboard runs', () => {
    beforeAll(async () => {
      await installDefinitions(admin, partsOf());
      await install(admin, Object.values(istioDefinitions()) as unknown as AnyObject[]);
    }, 60_000);

    test.each([
      ['claim', 'claims/shop/one', claim('one', {}, { namespace: 'shop' })],
      ['target', 'targets/shop/one', target('one', {}, { namespace: 'shop' })],
      ['rule', 'rules/shop/one', { ...kindOf(RoutingRule), metadata: { name: 'one', namespace: 'shop' } }],
      ['mesh', 'mesh', { ...kindOf(Istio), metadata: { name: 'default', namespace: 'shop' } }],
    ])('is shown with only the permissions of the dashboard: %s', async (type, path, object) => {
      await installObject(admin, object as AnyObject);
      const isShown = (line: DetailLine): boolean => 'detail' in line && line.detail !== null;
      const lines = await linesUntil<DetailLine>(url, `/api/live/${path}`, isShown, by(root));
      expect(lines.at(-1)).toMatchObject({ detail: { type } });
    });
  });

  testUsedPermissions(cluster, 'dashboard', 'dashboard');
});
