// The API server as istiod sees it: with the pods on loopback, where servers listen. A real API server rejects loopback
// addresses in EndpointSlices, so this proxy replaces them in responses.
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import type { ConnectConfig } from '../../src/kube/client/config/config.ts';
import { setTimeout as startTimer } from 'node:timers';
import { setTimeout } from 'node:timers/promises';
import { Rewriter } from './rewrite.ts';

export interface ApiProxyOptions {
  readonly target: ConnectConfig;
  readonly host: string;
  readonly port: number;
  /** The prefix of pod addresses in what istiod reads. */
  readonly prefix: string;
  /** Called with each pod address; the response to istiod waits until it resolves. */
  readonly onAddress: (address: string) => Promise<void>;
  /** How long changes of EndpointSlices are delayed. */
  readonly endpointLagMs: number;
}

/** How long bytes that may be the start of an address are held back for the rest. */
const REST_MS = 20;

/** Starts the proxy: plain HTTP, with the permissions of the target's user. */
export async function startApiProxy(options: ApiProxyOptions): Promise<{ readonly url: string; stop(): void }> {
  const { target, host, port } = options;
  const agent = new Agent({ keepAlive: true, ca: target.caPem, cert: target.certPem, key: target.keyPem });
  const server = createServer((incoming, response) => {
    const { host: _host, 'accept-encoding': _encoding, authorization: _user, ...headers } = incoming.headers;
    const outgoing = request(new URL(incoming.url ?? '/', target.server), { method: incoming.method, headers, agent });
    const lagMs = /endpointslices\?.*\bwatch=/.test(incoming.url ?? '') ? options.endpointLagMs : 0;
    outgoing.on('response', (answer) => void relay(answer, response, options, lagMs));
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    url: `http://${host}:${port}`,
    stop() {
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
}

async function relay(
  answer: IncomingMessage,
  response: ServerResponse,
  options: ApiProxyOptions,
  lagMs: number,
): Promise<void> {
  const rewriter = new Rewriter(options.prefix);
  let sent: Promise<unknown> = Promise.resolve();
  /** Pieces are sent in order, each once `onAddress` has resolved for all of its addresses. */
  const send = (piece: ReturnType<Rewriter['end']>): void => {
    sent = sendAfter(sent, piece);
  };
  const sendAfter = async (
    before: Promise<unknown>,
    { bytes, addresses }: ReturnType<Rewriter['end']>,
  ): Promise<void> => {
    await Promise.all([before, setTimeout(lagMs), ...addresses.map(options.onAddress)]);
    if (bytes.length > 0) response.write(bytes);
  };
  response.writeHead(answer.statusCode ?? 502, answer.headers);
  response.flushHeaders();
  let flush: NodeJS.Timeout | undefined;
  try {
    for await (const piece of answer as AsyncIterable<Buffer>) {
      clearTimeout(flush);
      send(rewriter.push(piece));
      flush = startTimer(() => send(rewriter.end()), REST_MS);
    }
    send(rewriter.end());
    await sent;
    response.end();
  } catch {
    response.destroy();
  } finally {
    clearTimeout(flush);
  }
}
