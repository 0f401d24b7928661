// The two API servers that embedded.ts compares, each in processes of its own: ours as users run it, and the real one.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { build } from 'esbuild';
import { connect, loadConfig } from '../src/kube/index.ts';
import type { Client, ConnectConfig } from '../src/kube/index.ts';
import { startRealCluster } from '../test/cluster/real.ts';

/** A running API server with a client of it. */
export interface Server {
  readonly config: ConnectConfig;
  readonly client: Client;
  /** From the start of its first process until it said that it is ready. */
  readonly startMs: number;
  /** Only of the embedded server: the process to measure. */
  readonly pid?: number;
  stop(): Promise<void>;
}

const root = path.resolve(import.meta.dirname, '..');

/** Programs of a bundle like the published package's. */
export interface Bundle {
  /** The command line. */
  readonly cli: string;
  /** The API server alone: its arguments are the data directory and the port. */
  readonly api: string;
  readonly remove: () => void;
}

export async function bundle(): Promise<Bundle> {
  // Below the sources, so that the bundle finds the same packages.
  const cache = path.join(import.meta.dirname, '.cache');
  mkdirSync(cache, { recursive: true });
  const dir = mkdtempSync(path.join(cache, 'embedded-'));
  await build({
    absWorkingDir: root,
    entryPoints: { cli: 'src/cli/main.ts', embedded: 'src/embedded/index.ts' },
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
  const [cli, api] = [path.join(dir, 'main.js'), path.join(dir, 'api.js')];
  writeFileSync(cli, "import { main } from './cli.js';\nawait main(process.argv);\n");
  const start = 'await startEmbedded({ dataDir: process.argv[2], port: Number(process.argv[3]) });';
  writeFileSync(api, `import { startEmbedded } from './embedded.js';\n${start}\n`);
  return { cli, api, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

/** `offshoot up` on disk, without the controllers. */
export async function startEmbedded(cli: string): Promise<Server> {
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-bench-'));
  const started = performance.now();
  const child = spawn(
    process.execPath,
    [cli, 'up', '--data-dir', dir, '--port', '0', '--no-controllers', '-o', 'json'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const startMs = performance.now() - started;
  const { kubeconfig } = JSON.parse(line) as { kubeconfig: string };
  return serving(kubeconfig, { startMs, pid: child.pid! }, () => end(child, dir));
}

/** How long the API server alone takes from the start of its process until it says that it is ready. */
export async function timeOfApiStart(api: string): Promise<number> {
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-bench-'));
  const port = await freePort();
  const started = performance.now();
  const child = spawn(process.execPath, [api, dir, String(port)], { stdio: 'inherit' });
  while (!(await isReady(port))) await delay(2);
  const startMs = performance.now() - started;
  await end(child, dir);
  return startMs;
}

async function end(child: ChildProcess, dir: string): Promise<void> {
  child.kill();
  await once(child, 'exit');
  rmSync(dir, { recursive: true, force: true });
}

/** etcd and kube-apiserver, and nothing else. */
export async function startReal(): Promise<Server> {
  const started = performance.now();
  const cluster = await startRealCluster({ controllerManager: false, scheduler: false, kubelet: false });
  return serving(cluster.kubeconfigPath, { startMs: performance.now() - started }, () => cluster.stop());
}

function serving(
  kubeconfig: string,
  about: Omit<Server, 'config' | 'client' | 'stop'>,
  stop: () => Promise<void>,
): Server {
  const config = loadConfig({ path: kubeconfig });
  const client = connect(config, { timeoutMs: 120_000 });
  return {
    ...about,
    config,
    client,
    stop: async () => {
      client.close();
      await stop();
    },
  };
}

/** The same question that decides when the real one is ready. */
function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { port, path: '/readyz', rejectUnauthorized: false, agent: false } as const;
    get(options, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).on('error', () => resolve(false));
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
