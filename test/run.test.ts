// `offshoot run` and `offshoot up` as a user starts them: as processes.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ask } from './dashboard/page.ts';
import { CustomResourceDefinition } from './support/core-kinds.ts';
import { startOffshoot } from './support/offshoot-process.ts';
import type { Running } from './support/offshoot-process.ts';
import { until } from './support/until.ts';
import { partsOf } from '../src/cli/run/parts.ts';
import { DynamicEnv } from '../src/api/dynamicenv.ts';
import { Space, SpaceRequest } from '../src/api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from '../src/api/targets.ts';
import { ValidatingWebhookConfiguration } from '../src/controller/webhook/registration.ts';
import { startEmbedded } from '../src/embedded/index.ts';
import type { Embedded } from '../src/embedded/index.ts';
import { connect, createAuthority, Lease, loadConfig } from '../src/kube/index.ts';
import { microTime } from '../src/kube/times.ts';
import type { Client } from '../src/kube/index.ts';

const children: Running[] = [];

function offshoot(args: readonly string[], env: NodeJS.ProcessEnv = {}): Running {
  const running = startOffshoot(args, { HOME: dir, ...env });
  children.push(running);
  return running;
}

let dir: string;
let cluster: Embedded;
let kubeconfig: string;
let client: Client;

beforeAll(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'offshoot-run-'));
  cluster = await startEmbedded();
  kubeconfig = path.join(dir, 'kubeconfig');
  writeFileSync(kubeconfig, cluster.kubeconfig());
  client = connect(loadConfig({ path: kubeconfig }));
});

afterEach(async () => {
  for (const { child, exit } of children.splice(0)) {
    child.kill('SIGKILL');
    await exit;
  }
});

afterAll(async () => {
  client.close();
  await cluster.stop();
  rmSync(dir, { recursive: true, force: true });
});

const PORTS = [
  '--metrics-bind-address',
  '127.0.0.1:0',
  '--health-probe-bind-address',
  '127.0.0.1:0',
  '--webhook-port',
  '0',
];

function run(args: readonly string[], env?: NodeJS.ProcessEnv): Running {
  return offshoot(['run', '--kubeconfig', kubeconfig, ...PORTS, ...args], env);
}

/** Preloads test/support/observe-process.ts. */
const observed = { NODE_OPTIONS: `--import=${new URL('support/observe-process.ts', import.meta.url).href}` };

function env(name: string, overrides: Partial<DynamicEnv['spec']> = {}): DynamicEnv {
  return {
    apiVersion: 'riskified.com/v1alpha1',
    kind: 'DynamicEnv',
    metadata: { namespace: 'default', name },
    spec: {
      istioMatches: [{ headers: { 'x-env': { exact: name } } }],
      subsets: [{ name: 'details', namespace: 'default', containers: [{ containerName: 'app' }] }],
      ...overrides,
    },
  };
}

function claim(name: string, spec: DeploymentTargetClaim['spec']): DeploymentTargetClaim {
  const metadata = { namespace: 'default', name };
  return { apiVersion: 'appstudio.redhat.com/v1alpha1', kind: 'DeploymentTargetClaim', metadata, spec };
}

/** The state of an environment. */
async function state(name: string): Promise<string | undefined> {
  return (await client.get(DynamicEnv, { namespace: 'default', name })).status?.state;
}

