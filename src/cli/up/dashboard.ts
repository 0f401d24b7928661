// The dashboard of a cluster in this process: on loopback, without sign-in, with writes allowed.
import { createDashboard } from '../../dashboard/index.ts';
import type { Dashboard, DashboardOptions } from '../../dashboard/index.ts';
import type { Embedded } from '../../embedded/index.ts';
import type { Playground } from '../../playground/index.ts';
import { readRequest } from '../explain/request.ts';
import type { ControlPlane } from '../run/control-plane.ts';
import { version } from '../version/version.ts';
import { localClient } from './control-locally.ts';

/** Serves the dashboard of a cluster from the tables of its controllers. */
export async function dashboardOf(
  cluster: Embedded,
  plane: ControlPlane,
  shop: Playground | undefined,
  port: number,
  terminal?: DashboardOptions['terminal'],
): Promise<Dashboard> {
  const client = localClient(cluster);
  const { tables } = plane.manager;
  const gateway = shop && { url: shop.url, namespace: shop.sample.namespace };
  const dashboard = await createDashboard({
    tables,
    client,
    port,
    version: version(),
    writes: true,
    readRequest,
    ...(gateway && { gateway }),
    ...(terminal && { terminal }),
  }).catch((error: unknown) => {
    client.close();
    throw error;
  });
  return {
    url: dashboard.url,
    async close() {
      await dashboard.close();
      client.close();
    },
  };
}
