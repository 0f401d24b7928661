// Runs `offshoot mesh plan` and `offshoot mesh upgrade` as processes with piped output, against a cluster.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { Istio } from '../../api/istio.ts';
import { createLogger, Manager } from '../../controller/index.ts';
import { defineKind } from '../../kube/index.ts';
import type { AnyObject } from '../../kube/index.ts';
import { builtinRenderer, mesh as meshControllers } from '../../mesh/index.ts';
import type { MeshPlan } from '../../mesh/index.ts';
import { version } from '../version/version.ts';
import { openMesh } from '../testing/mesh.ts';
import type { MeshCluster } from '../testing/mesh.ts';

const REF = { name: 'default', namespace: 'kyma-system' };
const HEADER =
  'apiVersion: operator.kyma-project.io/v1alpha2\nkind: Istio\nmetadata: { name: default, namespace: kyma-system }\n';
const Deployment = defineKind('apps/v1', 'Deployment', 'deployments');
const ReplicaSet = defineKind('apps/v1', 'ReplicaSet', 'replicasets');
const VirtualService = defineKind('networking.istio.io/v1', 'VirtualService', 'virtualservices');
const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });

let mesh: MeshCluster;
let manager: Manager;
const file = (): string => path.join(mesh.dir, 'istio.yaml');
const plan = (...args: string[]) => mesh.run('mesh', 'plan', ...args);

beforeAll(async () => {
  mesh = await openMesh();
  manager = new Manager({
    client: mesh.client,
    controllers: meshControllers({ renderer: builtinRenderer, istioVersion: '1.30.0', operatorVersion: version() }),
    logger: createLogger({ level: 'silent' }),
  });
});
afterAll(async () => {
  await manager.stop();
  await mesh.stop();
});

test('plan has nothing to do before anything is installed', async () => {
  expect(await plan()).toEqual({
    code: 0,
    stdout: 'Nothing to do.\nThere is no Istio resource in namespace kyma-system.\n',
    stderr: '',
  });
});

test('plan shows a first installation and writes nothing', async () => {
  await mesh.client.delete(Namespace, { name: 'istio-system' });
  writeFileSync(file(), `${HEADER}spec: {}\n`);
  const { code, stdout } = await plan('-f', file());
  expect(code).toBe(2);
  const lines = stdout.split('\n');
  expect(lines[0]).toBe('+ Istio kyma-system/default');
  expect(lines).toContain('+ Deployment istio-system/istiod');
  expect(lines).toContain('+ PeerAuthentication istio-system/default');
  expect(lines.slice(-3)).toEqual([
    expect.stringMatching(/^\d+ to create, 0 to change, 0 to remove\.$/),
    'Istio kyma-system/default would be Ready.',
    '',
  ]);
  expect((await mesh.client.list(Istio)).items).toEqual([]);
});

test('plan reports errors with their position, and those of the controllers', async () => {
  writeFileSync(file(), `${HEADER.replace('namespace: kyma-system', 'namespace: nowhere')}spec: {}\n`);
  expect(await plan('-f', file())).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('namespaces "nowhere" not found: kubectl create namespace nowhere'),
  });
  writeFileSync(file(), `${HEADER}spec:\n  config: { numTrustedProxies: -1 }\n`);
  const bad = await plan('-f', file());
  expect(bad).toMatchObject({ code: 1, stdout: '' });
  expect(bad.stderr).toMatch(/istio\.yaml:5:13: spec\.config\.numTrustedProxies: .*, found -1$/m);
  const authorizer = '{ name: a, port: 80 }';
  writeFileSync(file(), `${HEADER}spec:\n  config: { authorizers: [${authorizer}, ${authorizer}] }\n`);
  const twice = await plan('-f', file());
  expect(twice.code).toBe(1);
  expect(twice.stderr).toMatch(/^Warning: -f \S+:5:52: Authorizer name .*\(spec\.config\.authorizers\[1\]\.name\)$/m);
  expect(twice.stdout).toContain(
    '! Istio kyma-system/default would be Warning and make no progress: Authorizer name needs to be unique: a is duplicated',
  );
  writeFileSync(file(), `${HEADER.replace('v1alpha2', 'v1alpha1')}spec: {}\n`);
  expect(await plan('-f', file())).toMatchObject({ code: 2, stderr: '' });
  writeFileSync(file(), `${HEADER.replace('namespace: kyma-system', 'namespace: default')}spec: {}\n`);
  const elsewhere = await plan('-f', file());
  expect(elsewhere.code).toBe(1);
  expect(elsewhere.stdout).toContain('istio CR is not in kyma-system namespace');
});