describe('offshoot run', () => {
  test('says what to do if the definitions are missing, and installs them with --install-crds', async () => {
    const refused = run([]);
    expect(await refused.exit).toEqual({ code: 1, signal: null });
    expect(refused.out.stderr).toContain(
      'error: the cluster does not know dynamicenvs.riskified.com: install with "offshoot crds | kubectl apply -f -", or start with --install-crds',
    );

    const running = run(['--install-crds']);
    await running.logged('running');
    expect(await client.get(CustomResourceDefinition, { name: 'dynamicenvs.riskified.com' })).toBeDefined();
    running.child.kill('SIGTERM');
    expect(await running.exit).toEqual({ code: 0, signal: null });
  });

  test('reconciles, serves probes, metrics and a webhook, and removes the webhook configuration when it ends', async () => {
    const running = run(['--webhook-loopback']);
    const { probes, metrics, webhook } = await running.logged('running');
    expect(webhook).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect((await fetch(`${probes}/healthz`)).status).toBe(200);
    expect((await fetch(`${probes}/readyz`)).status).toBe(200);
    expect((await fetch(`${probes}/metrics`)).status).toBe(404);

    await expect(client.create(DynamicEnv, env('bad', { istioMatches: [] }))).rejects.toThrow(
      'admission webhook "vdynamicenv.kb.io" denied the request: spec: Invalid value: []: empty IstioMatch',
    );
    await client.create(DynamicEnv, env('blue'));
    await until(async () => (await state('blue')) === 'degraded');
    const text = await (await fetch(`${metrics}/metrics`)).text();
    expect(text).toContain('dynamic_environments{namespace="default"} 1');
    expect(text).toMatch(/controller_runtime_reconcile_total\{controller="environments",result="success"\} [1-9]/);
    expect(text).toMatch(/rest_client_requests_total\{code="201",method="POST"/);

    await client.delete(DynamicEnv, { namespace: 'default', name: 'blue' });
    await until(() =>
      client.get(DynamicEnv, { namespace: 'default', name: 'blue' }).then(
        () => false,
        () => true,
      ),
    );
    running.child.kill('SIGINT');
    expect(await running.exit).toEqual({ code: 0, signal: null });
    expect((await client.list(ValidatingWebhookConfiguration)).items).toEqual([]);
  });

  // Never open to the network of a laptop without a flag; in a pod, Prometheus and the kubelet must reach them.
  test.each([
    ['loopback on a laptop', {}, '127.0.0.1'],
    ['all addresses in a pod', { KUBERNETES_SERVICE_HOST: '10.0.0.1' }, ''],
  ])('listens on %s by default', async (_where, variables, host) => {
    const args = ['run', '--kubeconfig', kubeconfig, '--install-crds', '--no-webhook', '--dashboard'];
    const running = offshoot(args, { ...observed, ...variables });
    await running.logged('running');
    for (const port of [8080, 8081, 7444]) expect((await running.logged(`listens on port ${port}`))['host']).toBe(host);
    running.child.kill('SIGTERM');
    expect(await running.exit).toEqual({ code: 0, signal: null });
  });

  test('limits the growth of its heap', async () => {
    const running = run(['--install-crds', '--no-webhook'], observed);
    await running.logged('running');
    expect(running.out.stderr).toContain('"sets --semi-space-growth-factor=1"');
    expect(running.out.stderr).toContain('"sets --heap-growing-percent=30"');
    running.child.kill('SIGTERM');
    expect(await running.exit).toEqual({ code: 0, signal: null });
  });

  test('stops on SIGTERM while it still waits for the cluster', async () => {
    const connections: Socket[] = [];
    const silent = createServer((socket) => connections.push(socket)).listen(0, '127.0.0.1');
    await until(() => silent.listening);
    const file = path.join(dir, 'silent.kubeconfig');
    const { port } = silent.address() as AddressInfo;
    writeFileSync(file, cluster.kubeconfig().replace(/server: .*/, `server: https://127.0.0.1:${port}`));
    const running = offshoot(['run', '--kubeconfig', file, ...PORTS]);
    await until(() => connections.length > 0, 20_000);
    running.child.kill('SIGTERM');
    expect(await running.exit).toEqual({ code: 0, signal: null });
    for (const socket of connections) socket.destroy();
    silent.close();
  });

  test('shuts down gracefully even if its log is no longer read', async () => {
    const running = run(['--webhook-loopback', '--install-crds']);
    await running.logged('running');
    running.child.stderr!.destroy();
    running.child.kill('SIGTERM');
    expect(await running.exit).toEqual({ code: 0, signal: null });
    expect((await client.list(ValidatingWebhookConfiguration)).items).toEqual([]);
  });

  test('recovers after it was killed with its webhook registered', async () => {
    const first = run(['--webhook-loopback']);
    await first.logged('running');
    first.child.kill('SIGKILL');
    await first.exit;
    // The webhook is registered, but does not answer.
    await expect(client.create(DynamicEnv, env('orphan'))).rejects.toThrow(
      'failed calling webhook "vdynamicenv.kb.io"',
    );
    const second = run(['--webhook-loopback']);
    await second.logged('running');
    await client.create(DynamicEnv, env('orphan'));
    await until(async () => (await state('orphan')) === 'degraded');
    await client.delete(DynamicEnv, { namespace: 'default', name: 'orphan' });
    second.child.kill('SIGTERM');
    expect(await second.exit).toEqual({ code: 0, signal: null });
  });

  test('can be made to crash after a given write, and the next process continues', async () => {
    await client.create(DynamicEnv, env('crash'));
    const first = run(['--no-webhook'], { OFFSHOOT_EXIT_AFTER_WRITE: '1' });
    expect(await first.exit).toEqual({ code: null, signal: 'SIGKILL' });
    const left = await client.get(DynamicEnv, { namespace: 'default', name: 'crash' });
    expect([left.metadata.finalizers?.length, left.status]).toEqual([3, undefined]);
    const second = run([], { ENABLE_WEBHOOKS: 'false' });
    await until(async () => (await state('crash')) === 'degraded', 20_000);
    await client.delete(DynamicEnv, left.metadata);
    second.child.kill('SIGTERM');
    expect(await second.exit).toEqual({ code: 0, signal: null });
  });

  test('exits with code 1 when another process takes its Lease', async () => {
    const running = run(['--leader-elect', '--no-webhook'], { POD_NAMESPACE: 'kube-system' });
    await running.logged('running');
    const ref = { namespace: 'kube-system', name: 'dynamic-environment-lock' };
    await until(() =>
      client.get(Lease, ref).then(
        (lease) => Boolean(lease.spec?.holderIdentity),
        () => false,
      ),
    );
    // Another process takes the Lease without waiting for its expiry.
    const stolen = { spec: { holderIdentity: 'thief', leaseDurationSeconds: 3600 } };
    await client.patch(Lease, ref, { type: 'merge', body: stolen });
    expect(await running.exit).toEqual({ code: 1, signal: null });
    expect(running.out.stderr).toContain(
      'error: the lease dynamic-environment-lock is lost: another process may have it now',
    );
    // A process without leader election reports the holder, and exits.
    const second = run(['--no-webhook']);
    expect(await second.exit).toEqual({ code: 1, signal: null });
    expect(second.out.stderr).toContain('error: thief runs the controllers of environments for this cluster');
    await client.delete(Lease, ref);
  });

  test.each([
    ['its Lease', 'default', '53746cb8.redhat.com', 'the original'],
    [
      'its Lease in another namespace',
      'kube-public',
      '53746cb8.redhat.com',
      'the original (Lease kube-public/53746cb8.redhat.com)',
    ],
    [
      'the Lease of an operator that does some of its work',
      'kube-public',
      'dc07038f.toolchain.host.operator',
      'the original (Lease kube-public/dc07038f.toolchain.host.operator)',
    ],
  ])('lets a part wait while another process holds %s, and runs the others', async (_what, namespace, name, holder) => {
    const lease = { namespace, name };
    const spec = { holderIdentity: 'the original', leaseDurationSeconds: 3600, renewTime: microTime(Date.now()) };
    await client.create(Lease, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: lease, spec });
    const running = run(['--controllers', 'environments,targets', '--install-crds', '--leader-elect', '--no-webhook'], {
      POD_NAMESPACE: 'default',
    });
    const { probes, metrics } = await running.logged('running');
    expect(await running.logged('another process holds the lease: waiting')).toMatchObject({
      lease: '53746cb8.redhat.com',
      holder,
    });
    await client.create(DynamicEnv, env('blue'));
    await client.create(DeploymentTargetClaim, claim('waiting', { deploymentTargetClassName: 'none' }));
    await until(async () => (await state('blue')) === 'degraded');
    const untouched = await client.get(DeploymentTargetClaim, { namespace: 'default', name: 'waiting' });
    expect([untouched.metadata.finalizers, untouched.status]).toEqual([undefined, undefined]);
    expect((await fetch(`${probes}/readyz`)).status).toBe(200);
    const text = await (await fetch(`${metrics}/metrics`)).text();
    expect(text).toContain('leader_election_master_status{name="dynamic-environment-lock"} 1');
    expect(text).toContain('leader_election_master_status{name="53746cb8.redhat.com"} 0');

    await client.patch(Lease, lease, { type: 'merge', body: { spec: { holderIdentity: '' } } });
    await until(
      async () => (await client.get(DeploymentTargetClaim, untouched.metadata)).status?.phase === 'Pending',
      20_000,
    );
    await client.delete(DynamicEnv, { namespace: 'default', name: 'blue' });
    await client.delete(DeploymentTargetClaim, untouched.metadata);
    // Their finalizers are removed by the controllers, and the next case creates them again.
    await until(async () => {
      const { items: environments } = await client.list(DynamicEnv, { fieldSelector: 'metadata.name=blue' });
      const { items: claims } = await client.list(DeploymentTargetClaim, { fieldSelector: 'metadata.name=waiting' });
      return environments.length + claims.length === 0;
    });
    running.child.kill('SIGTERM');
    expect(await running.exit).toEqual({ code: 0, signal: null });
    await client.delete(Lease, lease);
  });

  test('manages claims with the settings of its flags', async () => {
    const running = run(
      `--controllers targets --install-crds --webhook-loopback --space-controllers=false --claim-ref-shape object
       --target-cluster-url https://api.example.com:6443`.split(/\s+/),
    );
    await running.logged('running');
    for (const provisioner of ['offshoot.dev/namespace', 'appstudio.redhat.com/devsandbox']) {
      const name = provisioner.split('/')[1]!;
      await client.create(DeploymentTargetClass, {
        apiVersion: 'appstudio.redhat.com/v1alpha1',
        kind: 'DeploymentTargetClass',
        metadata: { name },
        spec: { provisioner, reclaimPolicy: 'Delete' },
      });
      await client.create(DeploymentTargetClaim, claim(name, { deploymentTargetClassName: name }));
    }
    await until(async () => (await client.list(DeploymentTarget)).items[0]?.status?.phase === 'Bound', 20_000);
    expect((await client.list(DeploymentTarget)).items[0]!.spec).toMatchObject({
      claimRef: { name: 'namespace' },
      kubernetesCredentials: { apiURL: 'https://api.example.com:6443' },
    });
    await until(async () => (await client.list(SpaceRequest)).items.length === 1, 20_000);
    const bad = claim('bad', { deploymentTargetClassName: '', ttl: 'soon' });
    await expect(client.create(DeploymentTargetClaim, bad)).rejects.toThrow('spec.ttl: Invalid value: "soon"');
    running.child.kill('SIGTERM');
    expect(await running.exit).toEqual({ code: 0, signal: null });
    // The space controllers are off, so nobody reconciled the request.
    const [request] = (await client.list(SpaceRequest)).items;
    expect([request!.status, (await client.list(Space)).items]).toEqual([undefined, []]);
  });

  test('logs which other parts it could run, and how', async () => {
    const running = run(['--controllers', 'targets', '--no-webhook', '--install-crds']);
    await running.logged('running');
    const others = partsOf()
      .map(({ name }) => name)
      .filter((name) => name !== 'targets');
    const flag = `--controllers ${['targets', ...others].join(',')}`;
    const message = `these parts are not run here: ${others.join(', ')}; \\"${flag}\\" runs them too`;
    expect((await running.logged(message))['others']).toEqual(others);
    running.child.kill('SIGTERM');
    expect(await running.exit).toEqual({ code: 0, signal: null });
  });

  test.each(['--metrics-bind-address', '--health-probe-bind-address', '--webhook-port'])(
    'reports a port that is in use with its flag: %s',
    async (flag) => {
      const taken = createServer().listen(0, '127.0.0.1');
      await until(() => taken.listening);
      const { port } = taken.address() as AddressInfo;
      const address = flag === '--webhook-port' ? String(port) : `127.0.0.1:${port}`;
      const running = run(['--install-crds', '--webhook-loopback', flag, address]);
      expect(await running.exit).toEqual({ code: 1, signal: null });
      expect(running.out.stderr).toContain(`error: ${flag}: port ${port} is in use; choose another one\n`);
      taken.close();
    },
  );

  test('does not register the webhook for claims if DISABLE_APPSTUDIO_WEBHOOK is set', async () => {
    const running = run(['--controllers', 'environments,targets', '--install-crds', '--webhook-loopback'], {
      DISABLE_APPSTUDIO_WEBHOOK: 'True',
    });
    await running.logged('running');
    const names = (await client.list(ValidatingWebhookConfiguration)).items.map(({ metadata }) => metadata.name);
    expect(names).toEqual(['offshoot-environments']);
    running.child.kill('SIGTERM');
    expect(await running.exit).toEqual({ code: 0, signal: null });
  });

  test.each<[string, string[], NodeJS.ProcessEnv, string]>([
    [
      'an unknown controller',
      ['--controllers', 'environments,meshes'],
      {},
      'error: there is no controller "meshes"; known: environments',
    ],
    [
      'an invalid boolean in an environment variable',
      [],
      { LEADER_ELECT: 'maybe' },
      "error: option '--leader-elect [bool]' value 'maybe' from env 'LEADER_ELECT' is invalid. It is true or false.",
    ],
    [
      'a directory without a certificate',
      ['--webhook-loopback', '--webhook-cert-dir', '/nowhere'],
      {},
      "no such file or directory, open '/nowhere/tls.crt'",
    ],
  ])('rejects %s', async (_name, args, variables, text) => {
    const running = run(args, variables);
    expect(await running.exit).toEqual({ code: 1, signal: null });
    expect(running.out.stderr).toContain(text);
  });
});

