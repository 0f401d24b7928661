// The dashboard's server: the page, and the data that it shows. Reads the tables of whoever runs it, and nothing else.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from '../../controller/index.ts';
import type { Settings } from '../../environments/index.ts';
import { ApiError, wordsOf } from '../../kube/index.ts';
import type { Client, Tables } from '../../kube/index.ts';
import { http } from '../../kube/http.ts';
import type { EntryPoint, Problem } from '../data.ts';
import { loadAssets } from '../assets/assets.ts';
import { everything } from '../model/reader.ts';
import { Refused } from '../refused.ts';
import { answerApi } from './api.ts';
import type { ReadRequest, Visitor } from './api.ts';
import { serveFile } from './files.ts';
import { checkHost, checkSite, HEADERS } from './guard.ts';

export interface DashboardOptions {
  /** What there is; kept current by whoever runs them. */
  readonly tables: Tables;
  /** For dry runs and writes. */
  readonly client: Client;
  /** Where to listen: on loopback unless told. */
  readonly host?: string;
  readonly port: number;
  /** Further names, with their port, that this is reached by. */
  readonly names?: readonly string[];
  readonly version: string;
  /** Whether the page may write. */
  readonly writes?: boolean;
  /** Where the requests of people enter, if somebody serves a gateway. */
  readonly gateway?: EntryPoint;
  /** What the controllers of environments run with. */
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
  const { host = '127.0.0.1', port, names = [] } = options;
  const hosts = new Set<string>();
  const server = http.createServer((request, response) => {
    handle(request, response, hosts, options).catch((error: unknown) => fail(response, error, options));
  });
  // A stream lasts as long as somebody looks.
  server.requestTimeout = 0;
  server.headersTimeout = 10_000;
  server.listen(port, host);
  await once(server, 'listening');
  const bound = (server.address() as AddressInfo).port;
  for (const name of ['127.0.0.1', 'localhost', '[::1]']) hosts.add(`${name}:${bound}`);
  for (const name of names) hosts.add(name.toLowerCase());
  return {
    url: `http://${host === '' || host === '0.0.0.0' ? '127.0.0.1' : host}:${bound}/`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  hosts: ReadonlySet<string>,
  options: DashboardOptions,
): Promise<void> {
  checkHost(request, hosts);
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname.startsWith('/api/')) {
    checkSite(request);
    const exchange = { request, response, headers: HEADERS, visitor: visitorOf(options), options };
    await answerApi(exchange, pathname);
    return;
  }
  if (request.method !== 'GET' && request.method !== 'HEAD')
    throw new Refused(405, `${request.method} is not for pages`);
  serveFile(request, response, await loadAssets(), pathname, HEADERS);
}

/** On this machine, whoever reaches us is whom we run for. */
function visitorOf({ version, writes = false, gateway }: DashboardOptions): Visitor {
  return { session: { version, writes, ...(gateway !== undefined && { gateway }) }, mayRead: everything };
}

/** Says what went wrong, in a way that the page can show. */
function fail(response: ServerResponse, error: unknown, { logger }: DashboardOptions): void {
  const { status, problem } = problemOf(error);
  if (status >= 500) logger?.warn({ err: error }, 'the dashboard could not answer');
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response
    .writeHead(status, { ...HEADERS, 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
    .end(JSON.stringify(problem));
}

function problemOf(error: unknown): { readonly status: number; readonly problem: Problem } {
  if (error instanceof Refused) {
    const { status, message, hint } = error;
    return { status, problem: { error: message, ...(hint !== undefined && { hint }) } };
  }
  if (error instanceof ApiError) {
    const refusal = wordsOf(error);
    return { status: error.code === 404 ? 404 : 422, problem: { error: 'The API server refused it.', refusal } };
  }
  // What the command line says of a field, it says here too.
  if (error instanceof Error && error.name === 'InvalidField') {
    const { field } = error as Error & { readonly field?: string };
    return { status: 400, problem: { error: `${field ? `${field}: ` : ''}${error.message}` } };
  }
  return { status: 500, problem: { error: error instanceof Error ? error.message : String(error) } };
}
