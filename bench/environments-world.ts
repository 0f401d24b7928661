// A cluster with a number of environments in it, and their control plane, each in a process of its own: what
// environments.ts measures.
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { dynamicEnv } from '../src/api/dynamicenv.ts';
import { istioDefinitions } from '../src/embedded/crd/bundled/istio.ts';
import { connect, defineKind, loadConfig } from '../src/kube/index.ts';
import type { AnyObject, Client } from '../src/kube/index.ts';
import type { Cost } from './environments-worker.ts';

const AT_ONCE = 16;
const NAMESPACE = 'default';

const Definition = defineKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', {
  namespaced: false,
});
const Deployment = defineKind('apps/v1', 'Deployment', 'deployments');
const Service = defineKind('v1', 'Service', 'services');
const DestinationRule = defineKind('networking.istio.io/v1beta1', 'DestinationRule', 'destinationrules');
const VirtualService = defineKind('networking.istio.io/v1beta1', 'VirtualService', 'virtualservices');
const DynamicEnv = defineKind('riskified.com/v1alpha1', 'DynamicEnv', 'dynamicenvs');

export class EnvironmentsWorld {
  readonly #dir: string;
  readonly #cluster: ChildProcess;
  readonly #controlPlane: ChildProcess;
  readonly #client: Client;
  /** By name of an environment: tells who waits that it is ready. */
  readonly #waiting = new Map<string, () => void>();

  private constructor(dir: string, cluster: ChildProcess, controlPlane: ChildProcess, client: Client) {
    this.#dir = dir;
    this.#cluster = cluster;
    this.#controlPlane = controlPlane;
    this.#client = client;
  }

  /** A world of `size` environments that are ready, each on a workload of its own, and workloads for more of them. */
  static async start(size: number, more: number): Promise<EnvironmentsWorld> {
    // A place where the bundle finds the same packages.
    const cache = path.join(import.meta.dirname, '../node_modules/.cache');
    mkdirSync(cache, { recursive: true });
    const dir = mkdtempSync(path.join(cache, 'environments-'));
    const kubeconfig = path.join(dir, 'kubeconfig');
    const cluster = await startProcess(path.join(import.meta.dirname, 'environments-cluster.ts'), kubeconfig);
    const client = connect(loadConfig({ path: kubeconfig }));
    const definitions = [dynamicEnv.crd, ...Object.values(istioDefinitions())] as AnyObject[];
    await Promise.all(definitions.map((definition) => client.create(Definition, definition)));
    const controlPlane = await startProcess(await bundle(dir), kubeconfig);
    const world = new EnvironmentsWorld(dir, cluster, controlPlane, client);
    await world.#watch();
    await each(more, (i) => world.#createWorkload(`more-${i}`));
    await each(size, async (i) => {
      await world.#createWorkload(`other-${i}`);
      await world.#createEnvironment(`other-${i}`);
    });
    return world;
  }

  async stop(): Promise<void> {
    this.#client.close();
    for (const child of [this.#controlPlane, this.#cluster]) {
      child.disconnect();
      await once(child, 'exit');
    }
    rmSync(this.#dir, { recursive: true, force: true });
  }

  /** Makes an environment on one of the workloads that have none; how long it took to be ready, in milliseconds. */
  async makeOne(i: number): Promise<number> {
    const started = performance.now();
    await this.#createEnvironment(`more-${i}`);
    return performance.now() - started;
  }

  /** What the control plane has cost since the last time, once nothing is going on. */
  async cost(): Promise<Cost> {
    this.#controlPlane.send('cost');
    const [cost] = (await once(this.#controlPlane, 'message')) as [Cost];
    return cost;
  }

  async #watch(): Promise<void> {
    const opened = Promise.withResolvers<void>();
    const options = { namespace: NAMESPACE, onOpen: () => opened.resolve() };
    const watching = this.#client.watch(DynamicEnv, options, (event) => {
      if (event.type === 'BOOKMARK') return;
      const { state } = (event.object['status'] ?? {}) as { state?: string };
      if (state === 'ready') this.#waiting.get(event.object.metadata.name)?.();
    });
    // It ends with the client.
    watching.catch(() => undefined);
    await opened.promise;
  }

  async #createWorkload(name: string): Promise<void> {
    const metadata = { name, namespace: NAMESPACE };
    const labels = { app: name, version: 'shared' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'app:1' }] } };
    const http = [{ route: [{ destination: { host: name, subset: 'shared' } }] }];
    const subsets = [{ name: 'shared', labels: { version: 'shared' } }];
    const istio = 'networking.istio.io/v1beta1';
    const make = (kind: typeof Deployment, apiVersion: string, spec: object): Promise<AnyObject> =>
      this.#client.create(kind, { apiVersion, kind: kind.kind, metadata, spec });
    await make(Deployment, 'apps/v1', { replicas: 0, selector: { matchLabels: labels }, template });
    await make(Service, 'v1', { selector: { app: name }, ports: [{ port: 80 }] });
    await make(DestinationRule, istio, { host: name, subsets });
    await make(VirtualService, istio, { hosts: [name], http });
  }

  /** Resolves when it is ready. */
  async #createEnvironment(name: string): Promise<void> {
    const subset = { name, namespace: NAMESPACE, containers: [{ containerName: 'main', image: 'app:2' }] };
    const ready = new Promise<void>((resolve) => this.#waiting.set(name, resolve));
    await this.#client.create(DynamicEnv, {
      apiVersion: 'riskified.com/v1alpha1',
      kind: 'DynamicEnv',
      metadata: { name, namespace: NAMESPACE },
      spec: { istioMatches: [{ headers: { user: { exact: name } } }], subsets: [subset] },
    });
    await ready;
    this.#waiting.delete(name);
  }
}

/** Does something a number of times, several at once. */
async function each(count: number, work: (i: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < count; i = next++) await work(i);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** Starts a program with the place of the kubeconfig; resolves when it says that it is ready. */
async function startProcess(file: string, kubeconfig: string): Promise<ChildProcess> {
  const child = fork(file, [kubeconfig]);
  await once(child, 'message');
  return child;
}

async function bundle(dir: string): Promise<string> {
  const outfile = path.join(dir, 'worker.mjs');
  await build({
    entryPoints: [path.join(import.meta.dirname, 'environments-worker.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  });
  return outfile;
}