describe('offshoot run --dashboard', () => {
  const dashboard = (...args: string[]): Running =>
    run(['--install-crds', '--dashboard', '--dashboard-bind-address', '127.0.0.1:0', ...args]);

  test('serves the dashboard to users with a token, and ends with the controllers', async () => {
    const running = dashboard('--dashboard-host', 'dash.example,other.example:8443', '--dashboard-session', '1h');
    const { dashboard: url = '' } = await running.logged('running');
    expect(await ask(url, 'GET', '/api/choices')).toMatchObject({ status: 401 });
    const signed = await ask(url, 'POST', '/api/session', { body: { token: cluster.admin.token } });
    expect(signed).toMatchObject({ status: 200 });
    expect(signed.headers['set-cookie']![0]).toContain('Max-Age=3600;');
    const by = { authorization: `Bearer ${cluster.admin.token}` };
    const named = (host: string) => ask(url, 'GET', '/api/choices', { headers: { ...by, host } });
    expect(await named('dash.example:1')).toMatchObject({ status: 200 });
    expect(await named('other.example')).toMatchObject({ status: 421 });
    const written = await ask(url, 'DELETE', '/api/environments/default/x', { headers: by });
    expect(written).toMatchObject({ status: 403, body: { error: 'this dashboard is read-only' } });
    running.child.kill('SIGTERM');
    expect(await running.exit).toEqual({ code: 0, signal: null });
  });

  test('serves TLS with a given certificate', async () => {
    const authority = createAuthority({ commonName: 'ca', days: 1 });
    const { certPem, keyPem } = authority.issue({
      commonName: 'd',
      ipAddresses: ['127.0.0.1'],
      days: 1,
      usage: 'server',
    });
    writeFileSync(path.join(dir, 'tls.crt'), certPem);
    writeFileSync(path.join(dir, 'tls.key'), keyPem);
    const running = dashboard('--dashboard-cert-dir', dir);
    const { dashboard: url = '' } = await running.logged('running');
    expect(url).toMatch(/^https:/);
    const headers = { origin: url.slice(0, -1), 'content-type': 'application/json' };
    const cookies = await new Promise<readonly string[] | undefined>((resolve, reject) => {
      const options = { method: 'POST', headers, ca: authority.certPem };
      const sent = request(new URL('/api/session', url), options, (response) => {
        response.resume();
        resolve(response.headers['set-cookie']);
      });
      sent.on('error', reject);
      sent.end(JSON.stringify({ token: cluster.admin.token }));
    });
    expect(cookies).toEqual([expect.stringMatching(/^__Host-offshoot-session=.*; Secure$/)]);
  });

  test('reports an address that is in use with its flag', async () => {
    const running = run(['--install-crds', '--dashboard', '--dashboard-bind-address', `:${new URL(cluster.url).port}`]);
    expect(await running.exit).toEqual({ code: 1, signal: null });
    expect(running.out.stderr).toContain('error: --dashboard-bind-address: port');
  });
});

