// Tries a request: which rule takes it, where it goes, and where the calls go that follow from it.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { consideredData, decisionData, decisionLines, explainLine, isGatewaySource } from '../../traffic/index.ts';
import type { Decision, Request } from '../../traffic/index.ts';
import { Deployment } from '../../traffic/services.ts';
import type { Hop, Tried, TriedRequest } from '../data.ts';
import { clonesOf, drawn, startsIn } from './picture.ts';
import { workloadCaller } from './calls.ts';
import { readerOf } from './reader.ts';
import { Refused } from '../refused.ts';
import type { Scope } from './scope.ts';
import { isVisible } from './visible.ts';
import { behind, reachedBy, routerIn, walk } from './walk.ts';
import type { Step } from './walk.ts';

/** A request that was read from what people wrote. */
export interface Asked {
  readonly request: Request;
  readonly title: string;
}

/** What becomes of a request. Calls that follow carry its headers on. */
export function tryRequest(scope: Scope, { request, title }: Asked, tried: TriedRequest): Tried {
  const decision = routerIn(scope).decide(request);
  const { source, host, port } = request;
  const from = isGatewaySource(source) ? `gateway ${source.gateway}` : originOf(tried, source.namespace ?? '');
  const first: Step = { from, call: { host, port }, request, decision, to: reachedBy(decision) };
  if (!isVisible(scope, first)) {
    const hint = 'Ask for the right to list services, deployments, virtualservices and destinationrules where it goes.';
    throw new Refused(403, 'this request leads through what you may not read', hint);
  }
  const next = first.to.flatMap((key) => workloadCaller(scope, key) ?? []);
  const whole = [first, ...walk(scope, next, { headers: request.headers ?? {} })];
  const path = whole.filter((step) => isVisible(scope, step));
  const namespaces = new Set(path.flatMap(({ to }) => to.map((key) => key.split('/')[0]!)));
  const base = walk(scope, startsIn(scope, namespaces), { headers: {} });
  const clones = clonesAmong(scope, path);
  return {
    sentence: sentenceOf(decision, clones),
    hops: path.map((step, i) => hopOf(step, i === 0 ? title : titleOf(step))),
    picture: drawn(scope, { base, path: whole, clones, notes: [] }),
    command: explainLine(request),
  };
}

function originOf({ from }: TriedRequest, namespace: string): string {
  if (typeof from !== 'string') return `callers ${namespace}`;
  const [where = '', ...rest] = from.split('/');
  return rest.length > 1 ? from : `${where}/${Deployment.kind}/${rest[0]}`;
}

function hopOf({ from, to, decision }: Step, title: string): Hop {
  return {
    title,
    from,
    to,
    decision: decisionData(decision),
    considered: consideredData(decision.considered),
    lines: decisionLines(decision),
  };
}

function titleOf({ from, call }: Step): string {
  return `then ${from.split('/')[2] ?? from} calls http://${call.host}:${call.port}`;
}

/** `This request reaches …, because …`. */
function sentenceOf(decision: Decision, clones: ReadonlyMap<string, string>): string {
  if (decision.kind !== 'route') return `This request ${decisionLines(decision)[0] ?? ''}.`;
  const because = `because ${behind(decision)} matches`;
  if (decision.status !== undefined)
    return `This request is answered with ${decision.status}, ${because} and nobody is there.`;
  const places = decision.destinations.map(({ host, subset, weight, workloads }) => {
    const name = workloads.map((key) => `\`${key.split('/')[2]}\``).join(' or ') || `\`${host}\``;
    const share = decision.destinations.length > 1 ? `${weight}% ` : '';
    return `${share}${name}${subset === undefined ? '' : ` (version \`${subset}\`)`}`;
  });
  const first = new Set(reachedBy(decision));
  const later = [...clones.keys()].filter((key) => !first.has(key)).map((key) => `\`${key.split('/')[2]}\``);
  const onward = later.length === 0 ? '' : `; its calls go on to ${later.join(' and ')}`;
  return `This request reaches ${places.join(' and ')}, ${because}${onward}.`;
}

/** Workloads on the path that environments made, each beside the base that it was made from. */
function clonesAmong(scope: Scope, path: readonly Step[]): ReadonlyMap<string, string> {
  const keys = new Set(path.flatMap(({ to }) => to));
  const all = readerOf(scope)
    .list(DynamicEnv, {})
    .flatMap((env) => [...clonesOf(env)]);
  return new Map(all.filter(([clone]) => keys.has(clone)));
}
