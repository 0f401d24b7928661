// What the page asks for: lists and details while they change, and answers to questions.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { callersIn } from '../../traffic/index.ts';
import type { MeshSource } from '../../traffic/index.ts';
import { Deployment } from '../../traffic/services.ts';
import type { Facts } from '../../controller/index.ts';
import { keyOf, stringifyJson } from '../../kube/index.ts';
import type { AnyKind, Ref } from '../../kube/index.ts';
import type { Detail, Session, TriedRequest } from '../data.ts';
import { choicesIn } from '../model/choices.ts';
import { Gateways } from '../model/calls.ts';
import { environmentDetail, meshDetail, objectDetail } from '../model/details.ts';
import { applyEnvironment, planOf, readEnvironment } from '../model/plan.ts';
import type { MayRead } from '../model/reader.ts';
import { ROW_KINDS } from '../model/rows.ts';
import { tryRequest } from '../model/try.ts';
import type { Asked } from '../model/try.ts';
import { Refused } from '../refused.ts';
import { Lines } from './lines.ts';
import { followValue, once, streamRows } from './live.ts';
import type { DashboardOptions } from './server.ts';
import { readJson } from './body.ts';

/** Reads a request as people write it; throws where it can't be read. */
export type ReadRequest = (
  value: unknown,
  surroundings: {
    readonly callers: ReadonlyMap<string, MeshSource>;
    readonly gateways: ReadonlySet<string>;
    readonly namespace: string;
  },
) => Asked;

/** Who asks, and what they may. */
export interface Visitor {
  readonly session: Session;
  readonly mayRead: MayRead;
}

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly headers: Readonly<Record<string, string>>;
  readonly visitor: Visitor;
  readonly options: DashboardOptions;
}

type Handler = (exchange: Exchange, path: readonly string[]) => Promise<void>;

const ROUTES: readonly (readonly [method: string, pattern: RegExp, handler: Handler])[] = [
  ['GET', /^\/api\/live$/, live],
  ['GET', /^\/api\/live\/mesh$/, (exchange) => detail(exchange, (facts, mayRead) => meshDetail(facts, mayRead))],
  ['GET', /^\/api\/live\/environments\/([^/]+)\/([^/]+)$/, environment],
  ['GET', /^\/api\/live\/(claim|target|rule)s\/([^/]+)\/([^/]+)$/, otherObject],
  ['GET', /^\/api\/choices$/, choices],
  ['POST', /^\/api\/try$/, tried],
  ['POST', /^\/api\/plan$/, planned],
  ['POST', /^\/api\/environments$/, applied],
  ['DELETE', /^\/api\/environments\/([^/]+)\/([^/]+)$/, deleted],
];

/** Answers a request about data. */
export async function answerApi(exchange: Exchange, path: string): Promise<void> {
  const { method = 'GET' } = exchange.request;
  const fitting = ROUTES.filter(([, pattern]) => pattern.test(path));
  const route = fitting.find(([allowed]) => allowed === method);
  if (route === undefined) {
    throw new Refused(fitting.length === 0 ? 404 : 405, `there is no ${method} ${path}`);
  }
  const [, pattern, handler] = route;
  await handler(exchange, pattern.exec(path)!.slice(1).map(decodeURIComponent));
}

function answer({ response, headers }: Exchange, value: unknown, status = 200): void {
  const body = stringifyJson(value);
  response
    .writeHead(status, { ...headers, 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
    .end(body);
}

async function live({ response, headers, visitor, options }: Exchange): Promise<void> {
  const lines = new Lines(response, headers);
  await streamRows(lines, options.tables, visitor.session, visitor.mayRead).finally(() => lines.end());
}

async function detail(
  { response, headers, visitor, options }: Exchange,
  compute: (facts: Facts, mayRead: MayRead) => Detail | undefined,
): Promise<void> {
  const lines = new Lines(response, headers);
  const { tables } = options;
  await followValue(
    tables,
    lines.signal,
    (facts) => compute(facts, visitor.mayRead) ?? null,
    (value) => lines.write({ detail: value }),
  ).finally(() => lines.end());
}

async function environment(exchange: Exchange, [namespace = '', name = '']: readonly string[]): Promise<void> {
  mustRead(exchange, DynamicEnv, { name, namespace });
  await detail(exchange, (facts, mayRead) => environmentDetail(facts, { name, namespace }, mayRead));
}

async function otherObject(exchange: Exchange, [type, namespace = '', name = '']: readonly string[]): Promise<void> {
  const of = type as 'claim' | 'target' | 'rule';
  mustRead(exchange, ROW_KINDS[of], { name, namespace });
  await detail(exchange, (facts, mayRead) => objectDetail(facts, of, { name, namespace }, mayRead));
}

function mustRead({ visitor }: Exchange, kind: AnyKind, ref: Ref): void {
  if (visitor.mayRead(kind, ref.namespace)) return;
  throw new Refused(
    403,
    `you may not read ${kind.plural} in namespace ${ref.namespace}`,
    'Ask for the right to get them.',
  );
}

async function choices(exchange: Exchange): Promise<void> {
  const { options, visitor } = exchange;
  answer(exchange, await once(options.tables, (facts) => choicesIn(facts, visitor.mayRead)));
}

async function tried(exchange: Exchange): Promise<void> {
  const { options, request } = exchange;
  const body = { url: '', ...(await readJson(request)) } as TriedRequest;
  const result = await once(options.tables, (facts) => {
    const asked = options.readRequest(body, {
      callers: callersIn(facts.list(Deployment)),
      gateways: new Set(facts.list(Gateways).map(({ metadata }) => keyOf(metadata))),
      namespace: namespaceOf(body),
    });
    return tryRequest(facts, asked, body);
  });
  answer(exchange, result);
}

/** A caller of whom nothing is said is where the Service is that it calls. */
function namespaceOf({ url }: TriedRequest): string {
  const [, namespace] = /^https?:\/\/[^./:]+\.([^./:]+)/i.exec(url) ?? [];
  return namespace ?? 'default';
}

async function planned(exchange: Exchange): Promise<void> {
  const { options, request } = exchange;
  const env = readEnvironment(await manifestIn(request));
  const stored = await applyEnvironment(options.client, env, true);
  answer(exchange, await once(options.tables, () => planOf(options.tables, stored, Date.now(), options.settings)));
}

async function applied(exchange: Exchange): Promise<void> {
  const { options, request } = exchange;
  mustWrite(exchange);
  const env = readEnvironment(await manifestIn(request));
  const { metadata } = await applyEnvironment(options.client, env, false);
  answer(exchange, { namespace: metadata.namespace, name: metadata.name }, 201);
}

async function deleted(exchange: Exchange, [namespace = '', name = '']: readonly string[]): Promise<void> {
  mustWrite(exchange);
  await exchange.options.client.delete(DynamicEnv, { name, namespace }, { propagationPolicy: 'Background' });
  answer(exchange, { namespace, name });
}

function mustWrite({ visitor }: Exchange): void {
  if (!visitor.session.writes) {
    throw new Refused(403, 'this dashboard only shows', 'Use offshoot or kubectl, or start it with writes allowed.');
  }
}

async function manifestIn(request: IncomingMessage): Promise<string> {
  const { yaml } = (await readJson(request)) as { readonly yaml?: unknown };
  if (typeof yaml !== 'string') throw new Refused(400, 'the field "yaml" is missing');
  return yaml;
}
