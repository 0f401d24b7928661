// Starts the embedded API server: certificates, store, HTTPS, and the objects that every cluster has.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { createAuthority } from '../kube/pki.ts';
import { accessOf } from './auth/access.ts';
import { bootstrap } from './bootstrap.ts';
import { builtinResources } from './kinds/index.ts';
import { Registry } from './registry.ts';
import { requestHandler } from './rest/handler.ts';
import type { ServerContext } from './rest/server-context.ts';
import { Watches } from './rest/watch-stream.ts';
import { Store } from './store/store.ts';

export interface EmbeddedOptions {
  readonly port?: number;
  readonly host?: string;
  /** Told of errors that are the server's own fault. */
  readonly onError?: (error: unknown) => void;
}

export interface Embedded {
  readonly url: string;
  readonly caPem: string;
  /** What a client needs to be the administrator. */
  readonly admin: { readonly certPem: string; readonly keyPem: string; readonly token: string };
  readonly store: Store;
  readonly cluster: ServerContext;
  /** A kubeconfig for the administrator, as YAML text. */
  kubeconfig(): string;
  stop(): Promise<void>;
}

/** Starts a cluster in this process. Resolves when it serves. */
export async function startEmbedded(options: EmbeddedOptions = {}): Promise<Embedded> {
  const host = options.host ?? '127.0.0.1';
  const authority = createAuthority({ commonName: 'offshoot-embedded-ca', days: 3650 });
  const serving = authority.issue({
    commonName: 'kube-apiserver',
    dnsNames: ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'],
    ipAddresses: ['127.0.0.1', '::1', '10.96.0.1'],
    days: 3650,
    usage: 'server',
  });
  const admin = authority.issue({
    commonName: 'kubernetes-admin',
    organizations: ['system:masters'],
    days: 3650,
    usage: 'client',
  });
  const token = randomBytes(32).toString('base64url');
  const store = new Store();
  const cluster: ServerContext = {
    store,
    registry: new Registry(builtinResources()),
    admission: { mutate: (request) => Promise.resolve(request.object), validate: () => Promise.resolve() },
    hooks: {},
    access: accessOf(token),
    watches: new Watches(),
    onError: options.onError ?? ((error) => console.error(error)),
  };
  const server = createServer(
    {
      key: serving.keyPem,
      cert: serving.certPem,
      ca: authority.certPem,
      requestCert: true,
      rejectUnauthorized: false,
      keepAliveTimeout: 120_000,
      requestTimeout: 60_000,
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
  const url = `https://${host}:${port}`;
  return {
    url,
    caPem: authority.certPem,
    admin: { ...admin, token },
    store,
    cluster,
    kubeconfig: () => kubeconfig(url, authority.certPem, admin),
    stop: async () => {
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

function kubeconfig(url: string, caPem: string, admin: { certPem: string; keyPem: string }): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return `apiVersion: v1
kind: Config
clusters:
- name: offshoot
  cluster:
    server: ${url}
    certificate-authority-data: ${base64(caPem)}
users:
- name: admin
  user:
    client-certificate-data: ${base64(admin.certPem)}
    client-key-data: ${base64(admin.keyPem)}
contexts:
- name: offshoot
  context:
    cluster: offshoot
    user: admin
current-context: offshoot
`;
}
