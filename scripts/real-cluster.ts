// Runs the real Kubernetes control plane of the tests manually:
//   npm run real-cluster -- fetch   find its programs, or build them once with Go
//   npm run real-cluster -- path    print their folders (fails when they are missing)
//   npm run real-cluster -- up      start a cluster and keep it until Ctrl-C
import { startRealCluster } from '../test/cluster/real.ts';
import { controllerRuntime } from '../test/programs/controller-runtime.ts';
import { goObjects } from '../test/programs/go-objects.ts';
import { helm3, helm4 } from '../test/programs/helm.ts';
import { kubernetes } from '../test/programs/kubernetes.ts';
import { prometheus } from '../test/programs/prometheus.ts';
import { interrupted, programCommands, runSubcommand } from './subcommand.ts';

await runSubcommand('real-cluster', {
  ...programCommands([kubernetes, helm3, helm4, prometheus, goObjects, controllerRuntime]),
  async up() {
    const cluster = await startRealCluster();
    console.log(`${cluster.url}\nexport KUBECONFIG=${cluster.kubeconfigPath}\n${cluster.kubectl} get nodes`);
    await interrupted();
    await cluster.stop();
  },
});
