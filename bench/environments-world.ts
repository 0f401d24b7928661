// A cluster with environments and their control plane, for environments.ts.
import { dynamicEnv } from '../src/api/dynamicenv.ts';
import { istioDefinitions } from '../src/embedded/crd/bundled/istio.ts';
import { defineKind } from '../src/kube/index.ts';
import type { AnyObject, Client } from '../src/kube/index.ts';
import type { Cost } from './control-plane.ts';
import { each, MeasuredCluster } from './measured-cluster.ts';

export const NAMESPACE = 'default';

const Deployment = defineKind('apps/v1', 'Deployment', 'deployments');
const Service = defineKind('v1', 'Service', 'services');
const DestinationRule = defineKind('networking.istio.io/v1beta1', 'DestinationRule', 'destinationrules');
export const VirtualService = defineKind('networking.istio.io/v1beta1', 'VirtualService', 'virtualservices');
export const DynamicEnv = defineKind('riskified.com/v1alpha1', 'DynamicEnv', 'dynamicenvs');

/** The CustomResourceDefinitions that environments need. */
export const DEFINITIONS = [dynamicEnv.crd, ...Object.values(istioDefinitions())] as AnyObject[];

export class EnvironmentsWorld {
  readonly #cluster: MeasuredCluster;
  readonly #client: Client;
  readonly #more: number;
  /** Callbacks by environment and awaited state. */
  readonly #waiting = new Map<string, () => void>();

  private constructor(cluster: MeasuredCluster, more: number) {
    this.#cluster = cluster;
    this.#more = more;
    this.#client = cluster.client;
  }

  /** Starts a world of `size` ready environments, each with its own workload, and `more` workloads without one. */
  static async start(size: number, more: number, worker = 'environments-worker.ts'): Promise<EnvironmentsWorld> {
    const world = new EnvironmentsWorld(await MeasuredCluster.start(worker, DEFINITIONS), more);
    await world.#watch();
    await each(more, (i) => world.#createWorkload(`more-${i}`));
    await each(size, async (i) => {
      await world.#createWorkload(`other-${i}`);
      await world.#createEnvironment(`other-${i}`);
    });
    return world;
  }

  stop(): Promise<void> {
    return this.#cluster.stop();
  }

  /** Creates an environment on an unused workload; returns the time until it is ready in milliseconds. */
  async makeOne(i: number): Promise<number> {
    const started = performance.now();
    await this.#createEnvironment(`more-${i}`);
    return performance.now() - started;
  }

  /** Creates environments and deletes each as soon as it is ready; as many concurrently as there are workloads. */
  async comeAndGo(count: number): Promise<void> {
    const one = async (i: number): Promise<void> => {
      const name = `fleeting-${i}`;
      await this.#createEnvironment(name, `more-${i % this.#more}`);
      const gone = this.#waitFor(name, 'gone');
      await this.#client.delete(DynamicEnv, { name, namespace: NAMESPACE });
      await gone;
    };
    await each(count, one, this.#more);
  }

  /** The cost of the control plane since the last call, once it is idle. */
  cost(): Promise<Cost> {
    return this.#cluster.cost();
  }

  async #watch(): Promise<void> {
    const opened = Promise.withResolvers<void>();
    const options = { namespace: NAMESPACE, onOpen: () => opened.resolve() };
    const watching = this.#client.watch(DynamicEnv, options, (event) => {
      if (event.type === 'BOOKMARK') return;
      const { name } = event.object.metadata;
      const { state } = (event.object['status'] ?? {}) as { state?: string };
      if (event.type === 'DELETED') this.#waiting.get(`${name} gone`)?.();
      else if (state === 'ready') this.#waiting.get(`${name} ready`)?.();
    });
    // Ends when the client is closed.
    watching.catch(() => undefined);
    await opened.promise;
  }

  #createWorkload(name: string): Promise<void> {
    return createWorkload(this.#client, name);
  }

  /** Resolves when an environment is ready or gone. */
  async #waitFor(name: string, what: 'ready' | 'gone'): Promise<void> {
    await new Promise<void>((resolve) => this.#waiting.set(`${name} ${what}`, resolve));
    this.#waiting.delete(`${name} ${what}`);
  }

  /** Creates an environment and waits until it is ready. */
  async #createEnvironment(name: string, workload = name): Promise<void> {
    const ready = this.#waitFor(name, 'ready');
    await this.#client.create(DynamicEnv, environmentOf(name, workload));
    await ready;
  }
}

/** Creates a Deployment with its Service, DestinationRule and VirtualService. */
export async function createWorkload(client: Client, name: string): Promise<void> {
  const metadata = { name, namespace: NAMESPACE };
  const labels = { app: name, version: 'shared' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'app:1' }] } };
  const http = [{ route: [{ destination: { host: name, subset: 'shared' } }] }];
  const subsets = [{ name: 'shared', labels: { version: 'shared' } }];
  const istio = 'networking.istio.io/v1beta1';
  const make = (kind: typeof Deployment, apiVersion: string, spec: object): Promise<AnyObject> =>
    client.create(kind, { apiVersion, kind: kind.kind, metadata, spec });
  await make(Deployment, 'apps/v1', { replicas: 0, selector: { matchLabels: labels }, template });
  await make(Service, 'v1', { selector: { app: name }, ports: [{ port: 80 }] });
  await make(DestinationRule, istio, { host: name, subsets });
  await make(VirtualService, istio, { hosts: [name], http });
}

/** An environment of a workload that matches the header `user` with its name. */
export function environmentOf(name: string, workload: string): AnyObject {
  const subset = { name: workload, namespace: NAMESPACE, containers: [{ containerName: 'main', image: 'app:2' }] };
  return {
    apiVersion: 'riskified.com/v1alpha1',
    kind: 'DynamicEnv',
    metadata: { name, namespace: NAMESPACE },
    spec: { istioMatches: [{ headers: { user: { exact: name } } }], subsets: [subset] },
  };
}
