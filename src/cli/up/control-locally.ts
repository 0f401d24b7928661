// Runs the controllers for an embedded cluster in the same process, without network connections.
import { createLogger, removeConfiguration } from '../../controller/index.ts';
import type { Embedded } from '../../embedded/index.ts';
import { connect } from '../../kube/index.ts';
import type { Client, ConnectConfig } from '../../kube/index.ts';
import { builtinRenderer } from '../../mesh/index.ts';
import { startControlPlane } from '../run/control-plane.ts';
import type { ControlPlane } from '../run/control-plane.ts';
import { dropLeases, holdLeases } from '../run/lease-holders.ts';
import { partsOf } from '../run/parts.ts';

/** The namespace of the leases and the certificate. */
const NAMESPACE = 'kube-system';

/** Starts the control plane of a cluster. Resolves when it runs. */
export function controlLocally(cluster: Embedded): Promise<ControlPlane> {
  return startControlPlane({
    config: configOf(cluster),
    local: cluster.answer,
    parts: partsOf(),
    // The built-in renderer does not need istioctl.
    mesh: { renderer: builtinRenderer },
    namespace: NAMESPACE,
    webhook: { port: 0, reach: 'loopback' },
    logger: createLogger({ level: 'warn' }),
    prepare: (client) => holdLeases(client, partsOf(), NAMESPACE),
  });
}

/** Deletes webhooks and leases of controllers from an earlier run, which nobody serves any more. */
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

/** A client of the cluster, without a network connection. */
export function localClient(cluster: Embedded): Client {
  return connect(configOf(cluster), { local: cluster.answer });
}

function configOf({ url: server, caPem, admin }: Embedded): ConnectConfig {
  return { server, caPem, token: admin.token };
}
