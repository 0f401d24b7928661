// A request from start to end: its turn, its credentials, its deadline, and the few retries that are always safe. Called by connect.ts.
import type { IncomingMessage } from 'node:http';
import { delay } from '../../clock.ts';
import type { Clock, Timer } from '../../clock.ts';
import type { Credential, Credentials } from '../auth/credentials.ts';
import { answerError, ApiError, connectionError } from '../../errors.ts';
import type { RequestLine } from '../../errors.ts';
import type { Turns } from './fairness.ts';
import { parseJson } from '../../json.ts';
import { collect, StaleConnection } from './transport.ts';
import type { Transport, WireRequest } from './transport.ts';

/** One request over the wire as metrics see it; `code` is 0 when there was no answer. */
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
  readonly turns: Turns;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly onRequest: ((report: RequestReport) => void) | undefined;
  readonly onWarning: ((text: string) => void) | undefined;
  /** Requests and watches under way; undefined once the client is closed. */
  lives: Set<AbortController> | undefined;
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

/** How often a request that the server turns away with 429 is sent in all. */
const tries = 5;

/** Sends a request and collects its answer; rejects with an ApiError for every failing status code. */
export function send(shared: Shared, flow: string, request: WireRequest, limits: Limits): Promise<Answer> {
  return withLife(shared, request, limits, async (life, remaining) => {
    for (let attempt = 1; ; attempt++) {
      const leave = await shared.turns.enter(flow, life);
      let outcome: Answer | ApiError;
      try {
        outcome = await attemptOnce(shared, flow, request, life);
      } finally {
        leave();
      }
      if (!(outcome instanceof ApiError)) return outcome;
      // Turned away means not processed, so even a write may be sent again.
      const wait = outcome.code === 429 ? outcome.retryAfterMs : undefined;
      if (wait === undefined || attempt === tries || wait >= remaining()) throw outcome;
      await delay(shared.clock, wait, life);
    }
  });
}

async function attemptOnce(
  shared: Shared,
  flow: string,
  request: WireRequest,
  life: AbortSignal,
): Promise<Answer | ApiError> {
  const response = await openIdentified(shared, flow, request, life);
  const body = await collect(request, response, life);
  const code = response.statusCode ?? 0;
  const contentType = response.headers['content-type'] ?? '';
  if (shared.onWarning) for (const text of warningsIn(response.headers['warning'] ?? '')) shared.onWarning(text);
  return code < 300 ? { contentType, body } : failure(request, response, body);
}

/** The texts of a Warning header: `299 - "text"`, several after commas. */
function warningsIn(header: string): readonly string[] {
  const texts = [...header.matchAll(/\b299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text!);
  // Headers come as bytes, one character each.
  return texts.map((text) => Buffer.from(text.replaceAll(/\\(.)/g, '$1'), 'latin1').toString('utf8'));
}

/** The ApiError for an answer with a failing status code. */
export function failure(request: RequestLine, response: IncomingMessage, body: Buffer): ApiError {
  const text = body.toString('utf8');
  let content: unknown = text;
  try {
    content = parseJson(text);
  } catch {
    // Not JSON: something between us and the API server answered, and its words go into the message.
  }
  return answerError(request, response.statusCode ?? 0, content, response.headers['retry-after']);
}

/** Sends the request with the current credentials; after a 401, once more with fresh ones where there can be any. */
export async function openIdentified(
  shared: Shared,
  flow: string,
  request: WireRequest,
  life: AbortSignal,
): Promise<IncomingMessage> {
  const credential = await identify(shared, request, life);
  const response = await openReported(shared, flow, request, credential, life);
  if (response.statusCode !== 401 || !refuse(shared, request, credential)) return response;
  response.resume();
  return openReported(shared, flow, request, await identify(shared, request, life), life);
}

async function identify(shared: Shared, request: RequestLine, life: AbortSignal): Promise<Credential> {
  try {
    const current = shared.credentials.current();
    return current instanceof Promise ? await untilAborted(current, life) : current;
  } catch (error) {
    throw unavailable(request, error, life);
  }
}

function refuse(shared: Shared, request: RequestLine, credential: Credential): boolean {
  try {
    return shared.credentials.refuse(credential);
  } catch (error) {
    throw unavailable(request, error);
  }
}

function unavailable(request: RequestLine, error: unknown, life?: AbortSignal): Error {
  if (life?.aborted) return life.reason as Error;
  return connectionError(request, 'CredentialsUnavailable', `no credentials: ${(error as Error).message}`, error);
}

/** A plugin may take longer than the request has; it goes on for the requests that come after. */
function untilAborted<T>(promise: Promise<T>, life: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(life.reason as Error);
    life.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => life.removeEventListener('abort', abort));
  });
}

async function openReported(
  shared: Shared,
  flow: string,
  request: WireRequest,
  credential: Credential,
  life: AbortSignal,
): Promise<IncomingMessage> {
  const start = shared.clock.monotonic();
  let code = 0;
  try {
    const response = await openFresh(shared, request, credential, life);
    code = response.statusCode ?? 0;
    return response;
  } finally {
    const durationMs = shared.clock.monotonic() - start;
    shared.onRequest?.({ method: request.method, code, host: shared.transport.host, durationMs, flow });
  }
}

/** A server may give up an idle connection at the moment we use it. Reading again is safe; a write may have arrived. */
async function openFresh(
  { transport }: Shared,
  request: WireRequest,
  credential: Credential,
  life: AbortSignal,
): Promise<IncomingMessage> {
  try {
    return await transport.open(request, credential, life);
  } catch (error) {
    if (!(error instanceof StaleConnection)) throw knownError(request, error, life);
    if (request.method !== 'GET') throw error.cause;
  }
  try {
    return await transport.open(request, credential, life);
  } catch (error) {
    throw error instanceof StaleConnection ? error.cause : knownError(request, error, life);
  }
}

/** Node throws on headers that it cannot send and on certificates that it cannot read. */
function knownError(request: RequestLine, error: unknown, life: AbortSignal): unknown {
  if (error instanceof ApiError || life.aborted) return error;
  return connectionError(request, 'InvalidRequest', (error as Error).message, error);
}

/** Runs `work` with a signal that ends it: on its deadline, on the caller's signal, when the client is closed. */
export async function withLife<T>(
  shared: Shared,
  request: RequestLine,
  { signal, timeoutMs }: Limits,
  work: (life: AbortSignal, remaining: () => number) => Promise<T>,
): Promise<T> {
  if (shared.lives === undefined) throw closedError(request);
  signal?.throwIfAborted();
  const life = new AbortController();
  shared.lives.add(life);
  const deadline = shared.clock.monotonic() + timeoutMs;
  const expire = (): void => life.abort(connectionError(request, 'Timeout', `no answer within ${timeoutMs} ms`));
  const timer: Timer | undefined = timeoutMs === Infinity ? undefined : shared.clock.setTimeout(expire, timeoutMs);
  const abort = (): void => life.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    return await work(life.signal, () => deadline - shared.clock.monotonic());
  } finally {
    timer?.cancel();
    signal?.removeEventListener('abort', abort);
    shared.lives?.delete(life);
  }
}

/** Ends every request and watch of this client. */
export function closeAll(shared: Shared): void {
  const { lives } = shared;
  shared.lives = undefined;
  for (const life of lives ?? [])
    life.abort(new ApiError('the client was closed', { code: 0, reason: 'ClientClosed' }));
  shared.transport.close();
}

function closedError(request: RequestLine): ApiError {
  return connectionError(request, 'ClientClosed', 'the client is closed');
}
