// The real Kubernetes control plane of the tests, by hand:
//   node scripts/real-cluster.ts fetch   find its programs, or build them once with Go
//   node scripts/real-cluster.ts path    print the folder that they are in (fails when they are missing)
//   node scripts/real-cluster.ts up      start a cluster and keep it until Ctrl-C
import { fetchBinaries, findBinaries } from '../test/cluster/binaries.ts';
import { startRealCluster } from '../test/cluster/real.ts';

const commands: Readonly<Record<string, () => Promise<void>>> = {
  async fetch() {
    const started = Date.now();
    const dir = await fetchBinaries((line) => process.stderr.write(`${line}\n`));
    process.stderr.write(`ready after ${Math.round((Date.now() - started) / 1000)} s\n`);
    console.log(dir);
  },

  async path() {
    const found = findBinaries();
    if ('missing' in found) throw new Error(found.missing);
    console.log(found.dir);
  },

  async up() {
    const cluster = await startRealCluster();
    console.log(`${cluster.url}\nexport KUBECONFIG=${cluster.kubeconfigPath}\n${cluster.kubectl} get nodes`);
    process.stderr.write('Ctrl-C stops it\n');
    await new Promise<void>((resolve) => {
      const alive = setInterval(() => undefined, 60_000);
      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        process.once(signal, () => {
          clearInterval(alive);
          resolve();
        });
      }
    });
    await cluster.stop();
  },
};

const command = commands[process.argv[2] ?? ''];
if (command === undefined) {
  process.stderr.write(`usage: node scripts/real-cluster.ts ${Object.keys(commands).join('|')}\n`);
  process.exitCode = 64;
} else {
  try {
    await command();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
