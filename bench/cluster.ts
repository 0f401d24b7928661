// The embedded cluster that a benchmark measures on, in a process of its own; says where it is once it serves.
import { writeFileSync } from 'node:fs';
import { startEmbedded } from '../src/embedded/index.ts';

const file = process.argv[2]!;
const cluster = await startEmbedded();
writeFileSync(file, cluster.kubeconfig(), { mode: 0o600 });
process.once('disconnect', () => void cluster.stop().then(() => process.exit()));
process.send!('ready');
