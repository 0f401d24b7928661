// A local HTTP(S) server whose answers a test writes, and which records its requests. Used by the tests of the client.
import http from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

/** One request as it arrived. */
interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: string;
  /** Counts connections from 1. */
  readonly connection: number;
  readonly socket: Socket;
}

type Handler = (response: ServerResponse, seen: Seen) => void;

export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly seen: Seen[];
  /** Answers requests from now on. */
  handle(handler: Handler): void;
  close(): Promise<void>;
}

/** Starts a server on a free port of 127.0.0.1; with `tls` options over HTTPS. */
export async function startServer(tls?: https.ServerOptions): Promise<TestServer> {
  const seen: Seen[] = [];
  const connections = new Map<Socket, number>();
  let handler: Handler = (response) => json(response, {});
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += String(chunk);
    const { method = '', url = '', headers, rawHeaders, socket } = request;
    const entry = { method, url, headers, rawHeaders, body, connection: connections.get(socket) ?? 0, socket };
    seen.push(entry);
    handler(response, entry);
  };
  const listener = (request: IncomingMessage, response: ServerResponse): void => void answer(request, response);
  const server = tls === undefined ? http.createServer(listener) : https.createServer(tls, listener);
  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    connections.set(socket, connections.size + 1);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    seen,
    handle: (next) => {
      handler = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Answers with JSON. */
export function json(
  response: ServerResponse,
  body: unknown,
  code = 200,
  headers: http.OutgoingHttpHeaders = {},
): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Answers with a Status that says what failed. */
export function refuse(response: ServerResponse, code: number, reason: string, headers = {}): void {
  json(
    response,
    { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: `it is ${reason}`, reason, code },
    code,
    headers,
  );
}
