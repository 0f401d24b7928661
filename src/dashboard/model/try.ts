// Tries a request: which rule matches, where it goes, and where the calls that follow go.
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
import { behind, followCalls, reachedBy, routerIn } from './call-path.ts';
import type { Step } from './call-path.ts';

/** A request, parsed from what the user wrote. */
export interface ParsedRequest {
  readonly request: Request;
  readonly title: string;
}

/** Evaluates a request. The calls that follow carry its headers. */
export function tryRequest(scope: Scope, { request, title }: ParsedRequest, tried: TriedRequest): Tried {
  const decision = routerIn(scope).decide(request);
  const { source, host, port } = request;
  const from = isGatewaySource(source) ? `gateway ${source.gateway}` : originOf(tried, source.namespace ?? '');
  const first: Step = { from, call: { host, port }, request, decision, to: reachedBy(decision) };
  if (!isVisible(scope, first)) {
    const hint =
      'Ask for permission to list services, deployments, virtualservices and destinationrules in the namespaces that it reaches.';
    throw new Refused(403, 'this request passes objects that you may not read', hint);
  }
  const next = first.to.flatMap((key) => workloadCaller(scope, key) ?? []);
  const whole = [first, ...followCalls(scope, next, { headers: request.headers ?? {} })];
  const path = whole.filter((step) => isVisible(scope, step));
  const namespaces = new Set(path.flatMap(({ to }) => to.map((key) => key.split('/')[0]!)));
  const base = followCalls(scope, startsIn(scope, namespaces), { headers: {} });
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

/** The clones on the path, each with its base. */
function clonesAmong(scope: Scope, path: readonly Step[]): ReadonlyMap<string, string> {
  const keys = new Set(path.flatMap(({ to }) => to));
  const all = readerOf(scope)
    .list(DynamicEnv, {})
    .flatMap((env) => [...clonesOf(env)]);
  return new Map(all.filter(([clone]) => keys.has(clone)));
}
