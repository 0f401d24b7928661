// How a workload of the playground answers a request: it calls its upstreams with the headers that it got, and answers
// with its own version and the results of the calls.
import type { Request } from '../traffic/index.ts';
import type { CallResult } from './answer.ts';
import type { AnsweringPod } from './pods.ts';
import { JSON_HEADERS } from './answer-json.ts';
import { PAGE_HEADERS } from './page.ts';
import type { Headers, Reply } from './proxy.ts';

/** The most calls that one request may cause, so that a call cycle ends. */
const MAX_CALLS = 100;

/** Headers that concern one connection or message, and so are not propagated. */
const NOT_PROPAGATED = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export type Send = (request: Request, signal: AbortSignal) => Promise<Reply>;

/** The number of calls that one request from outside may still cause. */
export interface Budget {
  calls: number;
}

export const newBudget = (): Budget => ({ calls: MAX_CALLS });

/** Answers a request as a pod; `send` is its sidecar. */
export async function answerOf(
  by: AnsweringPod,
  request: Request,
  send: Send,
  budget: Budget,
  signal: AbortSignal,
): Promise<Reply> {
  const calls: CallResult[] = [];
  for (const url of by.calls) calls.push(await call(url, by, request.headers ?? {}, send, budget, signal));
  const { service, image, name, environment } = by;
  const answer = { service, image, pod: name, ...(environment && { environment }), calls };
  // 502 Bad Gateway: an upstream did not answer with success.
  const status = calls.every((each) => each.status >= 200 && each.status < 300) ? 200 : 502;
  const isPage = [request.headers?.['accept'] ?? ''].flat().some((each) => each.includes('text/html'));
  return { status, headers: isPage ? PAGE_HEADERS : JSON_HEADERS, answer, isPage };
}

async function call(
  url: string,
  { namespace, labels }: AnsweringPod,
  headers: Headers,
  send: Send,
  budget: Budget,
  signal: AbortSignal,
): Promise<CallResult> {
  const { protocol, host = '', port, pathname = '/', search = '' } = URL.parse(url) ?? {};
  if (protocol !== 'http:') return { url, status: 502, text: 'only URLs such as http://reviews:8080/ can be called' };
  if (--budget.calls < 0) return { url, status: 508, text: `one request makes at most ${MAX_CALLS} calls here` };
  const propagated = Object.entries(headers).filter(([name]) => !NOT_PROPAGATED.has(name));
  const request: Request = {
    host,
    port: port ? Number(port) : 80,
    path: pathname + search,
    headers: Object.fromEntries(propagated),
    source: { namespace, labels },
  };
  const { status, answer, text, route } = await send(request, signal);
  return { url, status, ...(route && { route }), ...(answer ? { answer } : { text: text ?? '' }) };
}
