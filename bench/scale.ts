// Measures a large installation on a real API server: time to ready, memory, CPU and requests of `offshoot run` with
// 10, 100 and 1,000 environments among 1,000 Services with VirtualServices and 10,000 pods, and the time to sync after
// a restart. docs/reference/limits.md has the expected values. OFFSHOOT_SCALE=100 divides all numbers by ten.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DynamicEnv } from '../src/api/dynamicenv.ts';
import { connect, defineKind, loadConfig } from '../src/kube/index.ts';
import type { Client } from '../src/kube/index.ts';
import { startRealCluster } from '../test/cluster/real.ts';
import { installKinds } from '../test/environments/install.ts';
import { makeWorkload } from '../test/environments/workload.ts';
import { startOffshoot } from '../test/support/offshoot-process.ts';
import type { Running } from '../test/support/offshoot-process.ts';
import { until } from '../test/support/until.ts';
import { each } from './measured-cluster.ts';
import { note, table, target } from './support.ts';
import type { Row } from './support.ts';

const SERVICES = Number(process.env['OFFSHOOT_SCALE'] ?? 1000);
const PODS = SERVICES * 10;
const SIZES = [SERVICES / 100, SERVICES / 10, SERVICES];
const PATIENCE_MS = 30 * 60_000;
const MEGABYTE = 1024 * 1024;
const namespace = 'shop';

const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });
const Pod = defineKind('v1', 'Pod', 'pods');

const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-scale-'));
// Each Service needs a cluster IP: the default range of the tests is too small.
const cluster = await startRealCluster({ extraApiServerArgs: ['--service-cluster-ip-range=10.0.0.0/16'] });
const client = connect(loadConfig({ path: cluster.kubeconfigPath }));
const rows: Row[] = [];
let offshoot: Running | undefined;
try {
  await fill();
  let metrics = await start();
  let made = 0;
  let before = await readMetrics(metrics);
  for (const size of SIZES) {
    const started = performance.now();
    await each(size - made, (i) => create(client, made + i));
    made = size;
    await untilReady(metrics, size);
    const seconds = (performance.now() - started) / 1000;
    const now = await readMetrics(metrics);
    rows.push(
      note(`${size} environments: all ready after`, seconds, ' s'),
      note(
        `${size} environments: mean time to ready`,
        (now.readySum - before.readySum) / (now.ready - before.ready),
        ' s',
      ),
      note(`${size} environments: CPU`, now.cpu - before.cpu, ' s'),
      note(`${size} environments: memory`, now.memory / MEGABYTE, ' MB'),
      note(
        `${size} environments: writes for each new one`,
        (now.writes - before.writes) / (now.ready - before.ready),
        '',
      ),
    );
    before = now;
  }
  await stop();
  const restarted = performance.now();
  metrics = await start();
  await until(async () => (await readMetrics(metrics)).isIdle, PATIENCE_MS);
  const after = await readMetrics(metrics);
  rows.push(
    note('restart: all in sync after', (performance.now() - restarted) / 1000, ' s'),
    note('restart: memory', after.memory / MEGABYTE, ' MB'),
    target('restart: writes', after.writes, 0, 'atMost', ''),
    target('memory with everything', Math.max(before.memory, after.memory) / MEGABYTE, 512, 'atMost', ' MB'),
  );
} finally {
  await stop();
  client.close();
  await cluster.stop();
  rmSync(dir, { recursive: true, force: true });
}
const title = `scale: ${SERVICES} Services with VirtualServices, ${PODS} more pods, a real API server`;
process.exit(table(title, rows) ? 0 : 1);

/** Fills the cluster with other workloads and pods. */
async function fill(): Promise<void> {
  await installKinds(client);
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await each(SERVICES, (i) => makeWorkload(client, namespace, `app-${i}`));
  // Pods that are never scheduled: they only matter as objects that the controllers watch.
  const spec = { schedulerName: 'nobody', containers: [{ name: 'app', image: 'app:1' }] };
  await each(PODS, async (i) => {
    const labels = { app: `app-${i % SERVICES}`, version: 'shared' };
    const metadata = { name: `other-${i}`, namespace, labels };
    await client.create(Pod, { apiVersion: 'v1', kind: 'Pod', metadata, spec });
  });
}

async function create(by: Client, i: number): Promise<void> {
  const name = `app-${i % SERVICES}`;
  const subsets = [{ name, namespace, containers: [{ containerName: name, image: `${name}:2` }] }];
  const metadata = { name: `env-${i}`, namespace };
  const spec = { key: metadata.name, subsets };
  await by.create(DynamicEnv, { apiVersion: 'riskified.com/v1alpha1', kind: 'DynamicEnv', metadata, spec });
}

/** Starts the controllers; returns the URL of their metrics. */
async function start(): Promise<string> {
  const args = `run --no-webhook --namespace kube-system --metrics-bind-address 127.0.0.1:0
    --health-probe-bind-address 0 --kubeconfig ${cluster.kubeconfigPath}`;
  offshoot = startOffshoot(args.split(/\s+/), { HOME: dir });
  const { out } = offshoot;
  await until(() => out.stderr.includes('"msg":"running"'), PATIENCE_MS);
  const { metrics } = await offshoot.logged('running');
  return metrics!;
}

async function stop(): Promise<void> {
  offshoot?.child.kill('SIGTERM');
  await offshoot?.exit;
  offshoot = undefined;
}

async function untilReady(metrics: string, count: number): Promise<void> {
  await until(
    async () => (await readMetrics(metrics)).inStateReady === count,
    PATIENCE_MS,
    () => readMetrics(metrics),
  );
}

interface Sample {
  readonly cpu: number;
  readonly memory: number;
  readonly writes: number;
  /** How many environments became ready, and the sum of their times. */
  readonly ready: number;
  readonly readySum: number;
  readonly inStateReady: number;
  readonly isIdle: boolean;
}

/** Reads the metrics of the controllers. */
async function readMetrics(metrics: string): Promise<Sample> {
  const text = await (await fetch(`${metrics}/metrics`)).text();
  const sum = (name: string, labels = ''): number =>
    text
      .split('\n')
      .filter((line) => (line.startsWith(`${name} `) || line.startsWith(`${name}{`)) && line.includes(labels))
      .reduce((total, line) => total + Number(line.split(' ').at(-1)), 0);
  return {
    cpu: sum('process_cpu_seconds_total'),
    memory: sum('process_resident_memory_bytes'),
    writes: sum('offshoot_writes_total'),
    ready: sum('offshoot_environment_ready_seconds_count'),
    readySum: sum('offshoot_environment_ready_seconds_sum'),
    inStateReady: sum('offshoot_environments', 'state="ready"'),
    isIdle:
      sum('workqueue_depth') === 0 &&
      sum('controller_runtime_active_workers') === 0 &&
      sum('offshoot_environments') > 0,
  };
}
