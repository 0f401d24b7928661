// The playground: a sample shop that answers requests through a local gateway, on any cluster whose pods do not run.
// Every hop is routed by the objects of the cluster, as Envoy would route it (proxy.ts).
import type { Facts } from '../controller/index.ts';
import type { Client, Tables } from '../kube/index.ts';
import { Deployment, workloadOf } from '../traffic/services.ts';
import { serveGateway } from './gateway.ts';
import { findShop, makeShop } from './install.ts';
import { LiveFacts } from './live-facts.ts';
import { answeringPods } from './pods.ts';
import { gatewayOf } from './requests.ts';
import { SAMPLE, shopObjects } from './shop.ts';

export interface PlaygroundOptions {
  readonly client: Client;
  /** The caller keeps them up to date. */
  readonly tables: Tables;
  /** The gateway's port; 0 picks a free port. */
  readonly port: number;
}

export interface Playground {
  /** The gateway's URL. */
  readonly url: string;
  /** The shop's namespace, and a workload to create an environment from. */
  readonly sample: typeof SAMPLE;
  stop(): Promise<void>;
}

/** How long a start waits for a new shop to answer. */
const READY_MS = 10_000;

/** Creates the shop, and answers for it. Undefined if the cluster holds anything else. */
export async function startPlayground({ client, tables, port }: PlaygroundOptions): Promise<Playground | undefined> {
  const found = await findShop(client);
  if (found === 'occupied') return undefined;
  const facts = new LiveFacts(tables);
  const gateway = await serveGateway(port, gatewayOf({ facts, random: Math.random }));
  const stop = async (): Promise<void> => {
    await gateway.close();
    facts.close();
  };
  try {
    if (found === 'missing') {
      await makeShop(client);
      await untilAnswering(facts);
    }
    return { url: gateway.url, sample: SAMPLE, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Resolves when every workload of the shop has pods that answer, or after READY_MS. */
async function untilAnswering(facts: LiveFacts): Promise<void> {
  const signal = AbortSignal.timeout(READY_MS);
  const refs = shopObjects().flatMap(({ kind, object }) => (kind === Deployment ? object.metadata : []));
  const isReady = (known: Facts): boolean =>
    refs.every((ref) => {
      const found = known.get(Deployment, ref);
      if (found === undefined || !workloadOf(found).isReady) return false;
      return answeringPods(known, workloadOf(found).key).length > 0;
    });
  await facts.until('start', isReady, signal).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
