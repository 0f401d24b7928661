// The mesh as a user starts it: `offshoot up` and `offshoot run` as processes.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Istio } from '../src/api/istio.ts';
import type { IstioSpec } from '../src/api/istio.ts';
import { startEmbedded } from '../src/embedded/index.ts';
import { connect, loadConfig } from '../src/kube/index.ts';
import type { Client } from '../src/kube/index.ts';
import { installKinds } from './mesh-lifecycle/all.ts';
import { findObject } from './support/find-object.ts';
import { startOffshoot } from './support/offshoot-process.ts';
import type { Running } from './support/offshoot-process.ts';
import { until } from './support/until.ts';

const metadata = { namespace: 'kyma-system', name: 'default' };

let dir: string;
let running: Running | undefined;
let client: Client | undefined;
beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'offshoot-mesh-'));
});
afterEach(async () => {
  client?.close();
  running?.child.kill('SIGKILL');
  await running?.exit;
  running = client = undefined;
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const start = (...args: string[]): Running => (running = startOffshoot(args, { HOME: dir }));

async function install(api: Client, spec: IstioSpec = {}): Promise<void> {
  await installKinds(api);
  const { items } = await api.list(Istio);
  if (items.length === 0) {
    await api.create(Istio, { apiVersion: 'operator.kyma-project.io/v1alpha2', kind: 'Istio', metadata, spec });
  }
  await until(async () => (await api.get(Istio, metadata)).status?.state === 'Ready', 30_000);
}

async function uninstall(api: Client): Promise<void> {
  await api.delete(Istio, metadata);
  await until(async () => (await findObject(api, Istio, metadata)) === undefined, 30_000);
}

test('up runs the mesh with the built-in renderer, and logs nothing when the kinds of Istio are deleted', async () => {
  const kubeconfig = path.join(dir, 'up');
  const { out, child, exit } = start('up', '--memory', '--no-playground', '--port', '0', '--kubeconfig', kubeconfig);
  await until(() => out.stdout.includes('Ctrl-C'), 20_000);
  expect(out.stdout).toMatch(/^ *controllers +environments, targets, routing, mesh \(Istio by the built-in renderer/m);
  client = connect(loadConfig({ path: kubeconfig }));
  // In the second round, the controllers watch kinds that were installed and deleted before.
  for (const _time of [1, 2]) {
    await install(client);
    await uninstall(client);
  }
  await install(client);
  child.kill('SIGTERM');
  expect(await exit).toEqual({ code: 0, signal: null });
  expect(out.stderr).toBe('');
}, 120_000);

test('run reconciles after the interval without a write, and exports metrics of the resource', async () => {
  const cluster = await startEmbedded();
  try {
    const kubeconfig = path.join(dir, 'run');
    writeFileSync(kubeconfig, cluster.kubeconfig());
    client = connect(loadConfig({ path: kubeconfig }));
    await installKinds(client);
    const flags = ['--istio-renderer', 'built-in', '--reconciliation-interval', '1s', '--leader-elect=false'];
    const addresses = ['--metrics-bind-address', '127.0.0.1:0', '--health-probe-bind-address', '127.0.0.1:0'];
    const process = start('run', '--kubeconfig', kubeconfig, '--controllers', 'mesh', ...flags, ...addresses);
    const { metrics } = await process.logged('running');
    const value = async (series: string): Promise<number> => {
      const text = await (await fetch(`${metrics}/metrics`)).text();
      return Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${series} `))
          ?.split(' ')[1] ?? Number.NaN,
      );
    };
    await install(client, { config: { numTrustedProxies: 2, forwardClientCertDetails: 'SANITIZE' } });
    expect(await value('istio_num_trusted_proxies_configured')).toBe(1);
    expect(await value('istio_forward_client_cert_details_setting{xfcc_setting="SANITIZE"}')).toBe(1);
    expect(await value('istio_egress_gateway_used')).toBe(0);

    const { metadata: before } = await client.get(Istio, metadata);
    const passes = (): Promise<number> =>
      value('controller_runtime_reconcile_total{controller="mesh",result="requeue_after"}');
    const counted = await passes();
    await until(async () => (await passes()) >= counted + 3, 30_000);
    expect((await client.get(Istio, metadata)).metadata.resourceVersion).toBe(before.resourceVersion);
  } finally {
    await cluster.stop();
  }
}, 120_000);
