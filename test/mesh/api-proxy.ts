// The API server as istiod sees it: with the pods on loopback, where servers listen. A real API server rejects loopback
// addresses in EndpointSlices, so this proxy replaces them in responses.
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import type { ConnectConfig } from '../../src/kube/client/config/config.ts';
import { setTimeout as startTimer } from 'node:timers';
import { setTimeout } from 'node:timers/promises';
import { isNoPod } from './pods.ts';
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

/**
 * How long istiod knows a pod before it is in an EndpointSlice: it leaves out endpoints of pods that it does not know.
 * Real pods have an address long before they are ready; simulated ones get both at once.
 */
const HEAD_START_MS = 250;
const LONGEST_WAIT_MS = 5_000;

/** Starts the proxy: plain HTTP, with the permissions of the target's user. */
export async function startApiProxy(options: ApiProxyOptions): Promise<{ readonly url: string; stop(): void }> {
  const { target, host, port } = options;
  const agent = new Agent({ keepAlive: true, ca: target.caPem, cert: target.certPem, key: target.keyPem });
  const pods = new SentPods();
  const server = createServer((incoming, response) => {
    const { host: _host, 'accept-encoding': _encoding, authorization: _user, ...headers } = incoming.headers;
    const outgoing = request(new URL(incoming.url ?? '/', target.server), { method: incoming.method, headers, agent });
    const resource = /\/(pods|endpointslices)\?/.exec(incoming.url ?? '')?.[1];
    const isWatch = /[?&]watch=/.test(incoming.url ?? '');
    const holdBack = async (addresses: readonly string[]): Promise<void> => {
      await Promise.all(addresses.map(options.onAddress));
      if (resource !== 'endpointslices' || !isWatch) return;
      await Promise.all([setTimeout(options.endpointLagMs), ...addresses.map((each) => pods.whenKnown(each))]);
    };
    const onSent = (addresses: readonly string[]): void => {
      if (resource === 'pods') for (const each of addresses) pods.sent(each);
    };
    outgoing.on('response', (answer) => void relay(answer, response, options.prefix, { holdBack, onSent }));
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

/** The pods that istiod has been told of. */
class SentPods {
  readonly #known = new Map<string, PromiseWithResolvers<void>>();

  sent(address: string): void {
    void setTimeout(HEAD_START_MS).then(this.#of(address).resolve);
  }

  /** Resolves when istiod has had time to process the pod with this address. */
  async whenKnown(address: string): Promise<void> {
    if (!isNoPod(address)) await Promise.race([this.#of(address).promise, setTimeout(LONGEST_WAIT_MS)]);
  }

  #of(address: string): PromiseWithResolvers<void> {
    const known = this.#known.get(address) ?? Promise.withResolvers<void>();
    this.#known.set(address, known);
    return known;
  }
}

interface Relaying {
  /** Resolves when a piece with these addresses may be sent. */
  readonly holdBack: (addresses: readonly string[]) => Promise<void>;
  readonly onSent: (addresses: readonly string[]) => void;
}

async function relay(
  answer: IncomingMessage,
  response: ServerResponse,
  prefix: string,
  { holdBack, onSent }: Relaying,
): Promise<void> {
  const rewriter = new Rewriter(prefix);
  let sent: Promise<unknown> = Promise.resolve();
  /** Pieces are sent in order. */
  const send = (piece: ReturnType<Rewriter['end']>): void => {
    sent = sendAfter(sent, piece);
  };
  const sendAfter = async (
    before: Promise<unknown>,
    { bytes, addresses }: ReturnType<Rewriter['end']>,
  ): Promise<void> => {
    await Promise.all([before, holdBack(addresses)]);
    if (bytes.length > 0) response.write(bytes);
    onSent(addresses);
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
