// A cluster with the controllers of the mesh running in this process, ready to play a scenario on. It must be used for
// nothing else: there is one mesh in a cluster.
import { createLogger, Manager } from '../../src/controller/index.ts';
import type { Client } from '../../src/kube/index.ts';
import { inProcess } from '../scenarios/hands.ts';
import { play } from '../scenarios/runner.ts';
import { openKubectl } from '../scenarios/session.ts';
import type { Session } from '../scenarios/session.ts';
import { connectWithRights } from '../support/with-rights.ts';
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
  const { hands, close } = openKubectl(kubeconfigPath);
  const endInjection = await startInjector(client);
  const account = await connectWithRights(cluster, 'mesh');
  const manager = new Manager({
    client: account,
    controllers: controllersOf(scenario),
    logger: createLogger({ level: 'error' }),
  });
  await manager.start();
  return {
    async run(name, namespace, options = {}) {
      await play(scenarios.moves(name, { ns: namespace }), { hands, eyes: inProcess(client), ...options });
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