describe('offshoot up', () => {
  async function up(...args: string[]): Promise<{ running: Running; ready: Record<string, string>; api: Client }> {
    const running = offshoot(['up', '--port', '0', '-o', 'json', ...args]);
    await until(() => running.out.stdout.includes('\n') || running.child.exitCode !== null, 20_000);
    const ready = JSON.parse(running.out.stdout) as Record<string, string>;
    return { running, ready, api: connect(loadConfig({ path: ready['kubeconfig']! })) };
  }

  test('is ready with the kinds of the mesh, the controllers and the webhook', async () => {
    const { running, api } = await up('--memory');
    expect(await api.get(CustomResourceDefinition, { name: 'virtualservices.networking.istio.io' })).toBeDefined();
    expect(await api.get(CustomResourceDefinition, { name: 'httproutes.gateway.networking.k8s.io' })).toBeDefined();
    await expect(api.create(DynamicEnv, env('bad', { istioMatches: [] }))).rejects.toThrow(
      'empty IstioMatch is invalid',
    );
    await api.create(DynamicEnv, env('blue'));
    await until(async () => (await api.get(DynamicEnv, env('blue').metadata)).status?.state === 'degraded');
    api.close();
    running.child.kill('SIGTERM');
    expect(await running.exit).toEqual({ code: 0, signal: null });
    expect(running.out.stderr).toBe('');
  });

  test('prints the URL of the dashboard in its JSON, except with --no-dashboard', async () => {
    const { running, ready, api } = await up('--memory');
    api.close();
    expect(ready['dashboard']).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    expect(await (await fetch(ready['dashboard']!)).text()).toContain('<title>Offshoot</title>');
    running.child.kill('SIGTERM');
    await running.exit;
    const without = await up('--memory', '--no-dashboard');
    without.api.close();
    expect(Object.keys(without.ready)).not.toContain('dashboard');
  });

  test('removes a stale webhook configuration when it restarts after a crash', async () => {
    const data = path.join(dir, 'data');
    const first = await up('--data-dir', data);
    await first.api.create(DynamicEnv, env('blue'));
    await until(async () => (await first.api.get(DynamicEnv, env('blue').metadata)).status?.state === 'degraded');
    first.api.close();
    first.running.child.kill('SIGKILL');
    await first.running.exit;
    const second = await up('--data-dir', data, '--no-controllers');
    expect(second.ready['webhook']).toBeUndefined();
    expect((await second.api.get(DynamicEnv, env('blue').metadata)).status?.state).toBe('degraded');
    await second.api.create(DynamicEnv, env('red', { istioMatches: [] }));
    second.api.close();
    second.running.child.kill('SIGTERM');
    expect(await second.running.exit).toEqual({ code: 0, signal: null });
  });
});

