// A cluster with the mesh controllers running in this process, for one scenario. It must not be shared, as a cluster
// has one mesh.
import { createLogger, Manager } from '../../src/controller/index.ts';
import type { Client } from '../../src/kube/index.ts';
import { inProcess } from '../scenarios/cluster-actions.ts';
import { play } from '../scenarios/runner.ts';
import { openKubectl } from '../scenarios/session.ts';
import type { Session } from '../scenarios/session.ts';
import { connectWithPermissions } from '../support/with-permissions.ts';
import { controllersOf, installKinds, scenarios } from './all.ts';
import { startInjector } from './injector.ts';
import { takeAway } from './leftovers.ts';

/** Installs the kind and starts the controllers with the settings of a scenario. */
export async function startSession(
  cluster: { kubeconfigPath: string; client: Client },
  scenario: string,
): Promise<Session> {
  const { client, kubeconfigPath } = cluster;
  await installKinds(client);
  const { actions, close } = openKubectl(kubeconfigPath);
  const endInjection = await startInjector(client);
  const account = await connectWithPermissions(cluster, 'mesh');
  const manager = new Manager({
    client: account,
    controllers: controllersOf(scenario),
    logger: createLogger({ level: 'error' }),
  });
  await manager.start();
  return {
    async run(name, namespace, options = {}) {
      await play(scenarios.moves(name, { ns: namespace }), { actions, reader: inProcess(client), ...options });
      return takeAway(client);
    },
    async stop() {
      await manager.stop();
      account.close();
      await endInjection();
      close();
    },
  };
}
