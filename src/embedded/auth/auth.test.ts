import { request } from 'node:https';
import { describe, expect, test } from 'vitest';
import { loadAuthority } from '../../kube/pki.ts';
import { startEmbedded } from '../server.ts';
import { textIn } from '../testing/http.ts';
import { serveForTests } from '../testing/serve.ts';
import type { CallOptions, Json } from '../testing/http.ts';
import { TokenKey } from './tokens.ts';

const { embedded, client } = await serveForTests();

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const pods = '/api/v1/namespaces/default/pods';

function as(user: string, ...groups: string[]): CallOptions {
  return { headers: { 'Impersonate-User': user, 'Impersonate-Group': groups.join(', ') } };
}

async function allow(user: string, namespace: string, ...rules: object[]): Promise<void> {
  const name = `for-${user}`;
  const metadata = { name };
  const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: namespace === '' ? 'ClusterRole' : 'Role', name };
  const [roles, bindings] =
    namespace === ''
      ? [`${rbac}/clusterroles`, `${rbac}/clusterrolebindings`]
      : [`${rbac}/namespaces/${namespace}/roles`, `${rbac}/namespaces/${namespace}/rolebindings`];
  expect((await client.post(roles, { metadata, rules })).code).toBe(201);
  expect((await client.post(bindings, { metadata, subjects, roleRef })).code).toBe(201);
}

async function tokenFor(name: string, spec: object = {}): Promise<string> {
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  await client.post(accounts, { metadata: { name } });
  const { code, body } = await client.post(`${accounts}/${name}/token`, { spec });
  expect(code).toBe(201);
  return textIn(body['status']!['token']);
}

describe('authentication', () => {
  test('is required, except for health and version', async () => {
    const refused = await client.get('/api/v1/namespaces', { token: '' });
    expect([refused.code, refused.body['reason']]).toEqual([401, 'Unauthorized']);
    expect((await client.get('/api/v1/namespaces', { token: 'wrong' })).code).toBe(401);
    for (const path of ['/healthz', '/readyz', '/livez', '/version']) {
      expect((await client.get(path, { token: '' })).code).toBe(200);
    }
  });

  test('accepts client certificates of the cluster CA and no others', async () => {
    const whoami = (certPem: string, keyPem: string): Promise<number> =>
      new Promise((resolve, reject) => {
        const options = { ca: embedded.caPem, cert: certPem, key: keyPem };
        request(`${embedded.url}/api/v1/namespaces`, options, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        })
          .on('error', reject)
          .end();
      });
    expect(await whoami(embedded.admin.certPem, embedded.admin.keyPem)).toBe(200);
    const foreign = (await import('../../kube/pki.ts')).createAuthority({ commonName: 'other', days: 1 });
    const stranger = foreign.issue({
      commonName: 'admin',
      organizations: ['system:masters'],
      days: 1,
      usage: 'client',
    });
    expect(await whoami(stranger.certPem, stranger.keyPem)).toBe(401);
    expect(() => loadAuthority(stranger)).toThrow('not a CA certificate');
  });

  test('accepts the token of a service account until the account is deleted', async () => {
    const token = await tokenFor('robot');
    const review = await client.post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token } });
    expect(review.body['status']).toMatchObject({
      authenticated: true,
      user: {
        username: 'system:serviceaccount:default:robot',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
      },
    });
    const self = await client.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {}, { token });
    expect(self.body['status']!['userInfo']!['username']).toBe('system:serviceaccount:default:robot');
    expect((await client.get(pods, { token })).code).toBe(403);
    await client.call('DELETE', '/api/v1/namespaces/default/serviceaccounts/robot');
    expect((await client.get(pods, { token })).code).toBe(401);
  });

  test('refuses tokens that are expired, altered or signed with another key', async () => {
    const token = await tokenFor('short');
    const [head, body, signature] = token.split('.') as [string, string, string];
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Json;
    const altered = Buffer.from(JSON.stringify({ ...claims, sub: 'system:serviceaccount:kube-system:root' }));
    const forged = `${head}.${altered.toString('base64url')}.${signature}`;
    expect((await client.get('/api', { token: forged })).code).toBe(401);
    const uid = textIn(claims['kubernetes.io']!['serviceaccount']!['uid']);
    const old = { namespace: 'default', name: 'short', uid, audiences: ['x'], expires: 1 };
    expect((await client.get('/api', { token: embedded.cluster.access.tokens.issue(old) })).code).toBe(401);
    const other = await startEmbedded({ simulation: false });
    const key = other.cluster.access.tokens;
    expect(key).toBeInstanceOf(TokenKey);
    const foreign = key.issue({ ...old, expires: Math.floor(Date.now() / 1000) + 60 });
    await other.stop();
    expect((await client.get('/api', { token: foreign })).code).toBe(401);
    expect((await client.get('/api', { token })).code).toBe(200);
  });

  test('issues no tokens that expire in less than ten minutes', async () => {
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    await client.post(accounts, { metadata: { name: 'brief' } });
    const refused = await client.post(`${accounts}/brief/token`, { spec: { expirationSeconds: 10 } });
    expect(refused.code).toBe(422);
    expect(refused.body['message']).toContain('may not specify a duration less than 10 minutes');
    for (const body of ['null', '[]', '{"spec":"x"}']) {
      expect((await client.post(`${accounts}/brief/token`, body)).code).toBe(400);
    }
  });
});

