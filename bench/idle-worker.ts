// The control plane of idle.ts in its own process: four tables, one controller, leader election.
import { setTimeout } from 'node:timers/promises';
import { keepHeapSmall } from '../src/cli/run/heap.ts';
import { createLogger, defineController, Manager } from '../src/controller/index.ts';
import { connect, defineKind, loadConfig } from '../src/kube/index.ts';
import type { IdleReport } from './idle.ts';

const IDLE_SECONDS = 20;

keepHeapSmall();

const ConfigMap = defineKind('v1', 'ConfigMap', 'configmaps');
const Secret = defineKind('v1', 'Secret', 'secrets');
const Service = defineKind('v1', 'Service', 'services');
const Deployment = defineKind('apps/v1', 'Deployment', 'deployments');

const requests: Record<string, number> = {};
const client = connect(loadConfig({ path: process.argv[2]! }), {
  onRequest: ({ flow }) => void (requests[flow] = (requests[flow] ?? 0) + 1),
});
const manager = new Manager({
  client,
  controllers: [
    defineController({
      name: 'idle',
      kind: ConfigMap,
      plan: (view, { metadata: { namespace } }) => {
        for (const kind of [Secret, Service, Deployment]) view.list(kind, { namespace: namespace! });
        return {};
      },
    }),
  ],
  leaderElection: { namespace: 'default', name: 'idle' },
  logger: createLogger({ level: 'warn' }),
});
await manager.start();
while (!manager.idle) await setTimeout(50);
for (const flow of Object.keys(requests)) delete requests[flow];
await setTimeout(IDLE_SECONDS * 1000);
globalThis.gc?.();
const report: IdleReport = {
  objects: [...manager.tables].reduce((sum, each) => sum + each.size, 0),
  rssMb: process.memoryUsage.rss() / 2 ** 20,
  requests: { ...requests },
  seconds: IDLE_SECONDS,
};
process.send!(report);
