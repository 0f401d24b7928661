// `offshoot up`: runs a cluster in this process until it is stopped.
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { failure, messageOf } from '../exit.ts';
import { untilSignal } from '../run/signals.ts';
import type { UpOptions } from './command.ts';
import { terminalOf } from './commands.ts';
import type { Written } from './kubeconfig.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import { startLocal } from './local.ts';
import type { Port } from './local.ts';
import { stateDirectory } from './location.ts';
import { summary } from './summary.ts';

export { startLocal } from './local.ts';

/** Runs a cluster, by default with the controllers, until a signal. */
export async function up(options: UpOptions, defaults: DefaultPorts): Promise<void> {
  // Stopped in reverse order at the end, also on errors.
  const started = new AsyncDisposableStack();
  try {
    const storage = options.memory ? storageInMemory() : storageOnDisk(options);
    started.defer(() => storage.cleanUp());
    const signalled = untilSignal();
    const { port, fresh = false, controllers, playground } = options;
    // With any free port for the API, use free ports for everything else.
    const { gatewayPort = port === 0 ? 0 : undefined, dashboardPort = port === 0 ? 0 : undefined } = options;
    let written: Written | undefined;
    const local = await startLocal({
      dataDir: storage.dataDir,
      fresh,
      port: portOf(port, defaults.api),
      controllers,
      gateway: playground ? portOf(gatewayPort, defaults.gateway) : undefined,
      dashboard: options.dashboard ? portOf(dashboardPort, defaults.dashboard) : undefined,
      terminal: () => written && terminalOf(written),
    });
    started.defer(() => local.stop());
    const { cluster, playground: shop, dashboard } = local;
    const file = options.kubeconfig ?? path.join(storage.dir, 'kubeconfig');
    written = await writeKubeconfig(cluster, file, options);
    const { kubeconfig, merged } = written;
    started.defer(() => merged?.undo().catch((error: unknown) => console.error(`Warning: ${messageOf(error)}`)));
    const { url } = cluster;
    if (options.output === 'json') {
      const context = merged && { context: merged.context };
      const gateway = shop && { gateway: shop.url };
      const page = dashboard && { dashboard: dashboard.url };
      console.log(JSON.stringify({ api: url, kubeconfig, pid: process.pid, ...context, ...gateway, ...page }));
    } else {
      console.log(summary(local, { kubeconfig, merged, dataDir: storage.dataDir, wantsShop: playground }));
    }
    // Save the compile cache now for later starts, however this process ends.
    flushCompileCache();
    // By default, V8's young generation would grow to 128 MB, several times the size of a large cluster.
    setFlagsFromString('--semi-space-growth-factor=1');
    await signalled;
  } finally {
    await started.disposeAsync();
  }
}

export interface DefaultPorts {
  readonly api: number;
  readonly gateway: number;
  readonly dashboard: number;
}

function portOf(chosen: number | undefined, preferably: number): Port {
  return chosen === undefined ? { preferably } : { exactly: chosen };
}

interface Storage {
  /** The directory for files of this run. */
  readonly dir: string;
  /** The directory of the cluster's data; undefined keeps it in memory. */
  readonly dataDir?: string;
  cleanUp(): void;
}

function storageInMemory(): Storage {
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-'));
  return { dir, cleanUp: () => rmSync(dir, { recursive: true, force: true }) };
}

function storageOnDisk(options: UpOptions): Storage {
  const dir = path.resolve(options.dataDir ?? stateDirectory());
  try {
    makeDirectory(dir);
  } catch (error) {
    throw failure(
      'InvalidDataDirectory',
      `the data directory ${dir} cannot be made (${messageOf(error)}): choose another one with --data-dir`,
    );
  }
  return { dir, dataDir: dir, cleanUp: () => {} };
}

/** Creates a directory and its parents, one by one: with `recursive`, Node loops forever in /proc. */
function makeDirectory(dir: string): void {
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory()) return;
  makeDirectory(path.dirname(dir));
  mkdirSync(dir, { mode: 0o700 });
}
