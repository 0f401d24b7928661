// Runs the embedded cluster of a benchmark in its own process. Writes a kubeconfig once it is ready, and answers every
// message with the CPU time since the last one.
import { writeFileSync } from 'node:fs';
import { startEmbedded } from '../src/embedded/index.ts';

const file = process.argv[2]!;
const cluster = await startEmbedded();
writeFileSync(file, cluster.kubeconfig(), { mode: 0o600 });
process.once('disconnect', () => void cluster.stop().then(() => process.exit()));
let before = process.cpuUsage();
process.on('message', () => {
  const { user, system } = process.cpuUsage(before);
  before = process.cpuUsage();
  process.send!((user + system) / 1000);
});
process.send!('ready');