test('plan shows changes field by field, and restarts separately with their reasons', async () => {
  await manager.start();
  await mesh.client.create(Istio, { apiVersion: 'operator.kyma-project.io/v1alpha2', kind: 'Istio', metadata: REF });
  await until(async () => (await mesh.client.get(Istio, REF)).status?.state === 'Ready', 30_000);
  expect(await plan('--istio-version', '1.30.0')).toEqual({
    code: 0,
    stdout: 'Nothing to do.\nIstio kyma-system/default would be Ready.\n',
    stderr: '',
  });
  writeFileSync(file(), `${HEADER}spec:\n  config: { numTrustedProxies: 2 }\n`);
  const { code, stdout } = await plan('-f', file(), '--istio-version', '1.30.0');
  expect(code).toBe(2);
  expect(stdout).toContain(
    '~ ConfigMap istio-system/istio\n    data.mesh:\n      +   gatewayTopology:\n      +     numTrustedProxies: 2\n',
  );
  expect(stdout).toContain(
    'Restart of the control plane and gateways, batch 1 of 1:\n' +
      '    Deployment istio-system/istio-ingressgateway: spec.config.numTrustedProxies has changed from not set to 2\n' +
      'Istio kyma-system/default would be Ready.\n',
  );
  expect(stdout).not.toContain('restartedFor');
  const json = await plan('-f', file(), '--istio-version', '1.30.0', '-o', 'json');
  expect(JSON.parse(json.stdout)).toMatchObject({
    istios: [{ istio: 'kyma-system/default', state: 'Ready' }],
    restarts: { batches: [{ lot: 'gateways', workloads: [{ name: 'istio-ingressgateway' }] }] },
  });
}, 60_000);

/** Creates a workload with an up-to-date sidecar. */
async function createInjected(name: string, kind = Deployment, replicas = 1): Promise<void> {
  const resources = { requests: { cpu: '10m', memory: '192Mi' }, limits: { cpu: '1', memory: '1Gi' } };
  const sidecar = { name: 'istio-proxy', image: 'docker.io/istio/proxyv2:1.30.0-distroless', resources };
  await mesh.client.create(kind, {
    apiVersion: 'apps/v1',
    kind: kind.kind,
    metadata: { name, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name }, annotations: { 'sidecar.istio.io/status': '{}' } },
        spec: { containers: [{ name: 'app', image: 'app:1' }, sidecar] },
      },
    },
  });
}

test('upgrade shows the batches of workloads to restart, with reasons', async () => {
  const names = Array.from({ length: 12 }, (_none, i) => `app-${String(i).padStart(2, '0')}`);
  for (const name of names) await createInjected(name);
  const isAvailable = ({ status }: AnyObject): boolean =>
    (status as { availableReplicas?: number }).availableReplicas === 1;
  await until(
    async () => (await mesh.client.list(Deployment, { namespace: 'default' })).items.every(isAvailable),
    20_000,
  );
  const { stdout, code } = await mesh.run('mesh', 'upgrade', '--to', '1.31.0', '--dry-run', '-o', 'json');
  expect(code).toBe(2);
  const { restarts } = JSON.parse(stdout) as MeshPlan;
  const batches = restarts.batches.filter(({ lot }) => lot === 'sidecars');
  expect(batches.map(({ workloads }) => workloads.map(({ name }) => name))).toEqual([
    names.slice(0, 10),
    names.slice(10),
  ]);
  expect(batches[0]!.workloads[0]!.why).toContain('1.31.0-distroless');
  for (const name of names) await mesh.client.delete(Deployment, { name, namespace: 'default' });
}, 60_000);

