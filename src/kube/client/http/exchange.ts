// A request from start to end: concurrency limit, credentials, deadline, and the few retries that are always safe.
// Called by connect.ts.
import type { IncomingMessage } from 'node:http';
import { delay } from '../../clock.ts';
import type { Clock, Timer } from '../../clock.ts';
import type { Credential, Credentials } from '../auth/credentials.ts';
import { answerError, ApiError, connectionError } from '../../errors.ts';
import type { RequestLine } from '../../errors.ts';
import type { FairSemaphore } from './fairness.ts';
import { parseJson } from '../../json.ts';
import { collect, NotSent, StaleConnection } from './transport.ts';
import type { Transport, WireRequest } from './transport.ts';

/** One request over the wire, for metrics; `code` is 0 if there was no answer. */
export interface RequestReport {
  readonly method: string;
  readonly code: number;
  readonly host: string;
  readonly durationMs: number;
  readonly flow: string;
}

/** What all flows of a client share. */
export interface Shared {
  readonly transport: Transport;
  readonly credentials: Credentials;
  readonly semaphore: FairSemaphore;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly onRequest: ((report: RequestReport) => void) | undefined;
  readonly onWarning: ((text: string) => void) | undefined;
  /** Requests and watches in flight; undefined once the client is closed. */
  inFlight: Set<AbortController> | undefined;
}

/** A complete answer with a status code below 300. */
export interface Answer {
  readonly contentType: string;
  readonly body: Buffer;
}

export interface Limits {
  readonly signal?: AbortSignal | undefined;
  /** Infinity for a request without a deadline. */
  readonly timeoutMs: number;
}

/** How many times a request is sent in all if the server answers 429. */
const maxAttempts = 5;

/** Sends a request and collects its answer; rejects with an ApiError for every failing status code. */
export function send(shared: Shared, flow: string, request: WireRequest, limits: Limits): Promise<Answer> {
  return withDeadline(shared, request, limits, async (signal, remaining) => {
    for (let attempt = 1; ; attempt++) {
      const release = await shared.semaphore.acquire(flow, signal);
      let outcome: Answer | ApiError;
      try {
        outcome = await attemptOnce(shared, flow, request, signal);
      } finally {
        release();
      }
      if (!(outcome instanceof ApiError)) return outcome;
      // The server has not processed it, so even a write may be retried.
      const wait = outcome.code === 429 ? outcome.retryAfterMs : undefined;
      if (wait === undefined || attempt === maxAttempts || wait >= remaining()) throw outcome;
      await delay(shared.clock, wait, signal);
    }
  });
}

async function attemptOnce(
  shared: Shared,
  flow: string,
  request: WireRequest,
  signal: AbortSignal,
): Promise<Answer | ApiError> {
  const response = await openIdentified(shared, flow, request, signal);
  const body = await collect(request, response, signal);
  const code = response.statusCode ?? 0;
  const contentType = response.headers['content-type'] ?? '';
  if (shared.onWarning) for (const text of warningsIn(response.headers['warning'] ?? '')) shared.onWarning(text);
  return code < 300 ? { contentType, body } : failure(request, response, body);
}

