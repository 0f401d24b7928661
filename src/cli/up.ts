// `offshoot up`: a cluster in this process, until it is stopped.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { styleText } from 'node:util';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Embedded } from '../embedded/index.ts';

interface UpOptions {
  readonly dataDir?: string;
  readonly memory?: boolean;
  readonly fresh?: boolean;
  readonly port?: number;
  readonly kubeconfig?: string;
  readonly output?: 'json';
}

/** Taken when it is free, so that a kubeconfig stays good over restarts. */
const USUAL_PORT = 7443;

export function upCommand(): Command {
  return new Command('up')
    .description('run a Kubernetes API in this process, on loopback')
    .option('--data-dir <dir>', 'where the cluster is kept (default: the user state directory)')
    .addOption(new Option('--memory', 'keep the cluster in memory: it is gone when this stops').conflicts(['dataDir', 'fresh']))
    .option('--fresh', 'remove what the data directory holds and start over')
    .option('--port <number>', `port of the API; 0 takes a free one (default: ${USUAL_PORT}, or a free one)`, parsePort)
    .option('--kubeconfig <file>', 'where to write the kubeconfig (default: in the data directory)')
    .addOption(new Option('-o, --output <format>', 'one line of JSON on standard output once ready').choices(['json']))
    .addHelpText('after', '\nExample:\n  offshoot up --memory --kubeconfig /tmp/kc &\n  kubectl --kubeconfig /tmp/kc get namespaces')
    .action(up);
}

async function up(options: UpOptions): Promise<void> {
  const place = options.memory ? memoryPlace() : dataPlace(options);
  const cluster = await start(options, place.dataDir);
  const kubeconfig = path.resolve(options.kubeconfig ?? path.join(place.dir, 'kubeconfig'));
  mkdirSync(path.dirname(kubeconfig), { recursive: true });
  writeFileSync(kubeconfig, cluster.kubeconfig(), { mode: 0o600 });
  if (options.output === 'json') {
    console.log(JSON.stringify({ api: cluster.url, kubeconfig, pid: process.pid }));
  } else {
    console.log(summary(cluster.url, kubeconfig, place.dataDir));
  }
  await untilSignal();
  await cluster.stop();
  place.leave();
}

interface Place {
  /** Where files of this run go. */
  readonly dir: string;
  /** Where the cluster is kept; undefined keeps it in memory. */
  readonly dataDir?: string;
  leave(): void;
}

function memoryPlace(): Place {
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-'));
  return { dir, leave: () => rmSync(dir, { recursive: true, force: true }) };
}

function dataPlace(options: UpOptions): Place {
  const state = process.env['XDG_STATE_HOME'] ?? path.join(homedir(), '.local', 'state');
  const dir = path.resolve(options.dataDir ?? path.join(state, 'offshoot'));
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  return { dir, dataDir: dir, leave: () => {} };
}

async function start(options: UpOptions, dataDir: string | undefined): Promise<Embedded> {
  // Loaded here, so that every other command starts without it.
  const { startEmbedded } = await import('../embedded/index.ts');
  const place = { ...(dataDir !== undefined && { dataDir }), ...(options.fresh && { fresh: true }) };
  if (options.port !== undefined) return startEmbedded({ ...place, port: options.port });
  try {
    return await startEmbedded({ ...place, port: USUAL_PORT });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return startEmbedded({ ...place, port: 0 });
  }
}

function summary(url: string, kubeconfig: string, dataDir: string | undefined): string {
  const row = (name: string, value: string): string => `  ${styleText('gray', name.padEnd(16))}${value}`;
  return [
    styleText('bold', 'Offshoot is running.'),
    '',
    row('Kubernetes API', url),
    row('kubeconfig', kubeconfig),
    row('data', dataDir === undefined ? 'in memory, gone when this stops' : `${dataDir} (--fresh starts over)`),
    '',
    `  export KUBECONFIG=${kubeconfig}`,
    '  kubectl get namespaces',
    '',
    'Ctrl-C stops it.',
  ].join('\n');
}

function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('A port is a whole number from 0 to 65535.');
}
