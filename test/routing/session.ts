// A cluster with the controllers of routing rules running in this process, ready to play scenarios on.
import { createLogger, Manager } from '../../src/controller/index.ts';
import type { Client } from '../../src/kube/index.ts';
import { routing } from '../../src/routing/index.ts';
import { inProcess } from '../scenarios/hands.ts';
import { History } from '../scenarios/history.ts';
import { play } from '../scenarios/runner.ts';
import { openKubectl } from '../scenarios/session.ts';
import type { Session } from '../scenarios/session.ts';
import { connectWithRights } from '../support/with-rights.ts';
import { installKinds, KINDS, scenarios } from './all.ts';
import { takeAway } from './leftovers.ts';

/** Installs the kinds and starts the controllers. */
export async function startSession(cluster: { kubeconfigPath: string; client: Client }): Promise<Session> {
  const { client, kubeconfigPath } = cluster;
  await installKinds(client);
  const { hands, close } = openKubectl(kubeconfigPath);
  const account = await connectWithRights(cluster, 'routing');
  const manager = new Manager({ client: account, controllers: routing(), logger: createLogger({ level: 'error' }) });
  const history = await History.record(client, KINDS);
  await manager.start();
  return {
    async run(scenario, namespace, options = {}) {
      const moves = scenarios.moves(scenario, { ns: namespace });
      await play(moves, { hands, eyes: inProcess(client), history, ...options });
      return takeAway(client, namespace);
    },
    async stop() {
      await manager.stop();
      account.close();
      await history.stop();
      close();
    },
  };
}
