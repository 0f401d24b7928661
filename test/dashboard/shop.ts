// A shop behind a gateway on an embedded cluster, with all controllers and the dashboard: for the dashboard's tests.
import { randomBytes } from 'node:crypto';
import { readRequest } from '../../src/cli/explain/request.ts';
import { startControlPlane } from '../../src/cli/run/control-plane.ts';
import { clusterDefinitions } from '../../src/cli/run/definitions.ts';
import { partsOf } from '../../src/cli/run/parts.ts';
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import { createLogger } from '../../src/controller/index.ts';
import { createDashboard } from '../../src/dashboard/index.ts';
import type { DashboardOptions } from '../../src/dashboard/index.ts';
import { startEmbedded } from '../../src/embedded/index.ts';
import { apiVersionOf, connect } from '../../src/kube/index.ts';
import type { AnyObject, Client, Kind, Tables } from '../../src/kube/index.ts';
import { builtinRenderer } from '../../src/mesh/index.ts';
import { DestinationRule, Gateway, VirtualService } from '../../src/traffic/istio/objects.ts';
import { Deployment, Namespace, Service } from '../support/core-kinds.ts';
import { freePort } from '../support/free-ports.ts';
import { until } from '../support/until.ts';

/** Who calls whom. */
const CALLS: Readonly<Record<string, readonly string[]>> = {
  web: ['catalog', 'cart'],
  catalog: ['reviews'],
  cart: [],
  reviews: ['ratings'],
  ratings: [],
};

export interface DashboardShop {
  readonly url: string;
  readonly client: Client;
  readonly tables: Tables;
  create(kind: Kind, object: Pick<AnyObject, 'metadata'> & { readonly spec?: unknown }): Promise<void>;
  /** Creates an environment with another version of a workload, reached with `x-env: NAME`. */
  environment(name: string, workload?: string, image?: string): Promise<void>;
  /** Waits until an environment is in a state. */
  untilState(name: string, state: string): Promise<void>;
  /** Starts the dashboard again at the same port. */
  restartDashboard(): Promise<void>;
  /** Stops the dashboard, not the controllers. */
  stopDashboard(): Promise<void>;
  stop(): Promise<void>;
}

interface ShopOptions extends Partial<Pick<DashboardOptions, 'writes' | 'settings'>> {
  /** Leaves out the workloads. */
  readonly isEmpty?: boolean;
  /** Users have to sign in, as in a cluster. */
  readonly isForMany?: boolean;
}

export async function openDashboardShop({
  isEmpty = false,
  isForMany = false,
  settings = {},
  ...options
}: ShopOptions = {}): Promise<DashboardShop> {
  const cluster = await startEmbedded({ definitions: clusterDefinitions });
  const config = { server: cluster.url, caPem: cluster.caPem, token: cluster.admin.token };
  const client = connect(config, { local: cluster.answer });
  const plane = await startControlPlane({
    config,
    local: cluster.answer,
    parts: partsOf(),
    settings: { drainMs: 0, settleMs: 0, ...settings },
    mesh: { renderer: builtinRenderer },
    namespace: 'kube-system',
    webhook: { port: 0, reach: 'loopback' },
    logger: createLogger({ level: 'silent' }),
  });
  const create: DashboardShop['create'] = async (kind, object) => {
    await client.create(kind, { apiVersion: apiVersionOf(kind), kind: kind.kind, ...object });
  };
  const access = {
    client,
    key: randomBytes(32),
    sessionMs: 3_600_000,
    connectAs: (token: string) => connect({ server: cluster.url, caPem: cluster.caPem, token }),
  };
  const serve = (port: number) =>
    createDashboard({
      tables: plane.manager.tables,
      client,
      port,
      version: 'test',
      writes: true,
      readRequest,
      logger: createLogger({ level: 'warn' }),
      settings,
      ...(isForMany && { access }),
      ...options,
    });
  const port = await freePort();
  let dashboard = await serve(port);
  if (!isEmpty) await createWorkloads(create);
  return {
    url: dashboard.url,
    client,
    tables: plane.manager.tables,
    create,
    async environment(name, workload = 'reviews', image = `${workload}:2`) {
      await create(DynamicEnv as unknown as Kind, {
        metadata: { name, namespace: 'shop' },
        spec: {
          istioMatches: [{ headers: { 'x-env': { exact: name } } }],
          subsets: [{ name: workload, namespace: 'shop', containers: [{ containerName: workload, image }] }],
        },
      });
    },
    async untilState(name, state) {
      await until(
        async () => (await client.get(DynamicEnv, { name, namespace: 'shop' })).status?.state === state,
        30_000,
      );
    },
    async restartDashboard() {
      dashboard = await serve(port);
    },
    stopDashboard: () => dashboard.close(),
    async stop() {
      await dashboard.close().catch(() => {});
      await plane.stop();
      client.close();
      await cluster.stop();
    },
  };
}

async function createWorkloads(create: DashboardShop['create']): Promise<void> {
  await create(Namespace, { metadata: { name: 'shop' } });
  await create(Gateway as Kind, {
    metadata: { name: 'public', namespace: 'shop' },
    spec: {
      selector: { istio: 'ingress' },
      servers: [{ port: { number: 80, name: 'http', protocol: 'HTTP' }, hosts: ['*'] }],
    },
  });
  for (const [name, calls] of Object.entries(CALLS)) {
    const labels = { app: name, version: 'shared' };
    const metadata = { name, namespace: 'shop' };
    const env = calls.map((called) => ({ name: `${called.toUpperCase()}_URL`, value: `http://${called}:9080` }));
    await create(Deployment, {
      metadata,
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name, image: `${name}:1`, env }] } },
      },
    });
    await create(Service, { metadata, spec: { selector: { app: name }, ports: [{ name: 'http', port: 9080 }] } });
    const subsets = [{ name: 'shared', labels: { version: 'shared' } }];
    await create(DestinationRule as Kind, { metadata, spec: { host: name, subsets } });
    const http = [{ route: [{ destination: { host: name, subset: 'shared' } }] }];
    const atEdge = name === 'web' ? { gateways: ['public', 'mesh'], hosts: ['shop.example', name] } : { hosts: [name] };
    await create(VirtualService as Kind, { metadata, spec: { ...atEdge, http } });
  }
}
