// The local gateway: an HTTP server on loopback that stands for the Envoy behind the shop's Gateway.
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { http } from '../kube/http.ts';
import type { Request } from '../traffic/index.ts';
import type { Reply } from './proxy.ts';
import { answerJson } from './answer-json.ts';
import { answerPage } from './page.ts';
import { GATEWAY } from './shop.ts';
import type { Send } from './workload.ts';

const HOST = '127.0.0.1';
const LIMITS = { bodyBytes: 1_048_576, headerBytes: 16_384, connections: 256, requestMs: 30_000 };
/** Hop-by-hop headers: they concern one connection, and no route sees them. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'proxy-connection', 'te', 'transfer-encoding', 'upgrade']);

export interface GatewayServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves on a port of 127.0.0.1; 0 picks a free port. */
export async function serveGateway(port: number, send: Send): Promise<GatewayServer> {
  const server = http.createServer(
    { maxHeaderSize: LIMITS.headerBytes, requestTimeout: LIMITS.requestMs },
    (incoming, response) => void handle(incoming, response, send),
  );
  server.maxConnections = LIMITS.connections;
  await listen(server, port);
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${HOST}:${taken}/`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, HOST);
  await once(server, 'listening');
}

async function handle(incoming: IncomingMessage, response: ServerResponse, send: Send): Promise<void> {
  const disconnected = new AbortController();
  response.on('close', () => disconnected.abort());
  try {
    const request = requestOf(incoming);
    if (request === undefined) return write(incoming, response, { status: 400, headers: {}, text: '' });
    if (!(await discardBody(incoming))) {
      const text = `a body has at most ${LIMITS.bodyBytes} bytes here\n`;
      return write(incoming, response, { status: 413, headers: { connection: 'close' }, text });
    }
    write(incoming, response, await send(request, disconnected.signal));
  } catch (error) {
    if (disconnected.signal.aborted) return;
    write(incoming, response, { status: 500, headers: {}, text: `${(error as Error).message}\n` });
  }
}

/** A request as the Gateway's Envoy sees it; undefined if its target is invalid. */
function requestOf(incoming: IncomingMessage): Request | undefined {
  const { url = '', method = 'GET', headersDistinct } = incoming;
  const absolute = url.startsWith('/') ? undefined : URL.parse(url);
  const host = absolute?.host ?? incoming.headers.host ?? '';
  if (host === '' || absolute === null) return undefined;
  const path = absolute === undefined ? url : absolute.pathname + absolute.search;
  const headers = Object.entries(headersDistinct).flatMap(([name, values = []]): [string, string | string[]][] =>
    HOP_BY_HOP.has(name) || name === 'host' ? [] : [[name, values.length === 1 ? values[0]! : values]],
  );
  const added = { 'x-forwarded-proto': 'http', 'x-request-id': randomUUID() };
  return {
    host,
    port: GATEWAY.port,
    path,
    method,
    headers: { ...added, ...Object.fromEntries(headers) },
    source: { gateway: GATEWAY.gateway },
  };
}

/** Reads and discards the body; false if it is too long. */
async function discardBody(incoming: IncomingMessage): Promise<boolean> {
  let left = LIMITS.bodyBytes;
  for await (const chunk of incoming) {
    left -= (chunk as Buffer).length;
    if (left < 0) return false;
  }
  return true;
}

function write(incoming: IncomingMessage, response: ServerResponse, reply: Reply): void {
  const { status, headers, answer, isPage, text = '', route, reason } = reply;
  if (response.destroyed) return;
  const call = { url: incoming.url ?? '/', status, ...(route && { route }), ...(answer && { answer }) };
  const body = answer === undefined ? text : isPage ? answerPage(call) : answerJson(call);
  if (reason !== undefined) response.setHeader('x-offshoot-reason', asciiOf(reason));
  // Header names and values in Istio's objects need not be valid.
  for (const [name, value] of Object.entries(headers)) setHeader(response, name, value);
  response.writeHead(status).end(incoming.method === 'HEAD' ? undefined : body);
}

function setHeader(response: ServerResponse, name: string, value: string | readonly string[]): void {
  try {
    response.setHeader(name, value);
  } catch {
    response.appendHeader('x-offshoot-reason', `header ${JSON.stringify(name)} cannot be sent`.slice(0, 200));
  }
}

/** Text that is valid as a header value. */
function asciiOf(text: string): string {
  return text
    .replaceAll('→', '->')
    .replaceAll(/[^ -~]/g, '?')
    .slice(0, 1_000);
}
