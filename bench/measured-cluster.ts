// An embedded cluster and a control plane, each in its own process; the control plane is bundled as in a release, and
// has the environment variables of the release image.
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { BUNDLING } from '../scripts/bundle.ts';
import { RELEASE_CONFIG } from '../scripts/image/release.ts';
import { connect, defineKind, loadConfig } from '../src/kube/index.ts';
import type { AnyObject, Client } from '../src/kube/index.ts';
import type { Cost } from './control-plane.ts';

const AT_ONCE = 16;

const Definition = defineKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', {
  namespaced: false,
});

export class MeasuredCluster {
  readonly client: Client;
  readonly #dir: string;
  readonly #cluster: ChildProcess;
  readonly #controlPlane: ChildProcess;

  private constructor(dir: string, cluster: ChildProcess, controlPlane: ChildProcess, client: Client) {
    this.client = client;
    this.#dir = dir;
    this.#cluster = cluster;
    this.#controlPlane = controlPlane;
  }

  /** Starts both; `worker` is the file of the control plane in this folder. */
  static async start(worker: string, definitions: readonly AnyObject[]): Promise<MeasuredCluster> {
    const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-bench-'));
    const kubeconfig = path.join(dir, 'kubeconfig');
    const cluster = await startProcess(path.join(import.meta.dirname, 'cluster.ts'), kubeconfig);
    const client = connect(loadConfig({ path: kubeconfig }));
    await Promise.all(definitions.map((definition) => client.create(Definition, definition)));
    const controlPlane = await startProcess(await bundle(dir, worker), kubeconfig);
    return new MeasuredCluster(dir, cluster, controlPlane, client);
  }

  /** The cost of the control plane since the last call, once it is idle. */
  async cost(): Promise<Cost> {
    this.#controlPlane.send('cost');
    const [cost] = (await once(this.#controlPlane, 'message')) as [Cost];
    return cost;
  }

  /** The CPU time of the cluster itself since the last call, in milliseconds. */
  async clusterCpuMs(): Promise<number> {
    this.#cluster.send('cpu');
    const [ms] = (await once(this.#cluster, 'message')) as [number];
    return ms;
  }

  async stop(): Promise<void> {
    this.client.close();
    for (const child of [this.#controlPlane, this.#cluster]) {
      child.disconnect();
      await once(child, 'exit');
    }
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

/** Runs a function `count` times, `atOnce` at a time. */
export async function each(count: number, work: (i: number) => Promise<void>, atOnce = AT_ONCE): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < count; i = next++) await work(i);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** Starts a program with the path of the kubeconfig; resolves when it is ready. */
async function startProcess(file: string, kubeconfig: string): Promise<ChildProcess> {
  const variables = Object.fromEntries(RELEASE_CONFIG.env.map((each) => each.split('=')));
  const child = fork(file, [kubeconfig], { env: { ...process.env, ...variables } });
  await once(child, 'message');
  return child;
}

async function bundle(dir: string, worker: string): Promise<string> {
  const outfile = path.join(dir, 'worker.mjs');
  await build({ ...BUNDLING, entryPoints: [path.join(import.meta.dirname, worker)], outfile });
  return outfile;
}
