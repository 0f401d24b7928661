// An HTTPS server for admission webhooks: each has a path, and answers an AdmissionReview with another.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { readReview, writeReview } from './admission.ts';
import type { AdmissionHandler, AdmissionRequest, AdmissionResponse } from './admission.ts';
import type { Certificates } from './certificates.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics/metrics.ts';

export interface WebhookServerOptions {
  /** The address to listen on: 127.0.0.1 by default. */
  readonly host?: string;
  readonly port: number;
  /** By path. */
  readonly handlers: Readonly<Record<string, AdmissionHandler>>;
  /** Must be started. A new certificate is used for the next connection. */
  readonly certificates: Certificates;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** How long a handler may take if the caller sends no timeout. */
  readonly timeoutMs?: number;
}

export interface WebhookServer {
  readonly url: string;
  /** Keeps answering, and makes callers open a new connection for their next request. */
  drain(): void;
  /** Accepts no new request, answers those in flight, and aborts them after a while. */
  close(withinMs?: number): Promise<void>;
}

/** An object of at most 3 MB, twice, and some reserve: the most that API servers send. */
const BODY_LIMIT = 7 * 1024 * 1024;
const MAX_TIMEOUT_MS = 30_000;

/** A request that can't be answered with a review. */
class BadRequest extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Serves webhooks. Resolves when they can be called. */
export async function serveWebhooks(options: WebhookServerOptions): Promise<WebhookServer> {
  const { certificates, logger } = options;
  const context = (): { cert: string; key: string } => {
    const { certPem, keyPem } = certificates.serving();
    return { cert: certPem, key: keyPem };
  };
  let draining = false;
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { code, type, body } = await answer(options, request);
    const length = Buffer.byteLength(body);
    const headers = { 'content-type': type, 'content-length': length, ...(draining && { connection: 'close' }) };
    response.writeHead(code, headers).end(body);
  };
  const server = createServer(
    {
      ...context(),
      minVersion: 'TLSv1.2',
      requestTimeout: MAX_TIMEOUT_MS,
      headersTimeout: 10_000,
      keepAliveTimeout: 120_000,
    },
    (request, response) => {
      // After close, a keep-alive connection must end with its last answer.
      response.once('close', () => setImmediate(() => server.listening || server.closeIdleConnections()));
      respond(request, response).catch((error: unknown) => {
        logger.debug({ err: error }, 'a caller of the webhook disconnected before the answer');
        response.destroy();
      });
    },
  );
  certificates.onChange(() => server.setSecureContext(context()));
  server.listen(options.port, options.host ?? '127.0.0.1');
  await once(server, 'listening');
  const { address, port } = server.address() as AddressInfo;
  return {
    url: `https://${address.includes(':') ? `[${address}]` : address}:${port}`,
    drain() {
      draining = true;
    },
    async close(withinMs = 5_000) {
      const closed = once(server, 'close');
      server.close();
      server.closeIdleConnections();
      const overdue = setTimeout(() => server.closeAllConnections(), withinMs);
      await closed;
      clearTimeout(overdue);
    },
  };
}

interface Answer {
  readonly code: number;
  readonly type: 'application/json' | 'text/plain';
  readonly body: string;
}

async function answer(options: WebhookServerOptions, request: IncomingMessage): Promise<Answer> {
  const url = new URL(request.url ?? '/', 'https://localhost');
  const handler = Object.hasOwn(options.handlers, url.pathname) ? options.handlers[url.pathname] : undefined;
  if (handler === undefined) {
    const known = Object.keys(options.handlers).join(', ');
    return { code: 404, type: 'text/plain', body: `no webhook at ${url.pathname}; there are: ${known}\n` };
  }
  const finished = options.metrics.webhook(url.pathname);
  let code = 500;
  try {
    const review = await readRequest(request);
    const timeoutMs = timeoutOf(url.searchParams.get('timeout')) ?? options.timeoutMs ?? 10_000;
    const body = writeReview(review.uid, await decide(options, handler, review, timeoutMs));
    code = 200;
    return { code, type: 'application/json', body };
  } catch (error) {
    if (!(error instanceof BadRequest)) throw error;
    code = error.code;
    return { code, type: 'text/plain', body: `${error.message}\n` };
  } finally {
    finished(code);
  }
}

async function readRequest(request: IncomingMessage): Promise<AdmissionRequest> {
  if (request.method !== 'POST') throw new BadRequest(405, `a webhook is called by POST, found ${request.method}`);
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/json\b/.test(type)) {
    throw new BadRequest(400, `content-type must be application/json, found ${JSON.stringify(type)}`);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    // A body that is too large is read to its end and dropped, so that the caller gets the error.
    if (size <= BODY_LIMIT) chunks.push(chunk);
  }
  if (size > BODY_LIMIT) throw new BadRequest(413, `the body has ${size} bytes, more than ${BODY_LIMIT}`);
  try {
    return readReview(Buffer.concat(chunks));
  } catch (error) {
    throw new BadRequest(400, (error as Error).message);
  }
}

/** The handler's decision. If the handler fails, the request is denied with a reason: nothing is admitted unchecked. */
async function decide(
  { logger }: WebhookServerOptions,
  handler: AdmissionHandler,
  request: AdmissionRequest,
  timeoutMs: number,
): Promise<AdmissionResponse> {
  const { promise: overdue, reject } = Promise.withResolvers<never>();
  const timeout = new AbortController();
  const timer = setTimeout(() => {
    const error = new Error(`no decision within ${timeoutMs} ms`);
    timeout.abort(error);
    reject(error);
  }, timeoutMs);
  try {
    return await Promise.race([handler(request, timeout.signal), overdue]);
  } catch (error) {
    const { operation, kind, namespace, name } = request as Partial<AdmissionRequest>;
    logger.error({ err: error, operation, kind: kind?.kind, namespace, name }, 'an admission request failed');
    const message = error instanceof Error ? error.message : String(error);
    const code = timeout.signal.aborted ? 504 : 500;
    const reason = timeout.signal.aborted ? 'Timeout' : 'InternalError';
    return { allowed: false, status: { status: 'Failure', code, reason, message } };
  } finally {
    clearTimeout(timer);
  }
}

/** The timeout of the caller, as in `timeout=10s`, less a little for the way back. */
function timeoutOf(text: string | null): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(text ?? '');
  if (match === null) return undefined;
  const ms = Number(match[1]) * { ms: 1, s: 1000, m: 60_000 }[match[2] as 'ms' | 's' | 'm'];
  return ms > 0 ? Math.min(ms * 0.95, MAX_TIMEOUT_MS) : undefined;
}
