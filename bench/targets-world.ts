// A cluster with one class of targets, and the control plane of claims: what targets.ts measures.
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
  /** Claims that were seen bound, and who waits for more of them. */
  readonly #bound = new Set<string>();
  #onBound = (): void => {};

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

  /** What the control plane has cost since the last time, once nothing is going on. */
  cost(): Promise<Cost> {
    return this.#cluster.cost();
  }

  /** Makes so many claims at once; how long it took until all were bound, in milliseconds. */
  async claim(prefix: string, count: number): Promise<number> {
    const names = Array.from({ length: count }, (_, i) => `${prefix}-${i}`);
    const started = performance.now();
    await each(count, (i) => this.#create(names[i]!));
    await new Promise<void>((resolve) => {
      this.#onBound = () => {
        if (names.every((name) => this.#bound.has(name))) resolve();
      };
      this.#onBound();
    });
    return performance.now() - started;
  }

  /** How many claims have not exactly one target that is bound to them and named by them. */
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
      if (event.type === 'BOOKMARK' || event.object.status?.phase !== 'Bound') return;
      this.#bound.add(event.object.metadata.name);
      this.#onBound();
    });
    // It ends with the client.
    watching.catch(() => undefined);
    await opened.promise;
  }
}
