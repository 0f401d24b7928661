// The life of the embedded cluster: controllers, scheduler and kubelet, simulated over the store.
import type { Cluster } from '../rest/context.ts';
import type { Credentials } from './accounts.ts';
import { controllers, selectors } from './controllers.ts';
import { Loop, systemClock } from './loop.ts';
import type { Clock } from './loop.ts';
import { newNode } from './nodes.ts';
import { World } from './world.ts';
import { createOf, perform } from './writes.ts';

export { podLog } from './kubelet.ts';

export interface SimulationOptions {
  readonly clock?: Clock;
  /** How many nodes there are at least; 1 by default. */
  readonly nodes?: number;
  /** Names of controllers that stay off, such as `scheduler` or `garbage-collector`. */
  readonly disabled?: readonly string[];
  /** What root certificates and token Secrets are made from; without it there are none. */
  readonly credentials?: Credentials;
  /** Told of errors that are nobody's refusal. */
  readonly onError?: (error: unknown) => void;
}

export interface Simulation {
  /** Resolves when nothing is left to do but to wait for a time or an event. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts every controller over the cluster's store. Resolves when the nodes are there. */
export async function startSimulation(cluster: Cluster, options: SimulationOptions = {}): Promise<Simulation> {
  const { clock = systemClock, nodes = 1, disabled = [], onError = () => undefined } = options;
  const world = new World(cluster.store, cluster.registry, () => clock.now(), selectors);
  const enabled = controllers(options.credentials).filter((controller) => !disabled.includes(controller.name));
  const loop = new Loop(cluster, world, enabled, clock, onError);
  const unsubscribe = cluster.store.subscribe(undefined, (event) => {
    try {
      world.see(event);
      loop.notice(event);
    } catch (error) {
      // The writer of this change and its other readers are not to blame.
      onError(error);
    }
  });
  const present = world.collections().flatMap((collection) => cluster.store.list(collection));
  for (const stored of present) world.adopt(stored);
  for (const stored of present) loop.notice({ type: 'ADDED', version: stored.version, stored, previous: undefined });
  await ensureNodes(cluster, nodes, clock.now());
  return {
    idle: () => loop.idle(),
    stop: async () => {
      unsubscribe();
      await loop.stop();
    },
  };
}

async function ensureNodes(cluster: Cluster, count: number, now: number): Promise<void> {
  const wanted = Array.from({ length: count }, (_unused, index) => newNode(index + 1, now));
  const missing = wanted.filter((node) => cluster.store.get('nodes', node.metadata.name!) === undefined);
  const user = { username: 'system:node', groups: ['system:nodes'] };
  await perform(
    cluster,
    missing.map((node) => createOf(node)),
    { user, manager: 'kubelet', component: 'kubelet' },
  );
}
