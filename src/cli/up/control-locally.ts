// Controllers for an embedded cluster in the same process, without a connection between them.
import { createLogger, removeConfiguration } from '../../controller/index.ts';
import type { Embedded } from '../../embedded/index.ts';
import { connect } from '../../kube/index.ts';
import type { Client, ConnectConfig } from '../../kube/index.ts';
import { builtinRenderer } from '../../mesh/index.ts';
import { startControlPlane } from '../run/control-plane.ts';
import type { ControlPlane } from '../run/control-plane.ts';
import { dropLeases, holdLeases } from '../run/lease-holders.ts';
import { partsOf } from '../run/parts.ts';

/** Where leases and the certificate are kept. */
const NAMESPACE = 'kube-system';

/** Starts the control plane of a cluster. Resolves when it works. */
export function controlLocally(cluster: Embedded): Promise<ControlPlane> {
  return startControlPlane({
    config: configOf(cluster),
    local: cluster.answer,
    parts: partsOf(),
    // Nobody has to have istioctl in order to try it.
    mesh: { renderer: builtinRenderer },
    namespace: NAMESPACE,
    webhook: { port: 0, reach: 'loopback' },
    logger: createLogger({ level: 'warn' }),
    prepare: (client) => holdLeases(client, partsOf(), NAMESPACE),
  });
}

/** Takes back what controllers left that ran with the cluster before: nobody answers for these webhooks and leases. */
export async function forgetControllers(
  cluster: Embedded,
  { webhooks, leases }: { readonly webhooks: readonly string[]; readonly leases: readonly string[] },
): Promise<void> {
  const client = localClient(cluster);
  await Promise.all([
    ...webhooks.map((name) => removeConfiguration(client, name)),
    dropLeases(client, leases, NAMESPACE),
  ]);
  client.close();
}

/** A client of the cluster, without a connection. */
export function localClient(cluster: Embedded): Client {
  return connect(configOf(cluster), { local: cluster.answer });
}

function configOf({ url: server, caPem, admin }: Embedded): ConnectConfig {
  return { server, caPem, token: admin.token };
}
