// A support bundle of a cluster that is full of secrets: it contains logs and metrics of pods, and no value of a
// Secret. The embedded cluster runs no containers, so a proxy in front of it serves their logs and metrics.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dynamicEnv } from '../../api/dynamicenv.ts';
import { deploymentTarget } from '../../api/targets.ts';
import { startEmbedded } from '../../embedded/index.ts';
import type { Embedded } from '../../embedded/index.ts';
import { apiVersionOf, connect, defineKind } from '../../kube/index.ts';
import type { Client, Kind, KubeObject } from '../../kube/index.ts';
import { SELECTOR } from '../install/installation.ts';
import { runnerFor } from '../testing/offshoot-process.ts';

const PASSWORD = 'correct-horse-battery-staple';
const TOKEN = 'zx81-spectrum-amiga';
const PRIVATE_KEY =
  '-----BEGIN RSA PRIVATE KEY-----\nMIIBOgIBAAJBAKj34GkxFhD90vcNLYLInFEX6Ppy1tPf9Cnzj4p4WGeKLs1Pt8Qu\n-----END RSA PRIVATE KEY-----';
const KUBECONFIG = `users: [{name: a, user: {token: ${TOKEN}, client-key-data: ${base64(PRIVATE_KEY)}}}]`;
const MANIFEST = JSON.stringify({ env: [{ name: 'DB_PASSWORD', value: PASSWORD }], token: TOKEN });

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

const kinds = {
  secret: defineKind('v1', 'Secret', 'secrets'),
  deployment: defineKind('apps/v1', 'Deployment', 'deployments'),
  pod: defineKind('v1', 'Pod', 'pods'),
  event: defineKind('v1', 'Event', 'events'),
  configMap: defineKind('v1', 'ConfigMap', 'configmaps'),
  definition: defineKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', {
    namespaced: false,
  }),
};

let cluster: Embedded;
let front: Server;
let client: Client;
let dir: string;
/** The files of the bundle, by path. */
let files: ReadonlyMap<string, string>;
let ran: { readonly code: number | null; readonly stderr: string };
const requested: string[] = [];

const LOGS: Readonly<Record<string, string>> = {
  'container=manager&previous=false': `{"msg":"leading"}\n{"err":"401","header":"Bearer ${TOKEN}"}\nDB_PASSWORD=${PASSWORD}\n`,
  'container=manager&previous=true': `panic: postgres://shop:${PASSWORD}@db/shop\n${PRIVATE_KEY}\n`,
};

beforeAll(async () => {
  cluster = await startEmbedded({ simulation: false });
  client = connect({ server: cluster.url, caPem: cluster.caPem, token: cluster.admin.token });
  dir = mkdtempSync(path.join(tmpdir(), 'offshoot-secrets-'));
  await createObjectsWithSecrets();
  front = createServer((incoming, answer) => {
    const url = new URL(incoming.url ?? '', 'http://front');
    if (/\/pods\/[^/]+\/log$/.test(url.pathname)) {
      requested.push(url.pathname);
      const key = ['container', 'previous'].map((name) => `${name}=${url.searchParams.get(name)}`).join('&');
      return answer.setHeader('content-type', 'text/plain').end(LOGS[key] ?? '');
    }
    if (url.pathname.endsWith(':8080/proxy/metrics')) {
      requested.push(url.pathname);
      return answer.setHeader('content-type', 'text/plain').end('offshoot_build_info{version="1.0.0"} 1\n');
    }
    requested.push(url.pathname);
    const headers = { ...incoming.headers, authorization: `Bearer ${cluster.admin.token}` };
    const onward = request(new URL(incoming.url ?? '', cluster.url), {
      ca: cluster.caPem,
      method: incoming.method,
      headers,
    });
    onward.on('response', (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    return incoming.pipe(onward);
  }).listen(0, '127.0.0.1');
  await once(front, 'listening');
  const kubeconfig = path.join(dir, 'kubeconfig');
  const server = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'a',
      clusters: [{ name: 'a', cluster: { server } }],
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      users: [{ name: 'a', user: {} }],
    }),
  );
  const archive = path.join(dir, 'bundle.tar.gz');
  ran = await runnerFor(kubeconfig).run('support-bundle', '--file', archive);
  execFileSync('tar', ['xzf', archive, '-C', dir, '--strip-components=1']);
  const found = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => path.relative(dir, path.join(each.parentPath, each.name)))
    .filter((each) => each !== 'kubeconfig' && each !== 'bundle.tar.gz');
  files = new Map(found.map((each) => [each, readFileSync(path.join(dir, each), 'utf8')]));
}, 60_000);

