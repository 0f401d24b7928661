// Starts what `offshoot up` runs in this process: the cluster, the controllers, the sample shop and the dashboard. Each
// part is started after those that it depends on, and stopped before them.
import type { Dashboard, DashboardOptions } from '../../dashboard/index.ts';
import { startEmbedded } from '../../embedded/index.ts';
import type { Embedded } from '../../embedded/index.ts';
import type { Playground } from '../../playground/index.ts';
import { withFlagName } from '../run/addresses.ts';
import type { ControlPlane } from '../run/control-plane.ts';
import { clusterDefinitions, leaseNames, webhookConditions, webhookNames } from '../run/definitions.ts';
import { seed } from './seed.ts';

const WEBHOOKS = 'validatingwebhookconfigurations.admissionregistration.k8s.io';
const LEASES = 'leases.coordination.k8s.io';

interface LocalOptions {
  /** The directory of the cluster's data; undefined keeps it in memory. */
  readonly dataDir: string | undefined;
  readonly fresh: boolean;
  readonly port: Port;
  readonly controllers: boolean;
  /** The port of the gateway to the sample shop; undefined: no shop. */
  readonly gateway: Port | undefined;
  /** The port of the dashboard, which needs the controllers; undefined: no dashboard. */
  readonly dashboard?: Port | undefined;
  /** How commands reach the cluster from a terminal, once that is known. */
  readonly terminal?: DashboardOptions['terminal'];
}

/** A required port, or one that is used if it is free. */
export type Port = { readonly exactly: number } | { readonly preferably: number };

export interface Local {
  readonly cluster: Embedded;
  readonly plane: ControlPlane | undefined;
  /** The sample shop; undefined if it is disabled, or if the cluster holds something else. */
  readonly playground: Playground | undefined;
  readonly dashboard: Dashboard | undefined;
  stop(): Promise<void>;
}

/** Starts all parts. Resolves when they run; if one fails, the others are stopped. */
export async function startLocal(options: LocalOptions): Promise<Local> {
  const parts = new AsyncDisposableStack();
  const stop = (): Promise<void> => parts.disposeAsync();
  try {
    const cluster = await startCluster(options);
    parts.defer(() => cluster.stop());
    const plane = await startControllers(cluster, options.controllers);
    if (plane !== undefined) parts.defer(() => plane.stop());
    const playground = plane && options.gateway && (await startShop(cluster, plane, options.gateway));
    if (playground !== undefined) parts.defer(() => playground.stop());
    const dashboard =
      plane &&
      options.dashboard &&
      (await startDashboard(cluster, plane, playground, options.dashboard, options.terminal));
    if (dashboard !== undefined) parts.defer(() => dashboard.close());
    return { cluster, plane, playground, dashboard, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function startCluster({ dataDir, fresh, port }: LocalOptions): Promise<Embedded> {
  const cluster = {
    ...(dataDir !== undefined && { dataDir }),
    ...(fresh && { fresh }),
    definitions: clusterDefinitions,
    seed,
    conditions: webhookConditions,
  };
  return onPort(
    port,
    (number) => startEmbedded({ ...cluster, port: number }),
    ({ url }) =>
      `the API listens on port ${new URL(url).port}; kubeconfigs of earlier runs do not lead there. --port chooses one that stays.`,
  );
}

/** Starts a server on a port; if a preferred port is in use, on a free one, with a warning. */
async function onPort<R>(port: Port, start: (port: number) => Promise<R>, instead: (started: R) => string): Promise<R> {
  if ('exactly' in port) return start(port.exactly);
  try {
    return await start(port.preferably);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    const elsewhere = await start(0);
    console.error(`Warning: port ${port.preferably} is in use, so ${instead(elsewhere)}`);
    return elsewhere;
  }
}

/** Starts the sample shop with its gateway, if the cluster holds nothing else. */
async function startShop(cluster: Embedded, plane: ControlPlane, port: Port): Promise<Playground | undefined> {
  const [{ startPlayground }, { localClient }] = await Promise.all([
    import('../../playground/index.ts'),
    import('./control-locally.ts'),
  ]);
  const client = localClient(cluster);
  const { tables } = plane.manager;
  try {
    return await onPort(
      port,
      (number) => startPlayground({ client, tables, port: number }),
      (started) => `the gateway listens on ${started?.url}. --gateway-port chooses one that stays.`,
    );
  } catch (error) {
    throw withFlagName(error, { '--gateway-port': 'exactly' in port ? { port: port.exactly } : undefined });
  } finally {
    client.close();
  }
}

/** Starts the dashboard of a cluster with controllers. */
async function startDashboard(
  cluster: Embedded,
  plane: ControlPlane,
  shop: Playground | undefined,
  port: Port,
  terminal: DashboardOptions['terminal'],
): Promise<Dashboard> {
  // Loaded on demand, so that the cluster and its controllers start first.
  const { dashboardOf } = await import('./dashboard.ts');
  try {
    return await onPort(
      port,
      (number) => dashboardOf(cluster, plane, shop, number, terminal),
      ({ url }) => `the dashboard is at ${url}. --dashboard-port chooses a port that stays.`,
    );
  } catch (error) {
    throw withFlagName(error, { '--dashboard-port': 'exactly' in port ? { port: port.exactly } : undefined });
  }
}

/** Starts the controllers, or cleans up after those of an earlier run. */
async function startControllers(cluster: Embedded, isEnabled: boolean): Promise<ControlPlane | undefined> {
  const webhooks = webhookNames.filter((name) => cluster.store.get(WEBHOOKS, name) !== undefined);
  const leases = leaseNames.filter((name) => cluster.store.get(LEASES, `kube-system/${name}`) !== undefined);
  if (!isEnabled && webhooks.length + leases.length === 0) return undefined;
  // Loaded on demand, so that a cluster without controllers starts faster.
  const { controlLocally, forgetControllers } = await import('./control-locally.ts');
  if (isEnabled) return controlLocally(cluster);
  // The controllers of an earlier run may not have cleaned up.
  await forgetControllers(cluster, { webhooks, leases });
  return undefined;
}
