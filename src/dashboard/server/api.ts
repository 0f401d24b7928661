// The API of the page: live lists and details, and single requests.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { callersIn, gatewayPorts } from '../../traffic/index.ts';
import type { GatewayPorts, MeshSource } from '../../traffic/index.ts';
import { Deployment } from '../../traffic/services.ts';
import { keyOf } from '../../kube/index.ts';
import type { AnyKind, Ref } from '../../kube/index.ts';
import { settle } from '../access/permissions.ts';
import type { Visitor } from '../access/visitors.ts';
import type { Detail, Session, TriedRequest } from '../data.ts';
import { choicesIn } from '../model/choices.ts';
import { Gateways } from '../model/calls.ts';
import { environmentDetail, meshDetail, objectDetail } from '../model/details.ts';
import { applyEnvironment, mustReadWorkloads, planAnswer, planFor, readEnvironment } from '../model/plan.ts';
import { readerOf } from '../model/reader.ts';
import { ROW_KINDS } from '../model/rows.ts';
import type { Scope } from '../model/scope.ts';
import { tryRequest } from '../model/try.ts';
import type { ParsedRequest } from '../model/try.ts';
import { Refused } from '../refused.ts';
import { Lines } from './lines.ts';
import { followValue, once, streamRows } from './live.ts';
import type { Viewer } from './live.ts';
import type { Served } from './server.ts';
import { answerJson } from './answer.ts';
import { readJson } from './body.ts';

/** Parses a request as people write it; throws if it is invalid. */
export type ReadRequest = (
  value: unknown,
  surroundings: {
    readonly callers: ReadonlyMap<string, MeshSource>;
    readonly gateways: ReadonlyMap<string, GatewayPorts>;
    readonly namespace: string;
  },
) => ParsedRequest;

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly headers: Readonly<Record<string, string>>;
  readonly visitor: Visitor;
  readonly served: Served;
}

type Handler = (exchange: Exchange, path: readonly string[]) => Promise<void>;

const ROUTES: readonly (readonly [method: string, pattern: RegExp, handler: Handler])[] = [
  ['GET', /^\/api\/live$/, live],
  ['GET', /^\/api\/live\/mesh$/, (exchange) => detail(exchange, meshDetail)],
  ['GET', /^\/api\/live\/environments\/([^/]+)\/([^/]+)$/, environment],
  ['GET', /^\/api\/live\/(claim|target|rule)s\/([^/]+)\/([^/]+)$/, otherObject],
  ['GET', /^\/api\/choices$/, choices],
  ['POST', /^\/api\/try$/, tried],
  ['POST', /^\/api\/plan$/, planned],
  ['POST', /^\/api\/environments$/, applied],
  ['DELETE', /^\/api\/environments\/([^/]+)\/([^/]+)$/, deleted],
];

/** Routes a request to its handler. */
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

function viewerOf({ served: { tables, settings }, visitor }: Exchange): Viewer {
  return { tables, settings, visitor };
}

/** The user, and what they may do here. */
async function sessionOf({ served, visitor }: Exchange): Promise<Session> {
  const { version, writes = false, gateway, settings } = served;
  const terminal = served.terminal?.();
  const { name: user, until, permissions } = visitor;
  const seesAll = await settle(permissions, (may) => may('list', DynamicEnv, undefined));
  return {
    version,
    writes,
    keyHeader: settings.keyHeader,
    ...(user !== undefined && { user }),
    ...(until !== undefined && { until: new Date(until).toISOString() }),
    ...(!seesAll && { isRestricted: true as const }),
    ...(gateway !== undefined && { gateway }),
    ...(terminal !== undefined && { terminal }),
  };
}

async function live(exchange: Exchange): Promise<void> {
  const session = await sessionOf(exchange);
  const lines = new Lines(exchange.response, exchange.headers);
  await streamRows(lines, viewerOf(exchange), session).finally(() => lines.end());
}

async function detail(exchange: Exchange, compute: (scope: Scope) => Detail | undefined): Promise<void> {
  const lines = new Lines(exchange.response, exchange.headers);
  await followValue(
    viewerOf(exchange),
    lines.signal,
    (scope) => compute(scope) ?? null,
    (value) => lines.write({ detail: value }),
  ).finally(() => lines.end());
}

