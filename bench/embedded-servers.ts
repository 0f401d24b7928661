// Starts the two API servers that embedded.ts compares, each in its own processes: ours as users run it, and the real
// one.
import { execFileSync, spawn } from 'node:child_process';
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
import { bundle } from '../scripts/bundle.ts';
import { connect, loadConfig } from '../src/kube/index.ts';
import type { Client, ConnectConfig } from '../src/kube/index.ts';
import { startRealCluster } from '../test/cluster/real.ts';

/** A running API server with a client. */
export interface Server {
  readonly config: ConnectConfig;
  readonly client: Client;
  /** The time from the start of its first process until it was ready. */
  readonly startMs: number;
  readonly kubeconfigPath: string;
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

const root = path.resolve(import.meta.dirname, '..');

/** The package as published, with an empty cache. */
export interface Package {
  /** The command line. */
  readonly cli: string;
  /** The API server alone: its arguments are the data directory and the port. */
  readonly api: string;
  /** The same for tests, in memory and without controllers: its argument is the path of the kubeconfig to write. */
  readonly bed: string;
  readonly env: NodeJS.ProcessEnv;
  readonly remove: () => void;
}

export async function makePackage(): Promise<Package> {
  const cache = path.join(import.meta.dirname, '.cache');
  mkdirSync(cache, { recursive: true });
  const dir = mkdtempSync(path.join(cache, 'embedded-'));
  const [cli, api, bed] = ['bin/offshoot.js', 'api.js', 'bed.js'].map((file) => path.join(dir, file)) as [
    string,
    string,
    string,
  ];
  mkdirSync(path.dirname(cli));
  copyFileSync(path.join(root, 'bin/offshoot.js'), cli);
  copyFileSync(path.join(root, 'package.json'), path.join(dir, 'package.json'));
  await bundle(path.join(dir, 'dist'), { embedded: 'src/embedded/index.ts' });
  const start = 'await startEmbedded({ dataDir: process.argv[2], port: Number(process.argv[3]) });';
  writeFileSync(api, `import { startEmbedded } from './dist/embedded.js';\n${start}\n`);
  const [load, serve] = ["import { startEmbedded } from './dist/embedded.js';", 'startEmbedded({ simulation: false })'];
  const write = "import { writeFileSync } from 'node:fs';\nwriteFileSync(process.argv[2], server.kubeconfig());";
  writeFileSync(bed, `${load}\nconst server = await ${serve};\n${write}\nconsole.log('ready');\n`);
  const env = { ...process.env, XDG_CACHE_HOME: path.join(dir, 'cache') };
  return { cli, api, bed, env, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

/** `offshoot up` on disk, with or without the controllers. */
export async function startEmbedded({ cli, env }: Package, controllers: boolean): Promise<Server> {
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-bench-'));
  const args = [
    'up',
    '--data-dir',
    dir,
    '--port',
    '0',
    '-o',
    'json',
    '--no-playground',
    ...(controllers ? [] : ['--no-controllers']),
  ];
  const started = performance.now();
  const child = spawn(process.execPath, [cli, ...args], { stdio: ['ignore', 'pipe', 'inherit'], env });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const startMs = performance.now() - started;
  const { kubeconfig } = JSON.parse(line) as { kubeconfig: string };
  return serving(kubeconfig, { startMs, pids: [child.pid!] }, () => end(child, dir));
}

/** The embedded cluster as a test bed: in memory, without controllers. */
export async function startTestBed({ bed, env }: Package): Promise<Server> {
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-bench-'));
  const kubeconfig = path.join(dir, 'kubeconfig');
  const started = performance.now();
  const child = spawn(process.execPath, [bed, kubeconfig], { stdio: ['ignore', 'pipe', 'inherit'], env });
  await once(createInterface({ input: child.stdout }), 'line');
  const startMs = performance.now() - started;
  return serving(kubeconfig, { startMs, pids: [child.pid!] }, () => end(child, dir));
}

/** The time that the API server alone takes from the start of its process until it is ready. */
export async function timeOfApiStart({ api, env }: Package): Promise<number> {
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-bench-'));
  const port = await freePort();
  const started = performance.now();
  const child = spawn(process.execPath, [api, dir, String(port)], { stdio: 'inherit', env });
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
  const startMs = performance.now() - started;
  return serving(cluster.kubeconfigPath, { startMs, pids: cluster.pids() }, () => cluster.stop());
}

/** The resident memory of a server. */
export function residentMb({ pids }: Server): number {
  const lines = execFileSync('ps', ['-o', 'rss=', '-p', pids.join(',')], { encoding: 'utf8' })
    .trim()
    .split('\n');
  return lines.reduce((sum, line) => sum + Number(line), 0) / 1024;
}

function serving(kubeconfigPath: string, about: Pick<Server, 'startMs' | 'pids'>, stop: () => Promise<void>): Server {
  const config = loadConfig({ path: kubeconfigPath });
  const client = connect(config, { timeoutMs: 120_000 });
  return {
    ...about,
    kubeconfigPath,
    config,
    client,
    stop: async () => {
      client.close();
      await stop();
    },
  };
}

/** The same check that decides when the real server is ready. */
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