/** The texts of a Warning header: `299 - "text"`, several after commas. */
function warningsIn(header: string): readonly string[] {
  const texts = [...header.matchAll(/\b299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text!);
  // Node decodes headers as Latin-1.
  return texts.map((text) => Buffer.from(text.replaceAll(/\\(.)/g, '$1'), 'latin1').toString('utf8'));
}

/** The ApiError for an answer with a failing status code. */
export function failure(request: RequestLine, response: IncomingMessage, body: Buffer): ApiError {
  const text = body.toString('utf8');
  let content: unknown = text;
  try {
    content = parseJson(text);
  } catch {
    // Not JSON: something in front of the API server answered, and its text goes into the message.
  }
  return answerError(request, response.statusCode ?? 0, content, response.headers['retry-after']);
}

/** Sends the request with the current credentials; after a 401, once more with fresh ones if there may be any. */
export async function openIdentified(
  shared: Shared,
  flow: string,
  request: WireRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const credential = await identify(shared, request, signal);
  const response = await openReported(shared, flow, request, credential, signal);
  if (response.statusCode !== 401 || !invalidate(shared, request, credential)) return response;
  response.resume();
  return openReported(shared, flow, request, await identify(shared, request, signal), signal);
}

async function identify(shared: Shared, request: RequestLine, signal: AbortSignal): Promise<Credential> {
  try {
    const current = shared.credentials.current();
    return current instanceof Promise ? await untilAborted(current, signal) : current;
  } catch (error) {
    throw unavailable(request, error, signal);
  }
}

function invalidate(shared: Shared, request: RequestLine, credential: Credential): boolean {
  try {
    return shared.credentials.invalidate(credential);
  } catch (error) {
    throw unavailable(request, error);
  }
}

function unavailable(request: RequestLine, error: unknown, signal?: AbortSignal): Error {
  if (signal?.aborted) return signal.reason as Error;
  return connectionError(request, 'CredentialsUnavailable', `no credentials: ${(error as Error).message}`, error);
}

/** A plugin may take longer than the deadline of the request; it keeps running for later requests. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

async function openReported(
  shared: Shared,
  flow: string,
  request: WireRequest,
  credential: Credential,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const start = shared.clock.monotonic();
  let code = 0;
  try {
    const response = await openFresh(shared, request, credential, signal);
    code = response.statusCode ?? 0;
    return response;
  } finally {
    const durationMs = shared.clock.monotonic() - start;
    shared.onRequest?.({ method: request.method, code, host: shared.transport.host, durationMs, flow });
  }
}

/** A server may close an idle connection while we start to use it. A read is retried; a write may have arrived. */
async function openFresh(
  { transport }: Shared,
  request: WireRequest,
  credential: Credential,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  try {
    return await transport.open(request, credential, signal);
  } catch (error) {
    if (!(error instanceof StaleConnection)) throw knownError(request, error, signal);
    if (request.method !== 'GET') throw error.cause;
  }
  try {
    return await transport.open(request, credential, signal);
  } catch (error) {
    throw error instanceof StaleConnection ? error.cause : knownError(request, error, signal);
  }
}

/** Node throws on headers that it cannot send and on certificates that it cannot read. */
function knownError(request: RequestLine, error: unknown, signal: AbortSignal): unknown {
  if (error instanceof NotSent) return error.cause;
  if (error instanceof ApiError || signal.aborted) return error;
  return connectionError(request, 'InvalidRequest', (error as Error).message, error);
}

/** Runs `work` with a signal that aborts at the deadline, with the caller's signal, or when the client is closed. */
export async function withDeadline<T>(
  shared: Shared,
  request: RequestLine,
  { signal, timeoutMs }: Limits,
  work: (signal: AbortSignal, remaining: () => number) => Promise<T>,
): Promise<T> {
  if (shared.inFlight === undefined) throw closedError(request);
  signal?.throwIfAborted();
  const controller = new AbortController();
  shared.inFlight.add(controller);
  const deadline = shared.clock.monotonic() + timeoutMs;
  const expire = (): void => controller.abort(connectionError(request, 'Timeout', `no answer within ${timeoutMs} ms`));
  const timer: Timer | undefined = timeoutMs === Infinity ? undefined : shared.clock.setTimeout(expire, timeoutMs);
  const abort = (): void => controller.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    return await work(controller.signal, () => deadline - shared.clock.monotonic());
  } finally {
    timer?.cancel();
    signal?.removeEventListener('abort', abort);
    shared.inFlight?.delete(controller);
  }
}

/** Aborts every request and watch of this client. */
export function closeAll(shared: Shared): void {
  const { inFlight } = shared;
  shared.inFlight = undefined;
  for (const controller of inFlight ?? [])
    controller.abort(new ApiError('the client was closed', { code: 0, reason: 'ClientClosed' }));
  shared.transport.close();
}

function closedError(request: RequestLine): ApiError {
  return connectionError(request, 'ClientClosed', 'the client is closed');
}
