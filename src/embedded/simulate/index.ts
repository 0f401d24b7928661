// Simulates the controllers, the scheduler and the kubelets of the embedded cluster.
import type { Cluster } from '../rest/context.ts';
import type { Credentials } from './access/accounts.ts';
import { controllers, selectors } from './controllers.ts';
import { Loop, systemClock } from './loop.ts';
import type { Clock } from './loop.ts';
import { newNode } from './pods/nodes.ts';
import { World } from './world.ts';
import { createOf, perform } from './writes.ts';

export { podLog } from './pods/kubelet.ts';

export interface SimulationOptions {
  readonly clock?: Clock;
  /** The minimum number of nodes; 1 by default. */
  readonly nodes?: number;
  /** Names of controllers that are not started, such as `scheduler` or `generic-garbage-collector`. */
  readonly disabled?: readonly string[];
  /** For CA certificates and token Secrets; without credentials, none are written. */
  readonly credentials?: Credentials;
  /** Called for errors other than refused requests. */
  readonly onError?: (error: unknown) => void;
}

export interface Simulation {
  /** Resolves when the queue is empty; timers and events may still add work later. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts all controllers. Resolves once the nodes are created. */
export async function startSimulation(cluster: Cluster, options: SimulationOptions = {}): Promise<Simulation> {
  const { clock = systemClock, nodes = 1, disabled = [], onError = () => undefined } = options;
  const world = new World(cluster.store, cluster.registry, () => clock.now(), selectors);
  const enabled = controllers(options.credentials).filter((controller) => !disabled.includes(controller.name));
  const loop = new Loop(cluster, world, enabled, clock, onError);
  const unsubscribe = cluster.store.subscribe(undefined, (event) => {
    try {
      world.observe(event);
      loop.handle(event);
    } catch (error) {
      // An error here must not fail the write, nor reach other subscribers.
      onError(error);
    }
  });
  const present = world.collections().flatMap((collection) => cluster.store.list(collection));
  for (const stored of present) world.add(stored);
  for (const stored of present) loop.handle({ type: 'ADDED', version: stored.version, stored, previous: undefined });
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
  const nodes = Array.from({ length: count }, (_unused, index) => newNode(index + 1, now));
  const missing = nodes.filter((node) => cluster.store.get('nodes', node.metadata.name!) === undefined);
  const user = { username: 'system:node', groups: ['system:nodes'] };
  await perform(
    cluster,
    missing.map((node) => createOf(node)),
    { user, manager: 'kubelet', component: 'kubelet' },
  );
}
