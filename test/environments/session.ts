// A cluster with the controllers of environments running in this process, for scenarios.
import { createLogger, Manager } from '../../src/controller/index.ts';
import { environments } from '../../src/environments/index.ts';
import { connectWithPermissions } from '../support/with-permissions.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { defineKind } from '../../src/kube/objects.ts';
import { inProcess } from '../scenarios/cluster-actions.ts';
import { play } from '../scenarios/runner.ts';
import { openKubectl } from '../scenarios/session.ts';
import type { Session } from '../scenarios/session.ts';
import { scenarios } from './all.ts';
import { installKinds } from './install.ts';
import { DynamicEnv, leftoversInTheEnd } from './leftovers.ts';

const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });

/** Installs the kinds and starts the controllers. */
export async function startSession(cluster: { kubeconfigPath: string; client: Client }): Promise<Session> {
  const { client, kubeconfigPath } = cluster;
  await installKinds(client);
  const account = await connectWithPermissions(cluster, 'environments');
  const { actions, close } = openKubectl(kubeconfigPath);
  const manager = new Manager({
    client: account,
    controllers: environments({ drainMs: 200, settleMs: 0 }),
    logger: createLogger({ level: 'error' }),
  });
  await manager.start();
  return {
    async run(scenario, namespace, options = {}) {
      const moves = scenarios.moves(scenario, { ns: namespace });
      const others = moves
        .flatMap(({ objects }) => objects)
        .filter(({ kind }) => kind === 'Namespace')
        .map(({ metadata }) => metadata.name);
      try {
        await play(moves, { actions, reader: inProcess(client), ...options });
        return await deleteAll(client, [namespace, ...others]);
      } finally {
        await Promise.all(others.map((name) => client.delete(Namespace, { name }).catch(() => undefined)));
      }
    },
    async stop() {
      await manager.stop();
      account.close();
      close();
    },
  };
}

/** Deletes all environments of some namespaces; resolves with what is left of them in the end. */
async function deleteAll(client: Client, namespaces: readonly string[]): Promise<readonly string[]> {
  for (const namespace of namespaces) {
    const { items } = await client.list(DynamicEnv, { namespace });
    for (const { metadata } of items) await client.delete(DynamicEnv, metadata);
  }
  return leftoversInTheEnd(client, (name) => namespaces.includes(name));
}
