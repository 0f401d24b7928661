// A proxy in front of an API server that injects faults, at random with a seed, or exactly once on demand.
import { Agent as HttpAgent, createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './free-ports.ts';
import { seededRandom } from './random.ts';

/**
 * gone, busy, error, unavailable: the response is 410, 429 with Retry-After, 500, 503.
 * refuse: connections are refused for a while, and open ones break. late: a response is delayed.
 * drop: the connection breaks in the middle of a response or watch event. goneInStream: a watch ends with ERROR 410.
 * silence: a watch stays open without further events. repeat: a watch event is sent twice.
 */
const FAULTS = [
  ...(['gone', 'busy', 'error', 'unavailable'] as const),
  ...(['refuse', 'late', 'drop', 'goneInStream', 'silence', 'repeat'] as const),
];
type Fault = (typeof FAULTS)[number];

export interface ChaosOptions {
  readonly target: {
    readonly url: string;
    readonly caPem?: string;
    readonly certPem?: string;
    readonly keyPem?: string;
    readonly token?: string;
  };
  readonly seed?: number;
  /** Called with every request before anything else. */
  readonly onRequest?: (request: IncomingMessage) => void;
  /** The probability of each fault, per request or per watch event. */
  readonly faults?: Partial<Readonly<Record<Fault, number>>>;
  readonly lateMs?: number;
  readonly refuseMs?: number;
}

export interface Chaos {
  readonly url: string;
  /** How often each fault happened. */
  readonly counts: Readonly<Record<Fault, number>>;
  /** Injects each of these faults once, at the next opportunity. */
  next(...faults: Fault[]): void;
  /** Stops all faults. Silent watches stay silent. */
  calm(): Promise<void>;
  stop(): Promise<void>;
}

const ANSWERS = {
  gone: { code: 410, reason: 'Expired' },
  busy: { code: 429, reason: 'TooManyRequests' },
  error: { code: 500, reason: 'InternalError' },
  unavailable: { code: 503, reason: 'ServiceUnavailable' },
} as const;

const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'host',
  'authorization',
]);

/** Starts the proxy on a free port; plain HTTP, whatever the target speaks. */
export async function startChaos(options: ChaosOptions): Promise<Chaos> {
  const { target, faults = {}, lateMs = 50, refuseMs = 100 } = options;
  const random = seededRandom(options.seed ?? 1);
  const base = new URL(target.url);
  const secure = base.protocol === 'https:';
  const agent = secure
    ? new HttpsAgent({ keepAlive: true, ca: target.caPem, cert: target.certPem, key: target.keyPem })
    : new HttpAgent({ keepAlive: true });
  const counts = Object.fromEntries(FAULTS.map((fault) => [fault, 0])) as Record<Fault, number>;
  const pending: Fault[] = [];
  let calm = false;
  let stopped = false;
  const port = await freePort();

  /** Whether a fault happens at this opportunity. */
  const happens = (fault: Fault): boolean => {
    const at = pending.indexOf(fault);
    const now = at >= 0 || (!calm && random() < (faults[fault] ?? 0));
    if (at >= 0) pending.splice(at, 1);
    if (now) counts[fault] += 1;
    return now;
  };

  const forward = (incoming: IncomingMessage): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const headers = {
        ...kept(incoming.headers),
        ...(target.token ? { authorization: `Bearer ${target.token}` } : {}),
      };
      const url = new URL(incoming.url ?? '/', base);
      const outgoing = (secure ? httpsRequest : httpRequest)(url, { method: incoming.method, headers, agent }, resolve);
      outgoing.on('error', reject);
      incoming.pipe(outgoing);
      incoming.on('close', () => incoming.complete || outgoing.destroy());
    });

  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    options.onRequest?.(incoming);
    const isWatch = /[?&]watch=(true|1)\b/.test(incoming.url ?? '');
    if (happens('refuse')) return refuse();
    for (const fault of ['busy', 'error', 'unavailable', 'gone'] as const) {
      if ((fault !== 'gone' || incoming.method === 'GET') && happens(fault)) return answer(response, ANSWERS[fault]);
    }
    const upstream = await forward(incoming);
    response.on('close', () => upstream.destroy());
    if (isWatch && upstream.statusCode === 200) await relayWatch(upstream, response);
    else await relayAnswer(upstream, response);
  };

  const relayAnswer = async (upstream: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(upstream);
    if (happens('late')) await delay(lateMs);
    response.writeHead(upstream.statusCode ?? 502, { ...kept(upstream.headers), 'content-length': body.length });
    if (body.length > 1 && happens('drop')) cutOff(response, body);
    else response.end(body);
  };

  const relayWatch = async (upstream: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.writeHead(200, kept(upstream.headers));
    response.flushHeaders();
    let rest = Buffer.alloc(0);
    for await (const chunk of upstream as AsyncIterable<Buffer>) {
      rest = Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
        const line = rest.subarray(0, end + 1);
        rest = rest.subarray(end + 1);
        if (happens('drop')) return cutOff(response, line);
        if (happens('silence')) return;
        if (happens('goneInStream')) {
          response.end(`${JSON.stringify({ type: 'ERROR', object: status(ANSWERS.gone) })}\n`);
          return;
        }
        response.write(line);
        if (happens('repeat')) response.write(line);
      }
    }
    response.end(rest);
  };

  const server = createServer((incoming, response) => {
    // The client must survive a broken connection to the target, too.
    serve(incoming, response).catch(() => response.destroy());
  });
  const listen = (): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
  const refuse = async (): Promise<void> => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await delay(refuseMs, undefined, { ref: false });
    await reopen();
  };
  const isOver = (): boolean => stopped || server.listening;
  /** Tries again as long as another process uses the port. */
  const reopen = async (): Promise<void> => {
    while (!isOver()) await listen().catch(() => delay(refuseMs));
  };

  await listen();
  return {
    url: `http://127.0.0.1:${port}`,
    counts,
    next: (...faults) => void pending.push(...faults),
    async calm() {
      calm = true;
      pending.length = 0;
      await reopen();
    },
    async stop() {
      stopped = true;
      calm = true;
      const closed = new Promise<void>((resolve) => (server.listening ? server.close(() => resolve()) : resolve()));
      server.closeAllConnections();
      agent.destroy();
      await closed;
    },
  };
}

function kept(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name)));
}

function status({ code, reason }: { readonly code: number; readonly reason: string }): unknown {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: 'chaos' };
}

function answer(response: ServerResponse, failure: (typeof ANSWERS)[keyof typeof ANSWERS]): void {
  const headers = { 'content-type': 'application/json', ...(failure.code === 429 ? { 'retry-after': '1' } : {}) };
  response.writeHead(failure.code, headers).end(JSON.stringify(status(failure)));
}

/** Sends half of the bytes and breaks the connection. */
function cutOff(response: ServerResponse, bytes: Buffer): void {
  response.write(bytes.subarray(0, bytes.length >> 1), () => response.destroy());
}