describe('authorization', () => {
  test('refuses a user without roles, and names the missing permission', async () => {
    const { code, body } = await client.get(pods, as('bob'));
    expect([code, body['message']]).toEqual([
      403,
      'pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "default"',
    ]);
    expect((await client.get('/api', as('bob'))).code).toBe(200);
    expect((await client.get('/metrics', as('bob'))).body['message']).toBe(
      'forbidden: User "bob" cannot get path "/metrics"',
    );
  });

  test('applies a role at once, in its namespace and to its resources only', async () => {
    await allow('carol', 'default', { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] });
    expect((await client.get(pods, as('carol'))).code).toBe(200);
    expect((await client.get('/api/v1/pods', as('carol'))).code).toBe(403);
    expect((await client.get('/api/v1/namespaces/kube-system/pods', as('carol'))).code).toBe(403);
    expect((await client.get(`${pods}/x/log`, as('carol'))).code).toBe(403);
    expect((await client.post(pods, {}, as('carol'))).code).toBe(403);
    await client.call('DELETE', `${rbac}/namespaces/default/rolebindings/for-carol`);
    expect((await client.get(pods, as('carol'))).code).toBe(403);
  });

  test('restricts a rule to its resource names', async () => {
    await allow('dave', '', { apiGroups: [''], resources: ['configmaps'], resourceNames: ['mine'], verbs: ['*'] });
    const maps = '/api/v1/namespaces/default/configmaps';
    expect((await client.get(`${maps}/mine`, as('dave'))).code).toBe(404);
    expect((await client.get(`${maps}/other`, as('dave'))).code).toBe(403);
    expect((await client.get(maps, as('dave'))).code).toBe(403);
    expect((await client.get(`${maps}?fieldSelector=metadata.name%3Dmine`, as('dave'))).code).toBe(200);
  });

  test('adds up the rules of aggregated roles', async () => {
    const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'erin' }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };
    await client.post(`${rbac}/namespaces/default/rolebindings`, { metadata: { name: 'erin' }, subjects, roleRef });
    expect((await client.get(pods, as('erin'))).code).toBe(200);
    expect((await client.get('/api/v1/namespaces/default/secrets', as('erin'))).code).toBe(403);
    await client.post(`${rbac}/clusterroles`, {
      metadata: { name: 'more', labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
      rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['list'] }],
    });
    expect((await client.get('/api/v1/namespaces/default/secrets', as('erin'))).code).toBe(200);
  });

  test('handles roles that aggregate each other', async () => {
    const role = (name: string, own: string, other: string): object => ({
      metadata: { name, labels: { ring: own } },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { ring: other } }] },
    });
    for (const object of [role('ring-a', 'a', 'b'), role('ring-b', 'b', 'a')]) {
      expect((await client.post(`${rbac}/clusterroles`, object)).code).toBe(201);
    }
    const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'gina' }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'ring-a' };
    await client.post(`${rbac}/clusterrolebindings`, { metadata: { name: 'gina' }, subjects, roleRef });
    expect((await client.get(pods, as('gina'))).code).toBe(403);
    const bad = {
      metadata: { name: 'bad' },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { 'a b': 'c' } }] },
    };
    expect((await client.post(`${rbac}/clusterroles`, bad)).code).toBe(422);
  });

  test('requires the permission to impersonate', async () => {
    const token = await tokenFor('actor');
    const refused = await client.get(pods, { token, ...as('admin', 'system:masters') });
    expect(refused.code).toBe(403);
    expect(refused.body['message']).toContain('cannot impersonate resource "users"');
    const half = await client.get(pods, { headers: { 'Impersonate-Group': 'x' } });
    expect(half.code).toBe(400);
  });

  test('prevents users from granting permissions that they do not hold', async () => {
    await allow('frank', 'default', {
      apiGroups: ['rbac.authorization.k8s.io'],
      resources: ['roles', 'rolebindings'],
      verbs: ['create', 'update', 'get'],
    });
    const roles = `${rbac}/namespaces/default/roles`;
    const secrets = {
      metadata: { name: 'grab' },
      rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }],
    };
    const refused = await client.post(roles, secrets, as('frank'));
    expect(refused.code).toBe(403);
    expect(refused.body['message']).toContain('is attempting to grant RBAC permissions not currently held');
    const own = {
      metadata: { name: 'own' },
      rules: [{ apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['get'] }],
    };
    expect((await client.post(roles, own, as('frank'))).code).toBe(201);
    const binding = {
      metadata: { name: 'rise' },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'frank' }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    };
    expect((await client.post(`${rbac}/namespaces/default/rolebindings`, binding, as('frank'))).code).toBe(403);
  });
});

test('access reviews report what is allowed', async () => {
  const path = '/apis/authorization.k8s.io/v1';
  const resourceAttributes = { namespace: 'default', verb: 'list', resource: 'pods' };
  const self = await client.post(`${path}/selfsubjectaccessreviews`, { spec: { resourceAttributes } }, as('nobody'));
  expect([self.code, self.body['status']]).toEqual([201, { allowed: false }]);
  const admin = await client.post(`${path}/subjectaccessreviews`, {
    spec: { user: 'x', groups: ['system:masters'], resourceAttributes },
  });
  expect(admin.body['status']).toMatchObject({ allowed: true });
  const rules = await client.post(`${path}/selfsubjectrulesreviews`, { spec: { namespace: 'default' } }, as('nobody'));
  expect(rules.body['status']!['resourceRules']).toContainEqual({
    verbs: ['create'],
    apiGroups: ['authentication.k8s.io'],
    resources: ['selfsubjectreviews'],
  });
  expect((await client.post(`${path}/subjectaccessreviews`, { spec: { resourceAttributes } })).code).toBe(422);
});
