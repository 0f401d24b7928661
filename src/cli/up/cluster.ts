// A cluster in this process, until it is stopped: what `offshoot up` does.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { styleText } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { messageOf } from '../exit.ts';
import { untilSignal } from '../run/signals.ts';
import type { UpOptions } from './command.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import type { Written } from './kubeconfig.ts';
import { startLocal } from './local.ts';

/** Runs a cluster, and the controllers unless told otherwise, until a signal. */
export async function up(options: UpOptions, defaultPort: number): Promise<void> {
  // Stopped and removed in the end, however this ends: last in, first out.
  const started = new AsyncDisposableStack();
  try {
    const storage = options.memory ? storageInMemory() : storageOnDisk(options);
    started.defer(() => storage.cleanUp());
    const signalled = untilSignal();
    const { port, fresh = false, controllers } = options;
    const local = await startLocal({
      dataDir: storage.dataDir,
      fresh,
      port: port === undefined ? { preferably: defaultPort } : { exactly: port },
      controllers,
    });
    started.defer(() => local.stop());
    const { cluster, plane } = local;
    const file = options.kubeconfig ?? path.join(storage.dir, 'kubeconfig');
    const { kubeconfig, merged } = await writeKubeconfig(cluster, file, options);
    started.defer(() => merged?.undo().catch((error: unknown) => console.error(`Warning: ${messageOf(error)}`)));
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
    await started.disposeAsync();
  }
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
