// What `offshoot up` runs in this process: the cluster, the controllers, and whatever else is served beside them. Each
// part is started after those that it needs, and stopped before them.
import { startEmbedded } from '../../embedded/index.ts';
import type { Embedded } from '../../embedded/index.ts';
import type { ControlPlane } from '../run/control-plane.ts';
import { clusterDefinitions, leaseNames, webhookNames } from '../run/definitions.ts';
import { seed } from './seed.ts';

const WEBHOOKS = 'validatingwebhookconfigurations.admissionregistration.k8s.io';
const LEASES = 'leases.coordination.k8s.io';

interface LocalOptions {
  /** Where the cluster is kept; undefined keeps it in memory. */
  readonly dataDir: string | undefined;
  readonly fresh: boolean;
  readonly port: Port;
  readonly controllers: boolean;
}

/** A port that must be had, or one that is taken if it is free. */
type Port = { readonly exactly: number } | { readonly preferably: number };

interface Local {
  readonly cluster: Embedded;
  readonly plane: ControlPlane | undefined;
  stop(): Promise<void>;
}

/** Starts all parts. Resolves when they work; where one fails, those before it are stopped. */
export async function startLocal(options: LocalOptions): Promise<Local> {
  const parts = new AsyncDisposableStack();
  const stop = (): Promise<void> => parts.disposeAsync();
  try {
    const cluster = await startCluster(options);
    parts.defer(() => cluster.stop());
    const plane = await startControllers(cluster, options.controllers);
    if (plane !== undefined) parts.defer(() => plane.stop());
    return { cluster, plane, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startCluster({ dataDir, fresh, port }: LocalOptions): Promise<Embedded> {
  const cluster = {
    ...(dataDir !== undefined && { dataDir }),
    ...(fresh && { fresh }),
    definitions: { ...clusterDefinitions, seed },
  };
  if ('exactly' in port) return startEmbedded({ ...cluster, port: port.exactly });
  try {
    return await startEmbedded({ ...cluster, port: port.preferably });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    const elsewhere = await startEmbedded({ ...cluster, port: 0 });
    const { port: taken } = new URL(elsewhere.url);
    console.error(
      `Warning: port ${port.preferably} is in use, so the API listens on port ${taken}; kubeconfigs of earlier runs do not lead there. --port chooses one that stays.`,
    );
    return elsewhere;
  }
}

/** The controllers, or what must be done where there are none. */
async function startControllers(cluster: Embedded, wanted: boolean): Promise<ControlPlane | undefined> {
  const webhooks = webhookNames.filter((name) => cluster.store.get(WEBHOOKS, name) !== undefined);
  const leases = leaseNames.filter((name) => cluster.store.get(LEASES, `kube-system/${name}`) !== undefined);
  if (!wanted && webhooks.length + leases.length === 0) return undefined;
  // Loaded here, so that a cluster without controllers is ready before.
  const { controlLocally, forgetControllers } = await import('./control-locally.ts');
  if (wanted) return controlLocally(cluster);
  // The controllers of a run before this one may have had no chance to clean up.
  await forgetControllers(cluster, { webhooks, leases });
  return undefined;
}
