// `offshoot up`: a cluster in this process, until it is stopped.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { styleText } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Embedded } from '../embedded/index.ts';
import type { Client } from '../kube/client.ts';
import type { AnyObject } from '../kube/objects.ts';
import type { ControlPlane } from './control-plane.ts';
import { untilSignal } from './signals.ts';

interface UpOptions {
  readonly dataDir?: string;
  readonly memory?: boolean;
  readonly fresh?: boolean;
  readonly port?: number;
  readonly kubeconfig?: string;
  readonly controllers: boolean;
  readonly output?: 'json';
}

/** Taken when it is free, so that a kubeconfig stays good over restarts. */
const USUAL_PORT = 7443;

export function upCommand(): Command {
  return new Command('up')
    .description('run a Kubernetes API and the controllers in this process, on loopback')
    .option('--data-dir <dir>', 'where the cluster is kept (default: the user state directory)')
    .addOption(
      new Option('--memory', 'keep the cluster in memory: it is gone when this stops').conflicts(['dataDir', 'fresh']),
    )
    .option('--fresh', 'remove what the data directory holds and start over')
    .option('--port <number>', `port of the API; 0 takes a free one (default: ${USUAL_PORT}, or a free one)`, parsePort)
    .option('--kubeconfig <file>', 'where to write the kubeconfig (default: in the data directory)')
    .option('--no-controllers', 'run the API alone; "offshoot run" can then run the controllers')
    .addOption(new Option('-o, --output <format>', 'one line of JSON on standard output once ready').choices(['json']))
    .addHelpText(
      'after',
      '\nExample:\n  offshoot up --memory --kubeconfig /tmp/kc &\n  kubectl --kubeconfig /tmp/kc get namespaces',
    )
    .action(up);
}

async function up(options: UpOptions): Promise<void> {
  // The engine would let its space for new objects grow to 128 MB, several times what a large cluster itself takes.
  setFlagsFromString('--semi-space-growth-factor=1');
  const place = options.memory ? memoryPlace() : dataPlace(options);
  const signalled = untilSignal();
  const cluster = await start(options, place.dataDir);
  const plane = await equip(cluster, options.controllers);
  const kubeconfig = path.resolve(options.kubeconfig ?? path.join(place.dir, 'kubeconfig'));
  mkdirSync(path.dirname(kubeconfig), { recursive: true });
  writeFileSync(kubeconfig, cluster.kubeconfig(), { mode: 0o600 });
  if (options.output === 'json') {
    console.log(JSON.stringify({ api: cluster.url, kubeconfig, pid: process.pid }));
  } else {
    console.log(summary(cluster.url, kubeconfig, place.dataDir, plane !== undefined));
  }
  await signalled;
  await plane?.stop();
  await cluster.stop();
  place.leave();
}

/** Gives the cluster the definitions of the mesh and of our kinds and, unless told otherwise, runs the controllers. */
async function equip(cluster: Embedded, withControllers: boolean): Promise<ControlPlane | undefined> {
  const [{ connect }, { createLogger }, plane, { partsOf }, crds, bundled] = await Promise.all([
    import('../kube/index.ts'),
    import('../controller/index.ts'),
    import('./control-plane.ts'),
    import('./parts.ts'),
    import('./crds.ts'),
    import('../embedded/crd/index.ts'),
  ]);
  const { url: server, caPem, admin } = cluster;
  const config = { server, caPem, certPem: admin.certPem, keyPem: admin.keyPem };
  const parts = partsOf();
  const definitions = Object.values({ ...bundled.istioDefinitions(), ...bundled.gatewayApiDefinitions() });
  const prepare = async (client: Client): Promise<void> => {
    await Promise.all([
      crds.installDefinitions(client, parts),
      crds.addDefinitions(client, definitions as AnyObject[]),
    ]);
    // A run before this one may have been ended without a chance to take its webhook back.
    if (!withControllers) await plane.removeWebhooks(client, parts);
  };
  if (withControllers) {
    return plane.startControlPlane({
      config,
      parts,
      namespace: 'kube-system',
      webhook: { port: 0, reach: 'loopback' },
      logger: createLogger({ level: 'warn' }),
      prepare,
    });
  }
  const client = connect(config);
  await prepare(client);
  client.close();
  return undefined;
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

function summary(url: string, kubeconfig: string, dataDir: string | undefined, controllers: boolean): string {
  const row = (name: string, value: string): string => `  ${styleText('gray', name.padEnd(16))}${value}`;
  return [
    styleText('bold', 'Offshoot is running.'),
    '',
    row('Kubernetes API', url),
    row('kubeconfig', kubeconfig),
    row('controllers', controllers ? 'running' : 'none (offshoot run starts them)'),
    row('data', dataDir === undefined ? 'in memory, gone when this stops' : `${dataDir} (--fresh starts over)`),
    '',
    `  export KUBECONFIG=${kubeconfig}`,
    '  kubectl get namespaces',
    '',
    'Ctrl-C stops it.',
  ].join('\n');
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('A port is a whole number from 0 to 65535.');
}
