// Observes all changes of the Deployments in the shop: how often each was restarted, and how many were down at a time.
import { defineTable, systemClock, Tables } from '../../src/kube/index.ts';
import type { Client } from '../../src/kube/index.ts';
import type { Workload } from '../../src/mesh/index.ts';
import { Deployment, SHOP } from './world.ts';

const PREFIX = 'istio-operator.kyma-project.io/';
const Deployments = defineTable(Deployment, { namespace: SHOP });

export interface Observer {
  /** The restart annotations since the last `forget`, by name of the Deployment. */
  readonly restarts: ReadonlyMap<string, ReadonlySet<string>>;
  /** The maximum number of workloads with missing pods at any time since then. */
  readonly mostDown: number;
  forget(): void;
  close(): Promise<void>;
}

export async function observe(client: Client): Promise<Observer> {
  const ending = new AbortController();
  const tables = new Tables([Deployments]);
  const running = tables.run({ client, clock: systemClock, signal: ending.signal });
  await tables.whenSynced();
  const restarts = new Map<string, Set<string>>();
  const known = new Map<string, string | undefined>();
  const down = new Set<string>();
  let mostDown = 0;
  const see = ({ metadata: { name }, spec, status }: Workload): void => {
    const { [`${PREFIX}restartedAt`]: at, [`${PREFIX}restartedFor`]: hash } =
      spec?.template?.metadata?.annotations ?? {};
    const restart = hash === undefined ? undefined : `${hash} ${at}`;
    if (known.has(name) && restart !== undefined && restart !== known.get(name)) {
      restarts.set(name, (restarts.get(name) ?? new Set()).add(restart));
    }
    known.set(name, restart);
    if ((status?.availableReplicas ?? 0) < (spec?.replicas ?? 1)) down.add(name);
    else down.delete(name);
    mostDown = Math.max(mostDown, down.size);
  };
  for (const each of tables.of(Deployments).list()) see(each);
  const seeing = (async () => {
    for await (const { updates } of tables.of(Deployments).map.subscribe({ signal: ending.signal })) {
      for (const update of updates) if (!update.delete) see(update.value);
    }
  })();
  return {
    restarts,
    get mostDown() {
      return mostDown;
    },
    forget() {
      restarts.clear();
      mostDown = down.size;
    },
    async close() {
      ending.abort();
      await Promise.all([running, seeing]);
    },
  };
}
