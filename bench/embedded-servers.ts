// The two API servers that embedded.ts compares, each in processes of its own: ours as users run it, and the real one.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { connect, defineKind, loadConfig } from '../src/kube/index.ts';
import type { Client } from '../src/kube/index.ts';
import { startRealCluster } from '../test/cluster/real.ts';

/** A running API server with a client of it. */
export interface Server {
  readonly client: Client;
  /** From the start of its first process until it answered a request. */
  readonly startMs: number;
  /** Only of the embedded server: the process to measure. */
  readonly pid?: number;
  stop(): Promise<void>;
}

const root = path.resolve(import.meta.dirname, '..');
const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });

/** The command line bundled as in the published package; remove the folder when done. */
export async function bundleCli(): Promise<{ readonly main: string; readonly remove: () => void }> {
  // Below the sources, so that the bundle finds the same packages.
  const cache = path.join(import.meta.dirname, '.cache');
  mkdirSync(cache, { recursive: true });
  const dir = mkdtempSync(path.join(cache, 'embedded-'));
  await build({
    absWorkingDir: root,
    entryPoints: { cli: 'src/cli/main.ts' },
    outdir: dir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    packages: 'external',
  });
  for (const file of ['openapi.json', 'descriptions.json']) {
    copyFileSync(path.join(root, 'src/embedded/kinds', file), path.join(dir, file));
  }
  const main = path.join(dir, 'main.js');
  writeFileSync(main, "import { main } from './cli.js';\nawait main(process.argv);\n");
  return { main, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

/** `offshoot up` on disk. */
export async function startEmbedded(main: string): Promise<Server> {
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-bench-'));
  const started = performance.now();
  const child = spawn(
    process.execPath,
    [main, 'up', '--data-dir', dir, '--port', '0', '--no-controllers', '-o', 'json'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const stop = async (): Promise<void> => {
    if (child.exitCode === null) {
      child.kill();
      await once(child, 'exit');
    }
    rmSync(dir, { recursive: true, force: true });
  };
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { kubeconfig } = JSON.parse(line) as { kubeconfig: string };
  return serving(kubeconfig, started, stop, child.pid);
}

/** etcd and kube-apiserver, and nothing else. */
export async function startReal(): Promise<Server> {
  const started = performance.now();
  const cluster = await startRealCluster({ controllerManager: false, scheduler: false, kubelet: false });
  return serving(cluster.kubeconfigPath, started, () => cluster.stop());
}

async function serving(kubeconfig: string, started: number, stop: () => Promise<void>, pid?: number): Promise<Server> {
  const client = connect(loadConfig({ path: kubeconfig }), { timeoutMs: 120_000 });
  await client.get(Namespace, { name: 'kube-system' });
  const startMs = performance.now() - started;
  return {
    client,
    startMs,
    ...(pid !== undefined && { pid }),
    stop: async () => {
      client.close();
      await stop();
    },
  };
}
