// Runs the real mesh of the tests manually:
//   npm run real-mesh -- fetch   find istiod and Envoy, or build and download them once
//   npm run real-mesh -- path    print their folders (fails when they are missing)
//   npm run real-mesh -- up [--cluster embedded|real]
//                                a mesh with the example shop and the controllers, until Ctrl-C
import { parseArgs } from 'node:util';
import { connect } from '../src/kube/client/connect.ts';
import { loadConfig } from '../src/kube/client/config/kubeconfig.ts';
import { ownClusters } from '../test/cluster/own.ts';
import { missingMesh, startMesh } from '../test/mesh/mesh.ts';
import type { Mesh } from '../test/mesh/mesh.ts';
import { makeShop, PUBLIC_HOST } from '../test/mesh/sample.ts';
import { startControllers } from '../test/mesh/workload.ts';
import { envoy } from '../test/programs/envoy.ts';
import { istiod } from '../test/programs/istio.ts';
import { interrupted, programCommands, runSubcommand } from './subcommand.ts';

await runSubcommand('real-mesh', { ...programCommands([istiod, envoy]), up });

async function up(args: readonly string[]): Promise<void> {
  const options = { cluster: { type: 'string', default: 'embedded' } } as const;
  const { cluster: kind } = parseArgs({ args: [...args], options }).values;
  if (!(kind in ownClusters))
    throw new Error(`--cluster is one of ${Object.keys(ownClusters).join(', ')}, not ${kind}`);
  const missing = missingMesh();
  if (missing !== undefined) throw new Error(missing);
  await using ends = new AsyncDisposableStack();
  const cluster = await ownClusters[kind as keyof typeof ownClusters]();
  ends.defer(() => cluster.stop());
  const client = connect(loadConfig({ path: cluster.kubeconfigPath }));
  ends.defer(() => client.close());
  const mesh = await startMesh({ client, kubeconfigPath: cluster.kubeconfigPath });
  ends.defer(() => mesh.stop());
  const manager = await startControllers(client);
  ends.defer(() => manager.stop());
  await makeShop(client, mesh.ports[0]!);
  console.log(await instructions(mesh, cluster.kubeconfigPath));
  await interrupted();
}

async function instructions(mesh: Mesh, kubeconfig: string): Promise<string> {
  const web = await mesh.caller({ name: 'web', namespace: 'shop', labels: { app: 'web' } });
  await mesh.settled();
  const [port] = mesh.ports;
  return `
export KUBECONFIG=${kubeconfig}

# as the pod web calls the Service orders:
curl -s -H 'Host: orders' http://${web.address}:${port}/
# as somebody outside comes in at the edge:
curl -s -H 'Host: ${PUBLIC_HOST}' http://${mesh.ingress.address}:${port}/

# create an environment, and reach it with its key:
npx offshoot env create alice -n shop --subset orders=example.com/orders:2 --header x-env=alice --wait
curl -s -H 'Host: orders' -H 'x-env: alice' http://${web.address}:${port}/
curl -s -H 'Host: ${PUBLIC_HOST}' -H 'x-env: alice' http://${mesh.ingress.address}:${port}/
`;
}
