// Runs the controllers of a benchmark in their own process. Answers every message, once idle, with the cost since the
// last one.
import { setTimeout } from 'node:timers/promises';
import { keepHeapSmall } from '../src/cli/run/heap.ts';
import { createLogger, Manager } from '../src/controller/index.ts';
import type { ControllerDefinition } from '../src/controller/index.ts';
import { connect, loadConfig } from '../src/kube/index.ts';
import type { ConnectConfig } from '../src/kube/index.ts';

export interface Cost {
  readonly requests: number;
  /** Writes, without Events. */
  readonly writes: number;
  readonly events: number;
  /** Writes that failed with a conflict. */
  readonly conflicts: number;
  readonly cpuMs: number;
  /** The peak memory of the process. */
  readonly peakMb: number;
  /** The current memory. */
  readonly residentMb: number;
  /** The used heap, including garbage. */
  readonly heapMb: number;
}

const QUIET_MS = 300;
const MEBI = 2 ** 20;

/** Runs the controllers on the cluster of the kubeconfig in the first argument, until the parent process ends. */
export async function serveCosts(
  controllers: (config: ConnectConfig) => readonly ControllerDefinition[],
): Promise<void> {
  keepHeapSmall();
  let requests = 0;
  let writes = 0;
  let events = 0;
  let conflicts = 0;
  let cpuBefore = process.cpuUsage();
  const config = loadConfig({ path: process.argv[2]! });
  const client = connect(config, {
    onRequest: ({ method, flow, code }) => {
      requests++;
      if (code === 409) conflicts++;
      if (flow === 'events') events++;
      else if (method !== 'GET') writes++;
    },
  });
  const logger = createLogger({ level: 'warn' });
  const manager = new Manager({ client, controllers: controllers(config), logger });
  await manager.start();

  /** Waits until the manager is idle and sent no requests for a while, because Events are written asynchronously. */
  async function untilQuiet(): Promise<void> {
    for (let before = -1; before !== requests || !manager.idle;) {
      before = requests;
      await setTimeout(QUIET_MS);
    }
  }

  async function report(): Promise<void> {
    await untilQuiet();
    const peakMb = process.resourceUsage().maxRSS / 1024;
    const { user, system } = process.cpuUsage(cpuBefore);
    const { rss, heapUsed } = process.memoryUsage();
    const [residentMb, heapMb] = [rss / MEBI, heapUsed / MEBI];
    const cpuMs = (user + system) / 1000;
    const cost: Cost = { requests, writes, events, conflicts, cpuMs, peakMb, residentMb, heapMb };
    requests = writes = events = conflicts = 0;
    cpuBefore = process.cpuUsage();
    process.send!(cost);
  }

  process.on('message', () => void report());
  process.once('disconnect', () => process.exit());
  process.send!('ready');
}
