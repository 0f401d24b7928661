// A cluster without controllers for a test suite in another language. Serves until it is stopped.
//   node test-bed.ts ./kubeconfig
import { writeFileSync } from 'node:fs';
import { startEmbedded } from 'offshoot/embedded';

const cluster = await startEmbedded({ simulation: false });
writeFileSync(process.argv[2] ?? 'kubeconfig', cluster.kubeconfig(), { mode: 0o600 });
console.log('ready');
