// A cluster in this process, until it is stopped: what `offshoot up` does.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { styleText } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { startEmbedded } from '../../embedded/index.ts';
import type { Embedded } from '../../embedded/index.ts';
import type { ControlPlane } from '../run/control-plane.ts';
import { messageOf } from '../exit.ts';
import { clusterDefinitions, leaseNames, webhookNames } from '../run/definitions.ts';
import { seed } from './seed.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import type { Written } from './kubeconfig.ts';
import { untilSignal } from '../run/signals.ts';
import type { UpOptions } from './command.ts';

const WEBHOOKS = 'validatingwebhookconfigurations.admissionregistration.k8s.io';
const LEASES = 'leases.coordination.k8s.io';

/** Runs a cluster, and the controllers unless told otherwise, until a signal. */
export async function up(options: UpOptions, defaultPort: number): Promise<void> {
  const storage = options.memory ? storageInMemory() : storageOnDisk(options);
  const signalled = untilSignal();
  const cluster = await start(options, defaultPort, storage.dataDir);
  let plane: ControlPlane | undefined;
  let merged: Written['merged'];
  try {
    plane = await startControllers(cluster, options.controllers);
    const written = await writeKubeconfig(cluster, options.kubeconfig ?? path.join(storage.dir, 'kubeconfig'), options);
    const { kubeconfig } = written;
    merged = written.merged;
    const { url } = cluster;
    if (options.output === 'json') {
      const context = merged && { context: merged.context };
      console.log(JSON.stringify({ api: url, kubeconfig, pid: process.pid, ...context }));
    } else {
      const { dataDir } = storage;
      console.log(summary({ url, kubeconfig, merged, dataDir, hasControllers: plane !== undefined }));
    }
    // Later starts find what this one has compiled, however this one ends.
    flushCompileCache();
    // The engine would let its space for new objects grow to 128 MB, several times what a large cluster itself takes.
    setFlagsFromString('--semi-space-growth-factor=1');
    await signalled;
  } finally {
    await merged?.undo().catch((error: unknown) => console.error(`Warning: ${messageOf(error)}`));
    await plane?.stop();
    await cluster.stop();
    storage.cleanUp();
  }
}

/** The controllers, or what must be done where there are none. */
async function startControllers(cluster: Embedded, wanted: boolean): Promise<ControlPlane | undefined> {
  const webhooks = webhookNames.filter((name) => cluster.store.get(WEBHOOKS, name) !== undefined);
  const leases = leaseNames.filter((name) => cluster.store.get(LEASES, `kube-system/${name}`) !== undefined);
  if (!wanted && webhooks.length + leases.length === 0) return undefined;
  // Loaded here, so that a cluster without controllers is ready before.
  const { controlLocally, forgetControllers } = await import('./control-locally.ts');
  if (wanted) return controlLocally(cluster);
  // The controllers of a run before this one may have had no chance to clean up.
  await forgetControllers(cluster, { webhooks, leases });
  return undefined;
}

interface Storage {
  /** Where files of this run go. */
  readonly dir: string;
  /** Where the cluster is kept; undefined keeps it in memory. */
  readonly dataDir?: string;
  cleanUp(): void;
}

function storageInMemory(): Storage {
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-'));
  return { dir, cleanUp: () => rmSync(dir, { recursive: true, force: true }) };
}

function storageOnDisk(options: UpOptions): Storage {
  const state = process.env['XDG_STATE_HOME'] ?? path.join(homedir(), '.local', 'state');
  const dir = path.resolve(options.dataDir ?? path.join(state, 'offshoot'));
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  return { dir, dataDir: dir, cleanUp: () => {} };
}

async function start(options: UpOptions, defaultPort: number, dataDir: string | undefined): Promise<Embedded> {
  const cluster = {
    ...(dataDir !== undefined && { dataDir }),
    ...(options.fresh && { fresh: true }),
    definitions: { ...clusterDefinitions, seed },
  };
  if (options.port !== undefined) return startEmbedded({ ...cluster, port: options.port });
  try {
    return await startEmbedded({ ...cluster, port: defaultPort });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    const elsewhere = await startEmbedded({ ...cluster, port: 0 });
    const { port } = new URL(elsewhere.url);
    console.error(
      `Warning: port ${defaultPort} is in use, so the API listens on port ${port}; kubeconfigs of earlier runs do not lead there. --port chooses one that stays.`,
    );
    return elsewhere;
  }
}

interface Summary {
  readonly url: string;
  readonly kubeconfig: string;
  readonly merged: Written['merged'];
  readonly dataDir: string | undefined;
  readonly hasControllers: boolean;
}

function summary({ url, kubeconfig, merged, dataDir, hasControllers }: Summary): string {
  const row = (name: string, value: string): string => `  ${styleText('gray', name.padEnd(16))}${value}`;
  const starting = '"offshoot run --controllers environments,targets,routing" starts them';
  return [
    styleText('bold', 'Offshoot is running.'),
    '',
    row('Kubernetes API', url),
    row('kubeconfig', kubeconfig),
    ...(merged ? [row('context', `${merged.context}, the current one of ${merged.file} until this stops`)] : []),
    row('controllers', hasControllers ? 'running' : `none (${starting})`),
    row('data', dataDir === undefined ? 'in memory, gone when this stops' : `${dataDir} (--fresh starts over)`),
    '',
    ...(merged ? [] : [`  export KUBECONFIG=${kubeconfig}`]),
    '  kubectl get namespaces',
    '',
    'Ctrl-C stops it.',
  ].join('\n');
}
