// The control plane of environments.ts: the environments controller in a process of its own, bundled as it ships.
// Answers every message, once nothing is going on, with what it has cost since the last one.
import { setTimeout } from 'node:timers/promises';
import { createLogger, Manager } from '../src/controller/index.ts';
import { environments } from '../src/environments/index.ts';
import { connect, loadConfig } from '../src/kube/index.ts';

export interface Cost {
  readonly requests: number;
  /** Those that change something, Events not counted. */
  readonly writes: number;
  readonly events: number;
  /** The most memory that the process has ever had. */
  readonly peakMb: number;
}

const QUIET_MS = 300;
let requests = 0;
let writes = 0;
let events = 0;
const client = connect(loadConfig({ path: process.argv[2]! }), {
  onRequest: ({ method, flow }) => {
    requests++;
    if (flow === 'events') events++;
    else if (method !== 'GET') writes++;
  },
});
const manager = new Manager({ client, controllers: [environments()], logger: createLogger({ level: 'warn' }) });
await manager.start();

/** Nothing is to do, and nothing was sent for a while: Events are written beside the work. */
async function quiet(): Promise<void> {
  for (let before = -1; before !== requests || !manager.idle;) {
    before = requests;
    await setTimeout(QUIET_MS);
  }
}

async function report(): Promise<void> {
  await quiet();
  const peakMb = process.resourceUsage().maxRSS / 1024;
  const cost: Cost = { requests, writes, events, peakMb };
  requests = writes = events = 0;
  process.send!(cost);
}

process.on('message', () => void report());
process.once('disconnect', () => process.exit());
process.send!('ready');
