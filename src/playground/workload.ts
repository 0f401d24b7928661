// What a workload of the playground does with a request: it calls whom it calls, with the headers that it got, and says
// who it is and what came of that.
import type { Request } from '../traffic/index.ts';
import type { CallResult } from './answer.ts';
import type { Answering } from './pods.ts';
import { JSON_HEADERS } from './answer-json.ts';
import { PAGE_HEADERS } from './page.ts';
import type { Headers, Reply } from './proxy.ts';

/** Calls that one request may cause, so that workloads which call each other come to an end. */
const MOST_CALLS = 100;

/** Headers that are about one connection or message, and so are not carried on. */
const NOT_CARRIED = new Set([
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

/** How much one request from outside may still cause. */
export interface Budget {
  calls: number;
}

export const newBudget = (): Budget => ({ calls: MOST_CALLS });

/** Lets a workload answer a request; `send` is the proxy beside it. */
export async function answerOf(
  by: Answering,
  request: Request,
  send: Send,
  budget: Budget,
  signal: AbortSignal,
): Promise<Reply> {
  const calls: CallResult[] = [];
  for (const url of by.calls) calls.push(await call(url, by, request.headers ?? {}, send, budget, signal));
  const { service, image, name, environment } = by;
  const answer = { service, image, pod: name, ...(environment && { environment }), calls };
  // As a gateway says it: whom it asked has not answered well.
  const status = calls.every((each) => each.status >= 200 && each.status < 300) ? 200 : 502;
  const isPage = [request.headers?.['accept'] ?? ''].flat().some((each) => each.includes('text/html'));
  return { status, headers: isPage ? PAGE_HEADERS : JSON_HEADERS, answer, isPage };
}

async function call(
  url: string,
  { namespace, labels }: Answering,
  headers: Headers,
  send: Send,
  budget: Budget,
  signal: AbortSignal,
): Promise<CallResult> {
  const { protocol, host = '', port, pathname = '/', search = '' } = URL.parse(url) ?? {};
  if (protocol !== 'http:') return { url, status: 502, text: 'only URLs such as http://reviews:8080/ can be called' };
  if (--budget.calls < 0) return { url, status: 508, text: `one request makes at most ${MOST_CALLS} calls here` };
  const carried = Object.entries(headers).filter(([name]) => !NOT_CARRIED.has(name));
  const request: Request = {
    host,
    port: port ? Number(port) : 80,
    path: pathname + search,
    headers: Object.fromEntries(carried),
    source: { namespace, labels },
  };
  const { status, answer, text, route } = await send(request, signal);
  return { url, status, ...(route && { route }), ...(answer ? { answer } : { text: text ?? '' }) };
}
