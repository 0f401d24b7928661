// The dashboard of a cluster, for users with a token of it. It reads the tables of this process's controllers. Every
// replica serves it, not only the leader.
import { CertificateFiles } from '../../controller/index.ts';
import type { Address, Logger } from '../../controller/index.ts';
import { createDashboard, sessionKey } from '../../dashboard/index.ts';
import type { Dashboard } from '../../dashboard/index.ts';
import type { Settings } from '../../environments/index.ts';
import { connect } from '../../kube/index.ts';
import type { Client, ConnectConfig } from '../../kube/index.ts';
import { readRequest } from '../explain/request.ts';
import { version } from '../version/version.ts';
import type { ControlPlane } from './control-plane.ts';

export interface ServeDashboard {
  readonly config: ConnectConfig;
  readonly plane: Pick<ControlPlane, 'client' | 'manager'>;
  /** The namespace of the Secret with the session key. */
  readonly namespace: string;
  readonly address: Address;
  readonly hosts?: readonly string[];
  readonly writes?: boolean;
  readonly certDir?: string;
  readonly sessionMs: number;
  readonly settings: Partial<Settings>;
  readonly logger: Logger;
}

export async function serveDashboard(options: ServeDashboard): Promise<Dashboard> {
  const { config, plane, address, hosts = [], writes = false, certDir, sessionMs, settings, logger } = options;
  const { client, manager } = plane;
  const certificates = certDir === undefined ? undefined : new CertificateFiles({ directory: certDir, logger });
  const key = await sessionKey(client, options.namespace);
  await certificates?.start();
  const dashboard = await createDashboard({
    tables: manager.tables,
    client,
    access: { client, key, sessionMs, connectAs: (token) => connectAs(config, token) },
    ...address,
    names: hosts,
    ...(certificates && { certificates }),
    version: version(),
    writes,
    settings,
    readRequest,
    logger,
  });
  return {
    url: dashboard.url,
    async close() {
      await dashboard.close();
      await certificates?.stop();
    },
  };
}

/** Connects to the same server with the user's token and none of our credentials. */
function connectAs(config: ConnectConfig, token: string): Client {
  const { server, caPem, insecureSkipTlsVerify, tlsServerName, proxyUrl } = config;
  return connect({
    server,
    token,
    ...(caPem !== undefined && { caPem }),
    ...(insecureSkipTlsVerify !== undefined && { insecureSkipTlsVerify }),
    ...(tlsServerName !== undefined && { tlsServerName }),
    ...(proxyUrl !== undefined && { proxyUrl }),
  });
}
