// Controllers for an embedded cluster in the same process, without a connection between them.
import { createLogger, removeConfiguration } from '../../controller/index.ts';
import type { Embedded } from '../../embedded/index.ts';
import { connect } from '../../kube/index.ts';
import type { ConnectConfig } from '../../kube/index.ts';
import { startControlPlane } from '../run/control-plane.ts';
import type { ControlPlane } from '../run/control-plane.ts';
import { partsOf } from '../run/parts.ts';

/** Starts the control plane of a cluster. Resolves when it works. */
export function controlLocally(cluster: Embedded): Promise<ControlPlane> {
  return startControlPlane({
    config: configOf(cluster),
    local: cluster.answer,
    parts: partsOf(),
    namespace: 'kube-system',
    webhook: { port: 0, reach: 'loopback' },
    logger: createLogger({ level: 'warn' }),
  });
}

/** Takes back webhooks that somebody registered who is gone. */
export async function forgetWebhooks(cluster: Embedded, names: readonly string[]): Promise<void> {
  const client = connect(configOf(cluster), { local: cluster.answer });
  await Promise.all(names.map((name) => removeConfiguration(client, name)));
  client.close();
}

function configOf({ url: server, caPem, admin }: Embedded): ConnectConfig {
  return { server, caPem, token: admin.token };
}
