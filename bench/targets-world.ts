// A cluster with one DeploymentTargetClass and the control plane of claims, for targets.ts.
import { managedEnvironment, space, spaceBinding, spaceRequest } from '../src/api/spaces.ts';
import {
  deploymentTarget,
  DeploymentTarget,
  deploymentTargetClaim,
  DeploymentTargetClaim,
  deploymentTargetClass,
  DeploymentTargetClass,
  environment,
} from '../src/api/targets.ts';
import { defineKind } from '../src/kube/index.ts';
import type { Cost } from './control-plane.ts';
import { each, MeasuredCluster } from './measured-cluster.ts';

const RESOURCES = [
  deploymentTarget,
  deploymentTargetClaim,
  deploymentTargetClass,
  environment,
  managedEnvironment,
  space,
  spaceBinding,
  spaceRequest,
];

const API_VERSION = 'appstudio.redhat.com/v1alpha1';
const CLASS = 'some';
const TEAM = 'team';
const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });

export class TargetsWorld {
  readonly #cluster: MeasuredCluster;
  /** Bound claims. */
  readonly #bound = new Set<string>();
  #onChange = (): void => {};

  private constructor(cluster: MeasuredCluster) {
    this.#cluster = cluster;
  }

  static async start(provisioner: string): Promise<TargetsWorld> {
    const definitions = RESOURCES.map(({ crd }) => crd);
    const world = new TargetsWorld(await MeasuredCluster.start('targets-worker.ts', definitions));
    const { client } = world.#cluster;
    for (const name of [TEAM, 'offshoot-system']) {
      await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
    await client.create(DeploymentTargetClass, {
      apiVersion: API_VERSION,
      kind: 'DeploymentTargetClass',
      metadata: { name: CLASS },
      spec: { provisioner, reclaimPolicy: 'Delete' },
    });
    await world.#watch();
    return world;
  }

  stop(): Promise<void> {
    return this.#cluster.stop();
  }

  /** The cost of the control plane since the last call, once it is idle. */
  cost(): Promise<Cost> {
    return this.#cluster.cost();
  }

  /** The CPU time of the cluster itself since the last call, in milliseconds. */
  clusterCpuMs(): Promise<number> {
    return this.#cluster.clusterCpuMs();
  }

  /** Creates claims concurrently; returns the time until all are bound in milliseconds. */
  async claim(prefix: string, count: number): Promise<number> {
    const started = performance.now();
    await each(count, (i) => this.#create(`${prefix}-${i}`));
    await this.#until(() => this.#count(prefix) === count);
    return performance.now() - started;
  }

  /** Deletes claims concurrently; returns the time until all are gone in milliseconds. */
  async release(prefix: string, count: number): Promise<number> {
    const { client } = this.#cluster;
    const started = performance.now();
    await each(count, async (i) => {
      await client.delete(DeploymentTargetClaim, { name: `${prefix}-${i}`, namespace: TEAM });
    });
    await this.#until(() => this.#count(prefix) === 0);
    return performance.now() - started;
  }

  /** The number of claims that do not have exactly one bound target. */
  async unpaired(prefix: string, count: number): Promise<number> {
    const { client } = this.#cluster;
    const { items: claims } = await client.list(DeploymentTargetClaim, { namespace: TEAM });
    const { items: targets } = await client.list(DeploymentTarget, { namespace: TEAM });
    const byClaim = Map.groupBy(targets, ({ spec }) => spec.claimRef);
    const paired = claims.filter(({ metadata, spec, status }) => {
      const [own, ...others] = byClaim.get(metadata.name) ?? [];
      const isOne = own?.metadata.name === spec.targetName && own?.status?.phase === 'Bound' && others.length === 0;
      return metadata.name.startsWith(`${prefix}-`) && status?.phase === 'Bound' && isOne;
    });
    return count - paired.length;
  }

  #count(prefix: string): number {
    return [...this.#bound].filter((name) => name.startsWith(`${prefix}-`)).length;
  }

  #until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#onChange = () => {
        if (condition()) resolve();
      };
      this.#onChange();
    });
  }

  async #create(name: string): Promise<void> {
    await this.#cluster.client.create(DeploymentTargetClaim, {
      apiVersion: API_VERSION,
      kind: 'DeploymentTargetClaim',
      metadata: { name, namespace: TEAM },
      spec: { deploymentTargetClassName: CLASS },
    });
  }

  async #watch(): Promise<void> {
    const opened = Promise.withResolvers<void>();
    const options = { namespace: TEAM, onOpen: () => opened.resolve() };
    const watching = this.#cluster.client.watch(DeploymentTargetClaim, options, (event) => {
      if (event.type === 'BOOKMARK') return;
      const { metadata, status } = event.object;
      if (event.type === 'DELETED') this.#bound.delete(metadata.name);
      else if (status?.phase === 'Bound') this.#bound.add(metadata.name);
      this.#onChange();
    });
    // Ends when the client is closed.
    watching.catch(() => undefined);
    await opened.promise;
  }
}
