// Measures the cost of an idle control plane: memory, and requests to the API server. It runs bundled, in its own
// process, as in a cluster.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { connect, defineKind, loadConfig } from '../src/kube/index.ts';
import { note, table, target } from './support.ts';

const OBJECTS = 1_000;
const ConfigMap = defineKind('v1', 'ConfigMap', 'configmaps');

/** The report of idle-worker.ts after it was idle for a while. */
export interface IdleReport {
  readonly objects: number;
  readonly rssMb: number;
  /** Requests sent while idle, by flow. */
  readonly requests: Readonly<Record<string, number>>;
  readonly seconds: number;
}

/** Returns true when all targets are met. */
export async function run(): Promise<boolean> {
  const bin = path.resolve(import.meta.dirname, '../bin/offshoot.js');
  const cluster = spawn(process.execPath, [bin, 'up', '--memory', '--port', '0', '--no-playground', '-o', 'json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // Inside the repository, so that the bundle resolves the same packages.
  const dir = mkdtempSync(path.join(import.meta.dirname, '.idle-'));
  try {
    const [line] = (await once(createInterface({ input: cluster.stdout }), 'line')) as [string];
    const { kubeconfig } = JSON.parse(line) as { kubeconfig: string };
    await createObjects(kubeconfig);
    const worker = fork(await bundle(dir), [kubeconfig], { execArgv: ['--expose-gc'] });
    const [report] = (await once(worker, 'message')) as [IdleReport];
    worker.kill();
    const lease = report.requests['lease'] ?? 0;
    const others = Object.entries(report.requests).filter(([kind]) => kind !== 'lease');
    return table('idle control plane', [
      note(`objects in the tables`, report.objects, ''),
      note(`lease renewals in ${report.seconds} s`, lease, ''),
      target('memory in use', report.rssMb, 100, 'atMost', ' MB'),
      target(
        `other requests in ${report.seconds} s`,
        others.reduce((sum, [, count]) => sum + count, 0),
        0,
        'atMost',
        '',
      ),
    ]);
  } finally {
    cluster.kill();
    await once(cluster, 'exit');
    rmSync(dir, { recursive: true, force: true });
  }
}

async function bundle(dir: string): Promise<string> {
  const outfile = path.join(dir, 'worker.mjs');
  await build({
    entryPoints: [path.join(import.meta.dirname, 'idle-worker.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  });
  return outfile;
}

async function createObjects(kubeconfig: string): Promise<void> {
  const client = connect(loadConfig({ path: kubeconfig }));
  for (let i = 0; i < OBJECTS; i++) {
    const metadata = { name: `object-${i}`, namespace: 'default' };
    await client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text: 'x'.repeat(500) } });
  }
  client.close();
}

if (import.meta.main) process.exit((await run()) ? 0 : 1);
