// Starts the embedded API server: identity, store, HTTPS, the objects of every cluster, and simulated controllers.
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { withPolicies } from './admission/policies.ts';
import { webhookAdmission } from './admission/webhooks.ts';
import { Access } from './auth/access.ts';
import { refuseEscalation } from './auth/escalation.ts';
import { refuseSigning } from './auth/signers.ts';
import { TokenKey } from './auth/tokens.ts';
import { bootstrap } from './bootstrap.ts';
import type { BootstrapOptions } from './bootstrap.ts';
import { adminCertificate, clusterIdentity, kubeconfigText, servingCertificate } from './identity.ts';
import { builtinResources } from './kinds/index.ts';
import { LocalRequests } from './local-requests.ts';
import type { LocalServer } from './local-requests.ts';
import { Registry } from './registry.ts';
import type { Admission, Hooks } from './rest/context.ts';
import { followDefinitions } from './rest/background/definitions.ts';
import { expireEvents } from './rest/background/event-expiry.ts';
import { refuseGarbage, requestHandler } from './rest/handler.ts';
import { OpenApi } from './rest/discovery/openapi.ts';
import type { ServerContext } from './rest/server-context.ts';
import { Watches } from './rest/watch/stream.ts';
import { trustConditions } from './schema/cel/conditions.ts';
import { podLog, startSimulation } from './simulate/index.ts';
import type { Simulation, SimulationOptions } from './simulate/index.ts';
import { Store } from './store/store.ts';
import type { HistoryLimits } from './store/types.ts';

export interface EmbeddedOptions extends BootstrapOptions {
  /** The directory that stores the cluster; without one, it lives in memory only. */
  readonly dataDir?: string;
  /** Discards the cluster in the data directory and starts with an empty one. */
  readonly fresh?: boolean;
  /** 0, the default, picks a free port. */
  readonly port?: number;
  /** The address to listen on; 127.0.0.1 by default. */
  readonly host?: string;
  /** How much history is kept for watches and paged lists. */
  readonly history?: Partial<HistoryLimits>;
  /** Controllers, scheduler and kubelet; false turns them off. */
  readonly simulation?: SimulationOptions | false;
  readonly hooks?: Hooks;
  /** Match conditions of webhooks that are known to be valid: a start with these need not compile them. */
  readonly conditions?: readonly string[];
  /** Called with internal errors of the server. */
  readonly onError?: (error: unknown) => void;
}

export interface Embedded {
  readonly url: string;
  readonly caPem: string;
  /** The administrator's credentials: a client certificate with its key, or a token. */
  readonly admin: { readonly certPem: string; readonly keyPem: string; readonly token: string };
  readonly store: Store;
  /** The context that the verbs of rest/ need, for code in the same process. */
  readonly cluster: ServerContext;
  /** Undefined when the simulation is off. */
  readonly simulation: Simulation | undefined;
  /** A kubeconfig for the administrator, as YAML. */
  kubeconfig(): string;
  /** Answers clients in the same process without a connection; they must send a token like all others. */
  readonly answer: LocalServer;
  stop(): Promise<void>;
}

/** Starts a cluster in this process. Resolves when it is ready. */
export async function startEmbedded(options: EmbeddedOptions = {}): Promise<Embedded> {
  const host = options.host ?? '127.0.0.1';
  const onError = options.onError ?? ((error: unknown) => console.error(error));
  trustConditions(options.conditions ?? []);
  const store = await openStore(options, onError);
  const { authority, tokenKeyPem, adminToken } = clusterIdentity(options.dataDir);
  let ready = false;
  const access = new Access(store, adminToken, new TokenKey(tokenKeyPem));
  const cluster = clusterOf(store, access, options.hooks, onError, () => ready);
  const serving = servingCertificate(authority, host);
  const handler = requestHandler(cluster);
  const localRequests = new LocalRequests(handler);
  const server = createServer(
    {
      key: serving.keyPem,
      cert: serving.certPem,
      ca: authority.certPem,
      requestCert: true,
      rejectUnauthorized: false,
      keepAliveTimeout: 120_000,
    },
    handler,
  );
  server.on('clientError', refuseGarbage);
  const closeServer = closerOf(server);
  const stopFollowing = followDefinitions(cluster, onError);
  const stopEventExpiry = expireEvents(store, onError);
  let simulation: Simulation | undefined;
  const stop = async (): Promise<void> => {
    await simulation?.stop();
    stopFollowing();
    stopEventExpiry();
    cluster.watches.close();
    localRequests.close();
    await closeServer();
    store.close();
  };
  try {
    await listen(server, options.port ?? 0, host);
    const { port } = server.address() as AddressInfo;
    await bootstrap(cluster, port, options);
    if (options.simulation !== false) {
      const credentials = { caPem: authority.certPem, tokens: cluster.access.tokens };
      simulation = await startSimulation(cluster, { onError, credentials, ...options.simulation });
    }
    ready = true;
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
      answer: localRequests.answer,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function openStore(options: EmbeddedOptions, onError: (error: unknown) => void): Promise<Store> {
  const { dataDir, fresh = false, history = {} } = options;
  if (dataDir === undefined) return new Store({ history, onError });
  // Loaded only here: a cluster in memory needs no database.
  const { openSqlite } = await import('./store/sqlite.ts');
  return new Store({ history, onError, backend: openSqlite(dataDir, { fresh }) });
}

function clusterOf(
  store: Store,
  access: Access,
  hooks: Hooks = {},
  onError: (error: unknown) => void,
  isReady: () => boolean,
): ServerContext {
  const registry = new Registry(builtinResources());
  const webhooks = webhookAdmission(store, registry, hooks);
  const cluster: ServerContext = {
    store,
    registry,
    access,
    openApi: new OpenApi(registry),
    admission: withAuthorizationChecks(
      access,
      withPolicies(webhooks, () => cluster),
    ),
    hooks: { podLog, ...hooks },
    watches: new Watches(),
    isReady,
    onError,
  };
  return cluster;
}

/** Admission that also refuses privilege escalation, and approving or signing for a signer without permission. */
function withAuthorizationChecks(access: Access, admission: Admission): Admission {
  return {
    mutate: (request) => admission.mutate(request),
    validate: async (request) => {
      const { options, target, object, oldObject } = request;
      if (object !== undefined) {
        refuseEscalation(access.rbac, options.user, target, object, oldObject);
        refuseSigning(access.rbac, options.user, target, object, oldObject);
      }
      await admission.validate(request);
    },
    create: (request, write) => admission.create(request, write),
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return reject(error);
      const advice = 'choose another one, or 0 for a free one';
      reject(Object.assign(new Error(`the port ${port} of ${host} is in use: ${advice}`), { code: error.code }));
    });
    server.listen(port, host, resolve);
  });
}

/** Returns a function that closes the server and all its connections. */
function closerOf(server: Server): () => Promise<void> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)));
  });
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
}
