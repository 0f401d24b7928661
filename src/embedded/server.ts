// Starts the embedded API server: identity, store, HTTPS, and the objects that every cluster has.
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { Access } from './auth/access.ts';
import { TokenKey } from './auth/tokens.ts';
import { bootstrap } from './bootstrap.ts';
import { adminCertificate, clusterIdentity, kubeconfigText, servingCertificate } from './identity.ts';
import { builtinResources } from './kinds/index.ts';
import { Registry } from './registry.ts';
import type { Hooks } from './rest/context.ts';
import { followDefinitions } from './rest/definitions.ts';
import { requestHandler } from './rest/handler.ts';
import { OpenApi } from './rest/openapi.ts';
import type { ServerContext } from './rest/server-context.ts';
import { Watches } from './rest/watch-stream.ts';
import { podLog, startSimulation } from './simulate/index.ts';
import type { Simulation, SimulationOptions } from './simulate/index.ts';
import { Store } from './store/store.ts';
import type { HistoryLimits } from './store/types.ts';

export interface EmbeddedOptions {
  /** Where the cluster is kept; absent keeps it in memory only. */
  readonly dataDir?: string;
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** The address to listen on; 127.0.0.1 unless told otherwise. */
  readonly host?: string;
  /** How much of the past watches and paged lists can go back to. */
  readonly history?: Partial<HistoryLimits>;
  readonly hooks?: Hooks;
  /** How workloads, namespaces and owners are given a life; false leaves every object as it was written. */
  readonly simulate?: SimulationOptions | false;
  /** Told of errors that are the server's own fault. */
  readonly onError?: (error: unknown) => void;
}

export interface Embedded {
  readonly url: string;
  readonly caPem: string;
  /** What makes a client the administrator: a certificate with its key, or the token. */
  readonly admin: { readonly certPem: string; readonly keyPem: string; readonly token: string };
  readonly store: Store;
  readonly cluster: ServerContext;
  /** The simulated controllers; undefined when they are off. */
  readonly simulation: Simulation | undefined;
  /** A kubeconfig for the administrator, as YAML text. */
  kubeconfig(): string;
  stop(): Promise<void>;
}

/** Starts a cluster in this process. Resolves when it serves. */
export async function startEmbedded(options: EmbeddedOptions = {}): Promise<Embedded> {
  const host = options.host ?? '127.0.0.1';
  const { dataDir, history = {}, hooks = {} } = options;
  const backend = dataDir === undefined ? undefined : (await import('./store/sqlite.ts')).openSqlite(dataDir);
  const store = new Store({ history, ...(backend !== undefined && { backend }) });
  const { authority, tokenKeyPem, adminToken } = clusterIdentity(dataDir);
  const registry = new Registry(builtinResources());
  const onError = options.onError ?? ((error: unknown) => console.error(error));
  const cluster: ServerContext = {
    store,
    registry,
    openApi: new OpenApi(registry),
    admission: { mutate: (request) => Promise.resolve(request.object), validate: () => Promise.resolve() },
    hooks: { podLog, ...hooks },
    access: new Access(store, adminToken, new TokenKey(tokenKeyPem)),
    watches: new Watches(),
    onError,
  };
  const unfollow = followDefinitions(cluster, onError);
  const serving = servingCertificate(authority, host);
  const server = createServer(
    {
      key: serving.keyPem,
      cert: serving.certPem,
      ca: authority.certPem,
      requestCert: true,
      rejectUnauthorized: false,
      keepAliveTimeout: 120_000,
    },
    requestHandler(cluster),
  );
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  await bootstrap(cluster, port);
  const simulation =
    options.simulate === false ? undefined : await startSimulation(cluster, { onError, ...options.simulate });
  const admin = adminCertificate(authority);
  const url = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return {
    url,
    caPem: authority.certPem,
    admin: { ...admin, token: adminToken },
    store,
    cluster,
    simulation,
    kubeconfig: () => kubeconfigText(url, authority.certPem, admin),
    stop: async () => {
      unfollow();
      await simulation?.stop();
      cluster.watches.close();
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      for (const socket of sockets) socket.destroy();
      await closed;
      store.close();
    },
  };
}
