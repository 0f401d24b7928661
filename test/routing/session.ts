// A cluster with the routing controllers running in this process, for scenarios.
import { createLogger, Manager } from '../../src/controller/index.ts';
import type { Client } from '../../src/kube/index.ts';
import { routing } from '../../src/routing/index.ts';
import { inProcess } from '../scenarios/cluster-actions.ts';
import { History } from '../scenarios/history.ts';
import { play } from '../scenarios/runner.ts';
import { openKubectl } from '../scenarios/session.ts';
import type { Session } from '../scenarios/session.ts';
import { connectWithPermissions } from '../support/with-permissions.ts';
import { installKinds, KINDS, scenarios } from './all.ts';
import { deleteMeshes } from './leftovers.ts';

/** Installs the kinds and starts the controllers. */
export async function startSession(cluster: { kubeconfigPath: string; client: Client }): Promise<Session> {
  const { client, kubeconfigPath } = cluster;
  await installKinds(client);
  const { actions, close } = openKubectl(kubeconfigPath);
  const account = await connectWithPermissions(cluster, 'routing');
  const manager = new Manager({ client: account, controllers: routing(), logger: createLogger({ level: 'error' }) });
  const history = await History.record(client, KINDS);
  await manager.start();
  return {
    async run(scenario, namespace, options = {}) {
      const moves = scenarios.moves(scenario, { ns: namespace });
      await play(moves, { actions, reader: inProcess(client), history, ...options });
      return deleteMeshes(client, namespace);
    },
    async stop() {
      await manager.stop();
      account.close();
      await history.stop();
      close();
    },
  };
}