afterAll(async () => {
  client.close();
  front.closeAllConnections();
  front.close();
  await cluster.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** Creates objects with secrets in all the fields where people and tools put them. */
async function createObjectsWithSecrets(): Promise<void> {
  const create = (kind: Kind<KubeObject>, name: string, rest: object, metadata: object = {}): Promise<KubeObject> => {
    const namespaced = kind.namespaced ? { namespace: 'default' } : {};
    const all = { name, ...namespaced, ...metadata };
    return client.create(kind, { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: all, ...rest });
  };
  for (const { crd } of [dynamicEnv, deploymentTarget]) await client.create(kinds.definition, crd);
  await create(kinds.secret, 'db', { stringData: { password: PASSWORD, token: TOKEN } }, { labels: SELECTOR });
  const release = base64(gzipSync(MANIFEST).toString('base64'));
  await create(kinds.secret, 'sh.helm.release.v1.shop.v1', { type: 'helm.sh/release.v1', data: { release } });
  await create(kinds.secret, 'claim-credentials', { stringData: { kubeconfig: KUBECONFIG } });
  const annotations = {
    'kubectl.kubernetes.io/last-applied-configuration': MANIFEST,
    'objectset.rio.cattle.io/applied': release,
    'team.example/manifest': MANIFEST,
    'team.example/kubeconfig': KUBECONFIG,
  };
  const labels = { app: 'cart' };
  const containers = [
    {
      name: 'cart',
      image: 'cart:1',
      args: ['--db-password', PASSWORD, `--token=${TOKEN}`],
      command: ['sh', '-c', `export DB_PASSWORD=${PASSWORD}; exec cart`],
      env: [
        { name: 'DB_PASSWORD', value: PASSWORD },
        { name: 'DATABASE', value: `postgres://shop:${PASSWORD}@db/shop` },
        { name: 'KUBE_CONFIG', value: KUBECONFIG },
      ],
    },
  ];
  const spec = {
    selector: { matchLabels: labels },
    template: { metadata: { labels, annotations }, spec: { containers } },
  };
  await create(kinds.deployment, 'cart', { spec }, { annotations });
  const overrides = [{ containerName: 'cart', image: 'cart:2', env: containers[0]!.env }];
  const subsets = [{ name: 'cart', namespace: 'default', containers: overrides }];
  await create(dynamicEnv.kind, 'pr-7', { spec: { key: 'pr-7', subsets } }, { annotations });
  const message = `Error: login failed: password: ${PASSWORD}, Bearer ${TOKEN}`;
  const involvedObject = { kind: 'DynamicEnv', namespace: 'default', name: 'pr-7' };
  await create(kinds.event, 'pr-7.1', { involvedObject, reason: 'Failed', message, type: 'Warning' });
  await create(kinds.configMap, 'settings', { data: { 'config.yaml': `token: ${TOKEN}` } }, { labels: SELECTOR });
  await create(
    kinds.pod,
    'offshoot-1',
    { spec: { containers: [{ ...containers[0]!, name: 'manager' }] } },
    { labels: SELECTOR, annotations },
  );
  const status = {
    phase: 'Running',
    containerStatuses: [{ name: 'manager', ready: true, restartCount: 1, image: 'a', imageID: 'a' }],
  };
  const ref = { name: 'offshoot-1', namespace: 'default' };
  await client.patch(kinds.pod, ref, { type: 'merge', body: { status } }, { subresource: 'status' });
}

test('the bundle contains everything that may be read', () => {
  expect([ran.code, ran.stderr]).toEqual([0, '']);
});

test('the bundle contains the logs of every container, also before its restart, and the metrics', () => {
  expect(files.get('logs/offshoot-1/manager.log')).toBe(
    '{"msg":"leading"}\n{"err":"401","header":"Bearer <redacted>"}\nDB_PASSWORD=<redacted>\n',
  );
  expect(files.get('logs/offshoot-1/manager.previous.log')).toBe(
    'panic: postgres://shop:<redacted>@db/shop\n<redacted>\n',
  );
  expect(files.get('metrics/offshoot-1.txt')).toBe('offshoot_build_info{version="1.0.0"} 1\n');
});

test('the bundle contains the objects with secrets', () => {
  expect([...files.keys()]).toEqual(
    expect.arrayContaining([
      'events.yaml',
      'objects/default/deployments.yaml',
      'objects/default/dynamicenvs.yaml',
      'offshoot/default/configmaps.yaml',
      'offshoot/default/pods.yaml',
    ]),
  );
});

test.each([
  ['a password', PASSWORD],
  ['a password in base64', base64(PASSWORD)],
  ['a token', TOKEN],
  ['a token in base64', base64(TOKEN)],
  ['a private key', PRIVATE_KEY.split('\n')[1]!],
  ['a private key in base64', base64(PRIVATE_KEY).slice(24, 60)],
  ['a Helm release', base64(gzipSync(MANIFEST).toString('base64')).slice(0, 60)],
])('the bundle does not contain %s', (_what, secret) => {
  const inside = [...files].filter(([, text]) => text.includes(secret)).map(([file]) => file);
  expect(inside).toEqual([]);
});

test('the bundle is collected without reading Secrets', () => {
  expect(requested.filter((each) => /\/secrets(\/|$)/.test(each))).toEqual([]);
  expect(requested.filter((each) => each.endsWith('/log'))).toHaveLength(2);
});
