// Runs commands as processes without a cluster, or with one that rejects the credentials.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { configOfCluster } from './kubeconfig/source.ts';
import { namespaceWithoutCluster } from './objects/cluster-hint.ts';
import { runnerFor } from './testing/offshoot-process.ts';
import type { Runner } from './testing/offshoot-process.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'offshoot-without-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe('--dry-run=client', () => {
  let runner: Runner;
  beforeAll(() => {
    runner = runnerFor(path.join(dir, 'none'));
  });

  test('prints the manifest of an environment whose containers are named', async () => {
    const flags = ['--subset', 'cart:app=cart:2', '--header', 'a=b', '--dry-run=client', '-o', 'yaml'];
    const printed = await runner.run('env', 'create', 'feature', ...flags);
    expect(printed).toMatchObject({ code: 0, stderr: '' });
    expect(parse(printed.stdout)).toMatchObject({
      kind: 'DynamicEnv',
      metadata: { name: 'feature', namespace: 'default' },
      spec: { subsets: [{ name: 'cart', containers: [{ containerName: 'app', image: 'cart:2' }] }] },
    });
    const file = path.join(dir, 'feature.yaml');
    writeFileSync(file, printed.stdout);
    expect(await runner.run('env', 'create', '-f', file, '--dry-run=client')).toEqual({
      code: 0,
      stdout: 'dynamicenv.riskified.com/feature created (dry run)\n',
      stderr: '',
    });
  });

  test('rejects what the webhook would reject', async () => {
    const flags = ['--subset', 'cart:app=cart:2', '--header', 'a~=(?=x)', '--dry-run=client', '-o', 'yaml'];
    const { code, stdout, stderr } = await runner.run('env', 'create', 'feature', ...flags);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/RE2/);
  });

  test('says how to avoid a lookup in the cluster', async () => {
    const flags = ['--subset', 'cart=cart:2', '--header', 'a=b', '--dry-run=client'];
    const { code, stderr } = await runner.run('env', 'create', 'feature', ...flags);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^error: --subset "cart=cart:2": its container is looked up in the cluster \(no cluster configured: .*\); name it as cart:CONTAINER=cart:2\ncode: InvalidFlag/,
    );
  });

  test('prints the manifest of a claim', async () => {
    const flags = ['--class', 'sandbox', '-n', 'team', '--dry-run=client', '-o', 'name'];
    expect(await runner.run('claim', 'create', 'staging', ...flags)).toEqual({
      code: 0,
      stdout: 'deploymenttargetclaim.appstudio.redhat.com/staging\n',
      stderr: '',
    });
  });
});

test.each<[string, string, string]>([
  ['an empty file', '', 'default'],
  ['one without a current context', 'contexts: []', 'default'],
  [
    'a context whose cluster is missing',
    'current-context: a\ncontexts: [{name: a, context: {namespace: shop}}]',
    'shop',
  ],
])('namespaceWithoutCluster reads the kubeconfig: %s', (_what, text, namespace) => {
  const file = path.join(dir, 'partial');
  writeFileSync(file, text);
  expect(namespaceWithoutCluster({}, { KUBECONFIG: file })).toBe(namespace);
  expect(namespaceWithoutCluster({ namespace: 'mine' }, { KUBECONFIG: file })).toBe('mine');
});

test('the error without a cluster says how to get one', async () => {
  const { code, stderr } = await runnerFor(path.join(dir, 'nothing')).run('env', 'list');
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(
      /^error: no cluster configured: .*, or start a cluster of your own with "offshoot up"\ncode: NoCluster, /,
    ),
  ]);
});

test('configOfCluster names a context or kubeconfig that does not exist', async () => {
  vi.stubEnv('XDG_STATE_HOME', path.join(dir, 'state'));
  vi.stubEnv('KUBECONFIG', path.join(dir, 'nothing'));
  const ofUp = path.join(dir, 'state/offshoot/kubeconfig');
  try {
    mkdirSync(path.dirname(ofUp), { recursive: true });
    writeFileSync(ofUp, 'contexts: [{name: offshoot, context: {}}]');
    expect(() => configOfCluster({ context: 'nosuch' })).toThrow(
      `there is no context 'nosuch'; known: offshoot (of "offshoot up")`,
    );
    expect(() => configOfCluster({ kubeconfig: '/nosuch' })).toThrow('kubeconfig /nosuch: the file does not exist');
  } finally {
    vi.unstubAllEnvs();
  }
});

test('the error for a stopped cluster of "offshoot up" names its kubeconfig', async () => {
  const file = path.join(dir, 'of-up');
  const text = `
current-context: offshoot
contexts: [{name: offshoot, context: {cluster: offshoot, user: admin}}]
clusters: [{name: offshoot, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: admin, user: {token: t}}]`;
  writeFileSync(file, text);
  expect(await runnerFor(file).run('env', 'list')).toEqual({
    code: 1,
    stdout: '',
    stderr: `error: nobody answers at http://127.0.0.1:1, where "offshoot up" ran last (${file}): start it again\ncode: ConnectionRefused, see "offshoot errors ConnectionRefused"\n`,
  });
});

describe('a cluster that does not accept our credentials', () => {
  let server: Server;
  let url: string;
  beforeAll(async () => {
    const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'Unauthorized', code: 401 };
    server = createServer((_request, response) => {
      response.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify(status));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());

  test.each([
    ['env', 'list'],
    ['env', 'list', '-w'],
    ['env', 'create', 'feature', '--subset', 'cart=cart:2', '--header', 'a=b'],
    ['claim', 'create', 'staging', '--class', 'sandbox'],
    ['run', '--metrics-bind-address', '0', '--health-probe-bind-address', '0'],
  ])('is reported with the server, the user and the kubeconfig: %s %s %s', async (...args) => {
    const file = path.join(dir, 'refused');
    const text = `
current-context: work
contexts: [{name: work, context: {cluster: far, user: jane}}]
clusters: [{name: far, cluster: {server: "${url}"}}]
users: [{name: jane, user: {token: old}}]`;
    writeFileSync(file, text);
    const { code, stderr } = await runnerFor(file).run(...args);
    expect(code).toBe(1);
    expect(stderr).toContain(
      `error: Unauthorized: ${url} does not accept the credentials of user "jane" (context "work" of ${file}): get new ones, or choose another --context\n`,
    );
  });
});