test('upgrade assumes that deleted pods come back, so that no batch is left waiting', async () => {
  const ref = { name: 'set', namespace: 'default' };
  await createInjected(ref.name, ReplicaSet, 3);
  await createInjected('zebra');
  const isReady = ({ status }: AnyObject, pods: number): boolean =>
    (status as { readyReplicas?: number } | undefined)?.readyReplicas === pods;
  await until(async () => isReady(await mesh.client.get(ReplicaSet, ref), 3), 20_000);
  await until(async () => isReady(await mesh.client.get(Deployment, { ...ref, name: 'zebra' }), 1), 20_000);
  const { stdout } = await mesh.run(
    'mesh',
    'upgrade',
    '--to',
    '1.31.0',
    '--dry-run',
    '--restart-batch',
    '1',
    '-o',
    'json',
  );
  const { restarts, istios } = JSON.parse(stdout) as MeshPlan;
  const batches = restarts.batches.filter(({ lot }) => lot === 'sidecars');
  expect(batches.map(({ workloads }) => workloads.map(({ name }) => name))).toEqual([['set'], ['zebra']]);
  expect(restarts.waiting).toEqual([]);
  expect(istios).toEqual([{ istio: 'kyma-system/default', state: 'Ready' }]);
  await mesh.client.delete(ReplicaSet, ref);
  await mesh.client.delete(Deployment, { ...ref, name: 'zebra' });
}, 60_000);

test('upgrade shows the release that carries the version, whether it is allowed, and what would change', async () => {
  const upgrade = (...args: string[]) => mesh.run('mesh', 'upgrade', ...args);
  const allowed = await upgrade('--to', '1.31.0', '--dry-run');
  expect(allowed.code).toBe(2);
  expect(allowed.stdout).toMatch(
    /^From Istio 1\.30\.0 to 1\.31\.0\.\nOffshoot \S+, this release, carries Istio 1\.31\.0/,
  );
  expect(allowed.stdout).toMatch(/containers\[discovery\]\.image: \S+:1\.30\.0-distroless → \S+:1\.31\.0-distroless/);
  const far = await upgrade('--to', '1.32.0', '--dry-run');
  expect(far.code).toBe(1);
  expect(far.stdout).not.toContain('trial');
  expect(far.stdout).toMatch(
    /^From Istio 1\.30\.0 to 1\.32\.0\.\n! .*\(1\.32\.0-distroless\).* exceed one minor version\nUpgrade one minor version at a time: to 1\.31 first\.\n/,
  );
  const same = await upgrade('--to', '1.30.0', '--dry-run');
  expect(same).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Istio 1\.30\.0 is already running: /) });
  const back = await upgrade('--to', '1.29.0', '--dry-run', '-o', 'json');
  expect(JSON.parse(back.stdout)).toMatchObject({
    upgrade: { carrier: 'renderer', refusal: expect.stringContaining('downgrade not supported') },
  });
  expect(await upgrade('--to', '1.31.0', '--dry-run', '--istio-version', '1.30.0')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('leave --istio-version out'),
  });
  expect(await upgrade('--to', '1.31.0')).toMatchObject({ code: 1, stderr: expect.stringContaining('add --dry-run') });
  expect(await upgrade('--to', 'latest', '--dry-run')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('A version of Istio has three numbers'),
  });
}, 60_000);

test('plan --delete shows the whole deletion, or what blocks it', async () => {
  const ref = { name: 'cart', namespace: 'default' };
  await mesh.client.create(VirtualService, {
    apiVersion: 'networking.istio.io/v1',
    kind: 'VirtualService',
    metadata: ref,
    spec: { hosts: ['cart'], http: [{ route: [{ destination: { host: 'cart' } }] }] },
  });
  const blocked = await plan('--delete', 'default', '--istio-version', '1.30.0');
  expect(blocked.code).toBe(1);
  expect(blocked.stdout).toContain(
    '    virtualservices.networking.istio.io default/cart blocks the deletion: delete it first\n',
  );
  await mesh.client.delete(VirtualService, ref);
  const { code, stdout } = await plan('--delete', 'default', '--istio-version', '1.30.0');
  expect(code).toBe(2);
  expect(stdout).toMatch(/- Namespace istio-system/);
  expect(stdout).toContain('Istio kyma-system/default would be gone.');
});