describe('offshoot env validate', () => {
  const manifest = { ...env('blue'), spec: { ...env('blue').spec, istioMatches: [] } };

  test('reports the position and the reason of an error, and exits with code 1', async () => {
    const file = path.join(dir, 'bad.json');
    writeFileSync(file, JSON.stringify(manifest, undefined, 2));
    const running = offshoot(['env', 'validate', '-f', file]);
    expect(await running.exit).toEqual({ code: 1, signal: null });
    expect(running.out.stderr).toBe(
      `${file}:9:5: spec: Invalid value: []: empty IstioMatch is invalid for DynamicEnv\n`,
    );
  });

  test('lists valid objects', async () => {
    const file = path.join(dir, 'good.json');
    writeFileSync(file, JSON.stringify(env('blue')));
    const running = offshoot(['env', 'validate', '-f', file]);
    expect(await running.exit).toEqual({ code: 0, signal: null });
    expect(running.out.stdout).toBe('dynamicenv/default/blue is valid\n');
  });
});

describe('offshoot claim validate', () => {
  test('reports what would be rejected as errors, and the rest as warnings', async () => {
    const file = path.join(dir, 'claims.yaml');
    const write = (ttl: string): void =>
      writeFileSync(file, JSON.stringify(claim('staging', { deploymentTargetClassName: 'Odd', ttl })));
    write('2 days');
    const refused = offshoot(['claim', 'validate', '-f', file]);
    expect(await refused.exit).toEqual({ code: 1, signal: null });
    expect(refused.out.stderr).toContain(`${file}:1:`);
    expect(refused.out.stderr).toContain('spec.ttl: Invalid value: "2 days"');
    write('2d');
    const warned = offshoot(['claim', 'validate', '-f', file]);
    expect(await warned.exit).toEqual({ code: 0, signal: null });
    expect(warned.out.stdout).toBe('deploymenttargetclaim/default/staging is valid\n');
    expect(warned.out.stderr).toContain(
      'warning: spec.deploymentTargetClassName: "Odd" is not a valid name for a class',
    );
  });
});
