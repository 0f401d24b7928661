// Authentication of the client: service account tokens, exec plugins, impersonation.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { Client } from '../src/kube/client/client.ts';
import type { ConnectConfig } from '../src/kube/client/config/config.ts';
import { connect } from '../src/kube/client/connect.ts';
import { isForbidden } from '../src/kube/errors.ts';
import { loadConfig } from '../src/kube/client/config/kubeconfig.ts';
import { defineKind } from '../src/kube/objects.ts';
import { describeClusters } from './cluster/index.ts';
import { configMap, configMaps } from './support/kinds.ts';

const roles = defineKind('rbac.authorization.k8s.io/v1', 'Role', 'roles');
const roleBindings = defineKind('rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings');
const serviceAccounts = defineKind('v1', 'ServiceAccount', 'serviceaccounts');

describeClusters('authentication', (cluster) => {
  let admin: Client;
  let server: Pick<ConnectConfig, 'server' | 'caPem'>;
  let namespace: string;
  let token: string;
  let dir: string;
  const clients: Client[] = [];

  beforeAll(async () => {
    dir = mkdtempSync(path.join(tmpdir(), 'offshoot-auth-'));
    admin = cluster.client();
    const config = loadConfig({ path: cluster.kubeconfigPath });
    server = { server: config.server, ...(config.caPem === undefined ? {} : { caPem: config.caPem }) };
    namespace = await cluster.namespace('auth');
    await allowReading(admin, namespace);
    token = await requestToken(admin, namespace);
  });
  afterAll(() => {
    for (const client of clients) client.close();
    rmSync(dir, { recursive: true, force: true });
  });

  function as(config: ConnectConfig): Client {
    const client = connect(config);
    clients.push(client);
    return client;
  }

  /** The user name of the client, and its permissions in the namespace. */
  async function observe(client: Client): Promise<object> {
    const { items } = await client.list(configMaps, { namespace });
    return {
      user: await whoIs(client),
      reads: items.some((item) => item.metadata.name === 'visible'),
      createIsForbidden: await client
        .create(configMaps, configMap(namespace, 'refused'))
        .then(() => false, isForbidden),
    };
  }

  const reader = (): object => ({
    user: `system:serviceaccount:${namespace}:reader`,
    reads: true,
    createIsForbidden: true,
  });

  test('with a service account token gives the permissions of the account', async () => {
    expect(await observe(as({ ...server, token }))).toEqual(reader());
  });

  test('fails with a token for another audience', async () => {
    const foreign = await requestToken(admin, namespace, ['somebody-else']);
    await expect(whoIs(as({ ...server, token: foreign }))).rejects.toMatchObject({ code: 401 });
  });

  test('reads a token from its file', async () => {
    const tokenFile = path.join(dir, 'token');
    writeFileSync(tokenFile, `${token}\n`);
    expect(await observe(as({ ...server, tokenFile }))).toEqual(reader());
  });

  test('gets a token from the exec plugin of a kubeconfig', async () => {
    const plugin = path.join(dir, 'plugin.mjs');
    writeFileSync(
      plugin,
      `const { apiVersion } = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
       console.log(JSON.stringify({ apiVersion, kind: 'ExecCredential', status: { token: process.env.TEST_TOKEN } }));`,
    );
    const kubeconfig = path.join(dir, 'kubeconfig');
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: process.execPath,
      args: [plugin],
      env: [{ name: 'TEST_TOKEN', value: token }],
      interactiveMode: 'Never',
    };
    const certificateAuthority = { 'certificate-authority-data': Buffer.from(server.caPem ?? '').toString('base64') };
    writeFileSync(
      kubeconfig,
      stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'test',
        contexts: [{ name: 'test', context: { cluster: 'test', user: 'plugin' } }],
        clusters: [{ name: 'test', cluster: { server: server.server, ...certificateAuthority } }],
        users: [{ name: 'plugin', user: { exec } }],
      }),
    );
    expect(await observe(as(loadConfig({ path: kubeconfig })))).toEqual(reader());
  });

  test('supports impersonation by the administrator', async () => {
    const config = loadConfig({ path: cluster.kubeconfigPath });
    const user = `system:serviceaccount:${namespace}:reader`;
    expect(await observe(as({ ...config, impersonate: { user, groups: ['system:authenticated'] } }))).toEqual(reader());
  });

  test('fails with an unknown token', async () => {
    const refused = await whoIs(as({ ...server, token: 'nonsense' })).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 401 });
  });
});

async function whoIs(client: Client): Promise<string> {
  const review = await client.raw<{ status: { userInfo: { username: string } } }>({
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
  });
  return review.status.userInfo.username;
}

/** Creates a service account `reader` that may read the ConfigMaps of its namespace, and one of them. */
async function allowReading(admin: Client, namespace: string): Promise<void> {
  const metadata = { name: 'reader', namespace };
  await admin.create(configMaps, configMap(namespace, 'visible'));
  await admin.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }];
  await admin.create(roles, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata, rules });
  await admin.create(roleBindings, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
    subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace }],
  });
}

async function requestToken(admin: Client, namespace: string, audiences?: readonly string[]): Promise<string> {
  const { status } = await admin.raw<{ status: { token: string } }>({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/reader/token`,
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 3600, ...(audiences && { audiences }) },
    },
  });
  return status.token;
}
