// The dashboard's server: the page and its data. It reads only the tables that it is given.
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Certificates, Logger } from '../../controller/index.ts';
import { defaultSettings } from '../../environments/index.ts';
import type { Settings } from '../../environments/index.ts';
import { ApiError, serverMessage } from '../../kube/index.ts';
import type { Client, Tables } from '../../kube/index.ts';
import { http } from '../../kube/http.ts';
import type { EntryPoint, Problem } from '../data.ts';
import { Access } from '../access/visitors.ts';
import type { AccessOptions, Visitor } from '../access/visitors.ts';
import { Refused } from '../refused.ts';
import type { ReadRequest } from './api.ts';
import type { Terminal } from '../terminal.ts';
import { answerSession } from './session.ts';
import { answerJson } from './answer.ts';
import { serveFile } from './files.ts';
import { checkHost, checkSite, HEADERS } from './guard.ts';

export interface DashboardOptions {
  /** The observed objects; the caller keeps them up to date. */
  readonly tables: Tables;
  /** For dry runs and writes, with the permissions of the process. */
  readonly client: Client;
  /** Requires users to sign in. Without it, everybody who reaches the server has the permissions of `client`. */
  readonly access?: AccessOptions;
  /** The address to listen on; loopback by default. */
  readonly host?: string;
  readonly port: number;
  /** For TLS; already started. Without it, the server speaks plain HTTP. */
  readonly certificates?: Certificates;
  /** Further host names of the server; a name without a port matches all ports. */
  readonly names?: readonly string[];
  readonly version: string;
  /** Whether the page may write. */
  readonly writes?: boolean;
  /** The local gateway, if there is one. */
  readonly gateway?: EntryPoint;
  /** How commands reach the cluster from a terminal, once that is known. */
  readonly terminal?: () => Terminal | undefined;
  /** The settings of the environment controllers. */
  readonly settings?: Partial<Settings>;
  readonly readRequest: ReadRequest;
  readonly logger?: Logger;
}

export interface Dashboard {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the dashboard. Resolves when it listens. */
export async function createDashboard(options: DashboardOptions): Promise<Dashboard> {
  const { host = '127.0.0.1', port, certificates } = options;
  const scheme = certificates === undefined ? 'http' : 'https';
  let own = '';
  const access = options.access && new Access(options.access);
  const settings = { ...defaultSettings, ...options.settings };
  const server = await createServer(certificates, (request, response) => {
    handle(request, response, { ...options, access, settings, own }).catch((error: unknown) =>
      fail(response, error, options),
    );
  });
  // These limit requests only: a response may be a stream that stays open.
  server.requestTimeout = 30_000;
  server.headersTimeout = 10_000;
  // Longer than ingresses keep idle connections: one that is reused just when it is closed loses its request.
  server.keepAliveTimeout = 120_000;
  server.listen(port, host);
  await once(server, 'listening');
  const isAnywhere = host === '' || host === '0.0.0.0' || host === '::';
  own = `${isAnywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`;
  return {
    url: `${scheme}://${own}/`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** An HTTPS server if there are certificates, otherwise an HTTP server. */
async function createServer(certificates: Certificates | undefined, listener: Listener): Promise<Server> {
  if (certificates === undefined) return http.createServer(listener);
  const context = (): { cert: string; key: string } => {
    const { certPem, keyPem } = certificates.serving();
    return { cert: certPem, key: keyPem };
  };
  const https = await import('node:https');
  const server = https.createServer({ ...context(), minVersion: 'TLSv1.2' }, listener);
  certificates.onChange(() => server.setSecureContext(context()));
  return server;
}

/** The options with defaults applied. */
export interface Served extends Omit<DashboardOptions, 'access'> {
  readonly access: Access | undefined;
  readonly settings: Settings;
  /** The name and port that we listen on. */
  readonly own: string;
}

async function handle(request: IncomingMessage, response: ServerResponse, served: Served): Promise<void> {
  const { access, names = [], own } = served;
  checkHost(request, names, own);
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname.startsWith('/api/')) {
    checkSite(request);
    if (access !== undefined && pathname === '/api/session') {
      await answerSession(request, response, access, served);
      return;
    }
    // The page and its data are loaded when somebody opens it, so that "offshoot up" starts faster.
    const { answerApi } = await import('./api.ts');
    const visitor = access === undefined ? ownerOf(served) : await access.visitor(request);
    await answerApi({ request, response, headers: HEADERS, visitor, served }, pathname);
    return;
  }
  if (request.method !== 'GET' && request.method !== 'HEAD')
    throw new Refused(405, `${request.method} is not for pages`);
  const { loadAssets } = await import('../assets/assets.ts');
  serveFile(request, response, await loadAssets(), pathname, HEADERS);
}

/** Without sign-in, everybody who reaches us has the permissions of our client. */
function ownerOf({ client }: Served): Visitor {
  return { permissions: undefined, check: async () => {}, inTheirName: (act) => act(client) };
}

/** Answers with an error that the page can show. */
function fail(response: ServerResponse, error: unknown, { logger }: DashboardOptions): void {
  const { status, problem } = problemOf(error);
  if (status >= 500) logger?.warn({ err: error }, 'the dashboard could not answer');
  // A stream that has ended leaves its connection to further requests.
  if (response.writableEnded) return;
  if (response.headersSent) {
    response.destroy();
    return;
  }
  answerJson(response, problem, { status, ...(status === 401 && { 'www-authenticate': 'Bearer realm="offshoot"' }) });
}

function problemOf(error: unknown): { readonly status: number; readonly problem: Problem } {
  if (error instanceof Refused) {
    const { status, message, hint } = error;
    return { status, problem: { error: message, ...(hint !== undefined && { hint }) } };
  }
  if (error instanceof ApiError) {
    const refusal = serverMessage(error);
    return {
      status: error.code === 404 || error.code === 401 ? error.code : 422,
      problem: { error: 'The API server rejected it.', refusal },
    };
  }
  // The command line's message about an invalid field.
  if (error instanceof Error && error.name === 'InvalidField') {
    const { field } = error as Error & { readonly field?: string };
    return { status: 400, problem: { error: `${field ? `${field}: ` : ''}${error.message}` } };
  }
  return { status: 500, problem: { error: error instanceof Error ? error.message : String(error) } };
}
