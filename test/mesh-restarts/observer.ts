// Sees every change of the Deployments of the shop: how often each was restarted, and how many were down at once.
import { defineTable, systemClock, Tables } from '../../src/kube/index.ts';
import type { Client } from '../../src/kube/index.ts';
import type { Workload } from '../../src/mesh/index.ts';
import { Deployment, SHOP } from './world.ts';

const PREFIX = 'istio-operator.kyma-project.io/';
const Deployments = defineTable(Deployment, { namespace: SHOP });

export interface Observer {
  /** By name: the marks that restarts have left since it was last asked to forget. */
  readonly restarts: ReadonlyMap<string, ReadonlySet<string>>;
  /** The most workloads that had fewer pods than they should, at any moment since then. */
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
    const mark = hash === undefined ? undefined : `${hash} ${at}`;
    if (known.has(name) && mark !== undefined && mark !== known.get(name)) {
      restarts.set(name, (restarts.get(name) ?? new Set()).add(mark));
    }
    known.set(name, mark);
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
