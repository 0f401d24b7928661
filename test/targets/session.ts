// A cluster with the controllers of claims and targets running in this process, for scenarios.
import { randomBytes } from 'node:crypto';
import { createLogger, Manager } from '../../src/controller/index.ts';
import { loadConfig } from '../../src/kube/index.ts';
import type { AnyObject, Client } from '../../src/kube/index.ts';
import { targets } from '../../src/targets/index.ts';
import type { Settings } from '../../src/targets/index.ts';
import { Namespace } from '../../src/targets/objects.ts';
import { inProcess } from '../scenarios/cluster-actions.ts';
import { History } from '../scenarios/history.ts';
import { play } from '../scenarios/runner.ts';
import { openKubectl } from '../scenarios/session.ts';
import type { Session } from '../scenarios/session.ts';
import { MovingClock } from '../support/moving-clock.ts';
import { connectWithPermissions } from '../support/with-permissions.ts';
import { installKinds, KINDS, scenarios } from './all.ts';
import { leftoversInTheEnd, takeAway } from './leftovers.ts';

export interface TargetsSession extends Session {
  /** All changes since the session began. */
  readonly history: History;
  /** The namespace of the spaces. */
  readonly host: string;
}

/** Installs the kinds and starts the controllers. */
export async function startSession(
  { client, kubeconfigPath }: { kubeconfigPath: string; client: Client },
  settings: Partial<Settings> = {},
): Promise<TargetsSession> {
  await installKinds(client);
  const { server, caPem } = loadConfig({ path: kubeconfigPath });
  const host = `host-${randomBytes(4).toString('hex')}`;
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: host } });
  const clock = new MovingClock();
  const cluster = { name: 'local', roles: [], server, ...(caPem && { caPem }) };
  const account = await connectWithPermissions({ client, kubeconfigPath }, 'targets');
  const manager = new Manager({
    client: account,
    clock,
    controllers: targets({ hostNamespace: host, cluster, ...settings }),
    logger: createLogger({ level: 'error' }),
  });
  const history = await History.record(client, KINDS);
  await manager.start();
  const { actions, close } = openKubectl(kubeconfigPath);
  return {
    history,
    host,
    async run(scenario, namespace, options = {}) {
      const moves = scenarios.moves(scenario, { ns: namespace, host, server });
      await play(moves, {
        actions,
        reader: inProcess(client),
        history,
        advance: (ms) => clock.advance(ms),
        ...options,
      });
      await takeAway(client, namespace);
      const brought = moves.filter(({ does }) => does === 'apply').flatMap(({ objects }) => objects.filter(isSecret));
      return leftoversInTheEnd(client, namespace, history, brought);
    },
    async stop() {
      await manager.stop();
      account.close();
      await history.stop();
      await client.delete(Namespace, { name: host });
      close();
    },
  };
}

/** Secrets of scenarios may be left; everything else is ours. */
function isSecret({ kind }: AnyObject): boolean {
  return kind === 'Secret';
}