async function environment(exchange: Exchange, [namespace = '', name = '']: readonly string[]): Promise<void> {
  await mustRead(exchange, DynamicEnv, { name, namespace });
  await detail(exchange, (scope) => environmentDetail(scope, { name, namespace }));
}

async function otherObject(exchange: Exchange, [type, namespace = '', name = '']: readonly string[]): Promise<void> {
  const of = type as 'claim' | 'target' | 'rule';
  await mustRead(exchange, ROW_KINDS[of], { name, namespace });
  await detail(exchange, (scope) => objectDetail(scope, of, { name, namespace }));
}

async function mustRead({ visitor }: Exchange, kind: AnyKind, { namespace }: Ref): Promise<void> {
  if (await settle(visitor.permissions, (may) => may('list', kind, namespace))) return;
  throw new Refused(
    403,
    `you may not read ${kind.plural} in namespace ${namespace}`,
    'Ask for permission to list them.',
  );
}

async function choices(exchange: Exchange): Promise<void> {
  answerJson(exchange.response, await once(viewerOf(exchange), choicesIn));
}

async function tried(exchange: Exchange): Promise<void> {
  const { served, request, response } = exchange;
  const body = { url: '', ...(await readJson(request)) } as TriedRequest;
  const result = await once(viewerOf(exchange), (scope) => {
    const read = readerOf(scope);
    const parsed = served.readRequest(body, {
      callers: callersIn(read.list(Deployment, {})),
      gateways: new Map(read.list(Gateways, {}).map((each) => [keyOf(each.metadata), gatewayPorts(each)])),
      namespace: namespaceOf(body),
    });
    return tryRequest(scope, parsed, body);
  });
  answerJson(response, result);
}

/** The namespace of an unknown caller: that of the Service that it calls. */
function namespaceOf({ url }: TriedRequest): string {
  const [, namespace] = /^https?:\/\/[^./:]+\.([^./:]+)/i.exec(url) ?? [];
  return namespace ?? 'default';
}

async function planned(exchange: Exchange): Promise<void> {
  const { served, request, response, visitor } = exchange;
  const { tables, settings } = served;
  const env = readEnvironment(await manifestIn(request));
  await settle(visitor.permissions, (may) => mustReadWorkloads({ may }, env));
  const stored = await visitor.inTheirName((client) => applyEnvironment(client, env, true));
  const plan = await once(viewerOf(exchange), () => planFor(tables, stored, settings, Date.now()));
  answerJson(response, await settle(visitor.permissions, (may) => planAnswer({ settings, may }, stored, plan)));
}

async function applied(exchange: Exchange): Promise<void> {
  const { request, response, visitor } = exchange;
  mustWrite(exchange);
  const env = readEnvironment(await manifestIn(request));
  const { metadata } = await visitor.inTheirName((client) => applyEnvironment(client, env, false));
  const { namespace, name } = metadata;
  logWrite(exchange, 'applied', metadata);
  answerJson(response, { namespace, name }, { status: 201 });
}

async function deleted(exchange: Exchange, [namespace = '', name = '']: readonly string[]): Promise<void> {
  mustWrite(exchange);
  const ref = { name, namespace };
  await exchange.visitor.inTheirName((client) => client.delete(DynamicEnv, ref, { propagationPolicy: 'Background' }));
  logWrite(exchange, 'deleted', ref);
  answerJson(exchange.response, { namespace, name });
}

function logWrite({ served, visitor: { name: user } }: Exchange, what: string, ref: Ref): void {
  if (user !== undefined) served.logger?.info({ user, environment: keyOf(ref) }, `${what} by the dashboard`);
}

function mustWrite({ served }: Exchange): void {
  if (!served.writes) {
    throw new Refused(
      403,
      'this dashboard is read-only',
      'Use offshoot or kubectl, or start the dashboard with writes allowed.',
    );
  }
}

async function manifestIn(request: IncomingMessage): Promise<string> {
  const { yaml } = (await readJson(request)) as { readonly yaml?: unknown };
  if (typeof yaml !== 'string') throw new Refused(400, 'the field "yaml" is missing');
  return yaml;
}
