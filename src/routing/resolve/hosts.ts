// Stage two, all rules together: the routes of each host, in the order of rules and matchers.
import { problems } from '../errors.ts';
import type { Problem } from '../errors.ts';
import { keyOf } from '../model.ts';
import type { HostRoutes, Match, Mode, Ref, Route, RouteCount, RuleOutcome } from '../model.ts';
import { byText, sortedBy } from '../names.ts';
import { isSubset } from '../../traffic/regex/language.ts';
import { shadowed } from './order.ts';
import { firstProblem } from './rule.ts';
import type { RulePlan } from './rule.ts';
import type { Workloads } from './workloads.ts';

export interface Merged {
  readonly rules: readonly RuleOutcome[];
  readonly hostRoutes: readonly HostRoutes[];
  /** Hosts of rejected rules that lead to unresolved virtual nodes. */
  readonly unresolvedHosts: readonly string[];
  readonly warnings: readonly { readonly rule: Ref; readonly problem: Problem }[];
  /** Why the mesh is rejected: in compat mode as a whole. */
  readonly failure?: Problem;
}

export interface MergeOptions {
  readonly mode: Mode;
  /** The name of the router of a host in a back end. */
  readonly routerName: (host: string) => string;
  /** Why a host cannot have this many routes in a back end. */
  readonly hostLimit: (host: string, count: RouteCount) => Problem | undefined;
}

/** The routes of the rules that are accepted. */
export function mergeRules(
  plans: readonly RulePlan[],
  { serviceOf }: Workloads,
  { mode, routerName, hostLimit }: MergeOptions,
): Merged {
  const portsOf = new Map<string, Set<number>>();
  const routesOf = new Map<string, Route[]>();
  const rules: RuleOutcome[] = [];
  const unresolvedHosts = new Set<string>();
  const hostOf = new Map<string, string>();
  const countOf = new Map<string, RouteCount>();
  let collided: Problem | undefined;
  for (const plan of plans) {
    const routes = plan.matches.map(({ index, match }) => ({
      rule: plan.rule,
      matcher: index,
      match,
      split: plan.split,
    }));
    const counted = routeCount(routes);
    const conflict = (): Problem | undefined =>
      portConflict(plan, portsOf) ?? firstOf(plan.hosts, (host) => hostLimit(host, sumOf(countOf.get(host), counted)));
    const own = firstProblem(plan.problems);
    const collision =
      own === undefined && mode === 'strict' ? nameCollision(plan.hosts, hostOf, routerName) : undefined;
    collided ??= collision;
    const rejected = own ?? collision ?? (mode === 'strict' ? conflict() : undefined);
    rules.push({ rule: plan.rule, hosts: plan.hosts, ...(rejected && { rejected }) });
    if (rejected !== undefined) {
      if (plan.isUnresolved) for (const host of plan.hosts) unresolvedHosts.add(host);
      continue;
    }
    for (const host of plan.hosts) {
      hostOf.set(routerName(host), host);
      countOf.set(host, sumOf(countOf.get(host), counted));
      const ports = portsOf.get(host) ?? new Set();
      portsOf.set(host, ports.add(plan.split[0]!.port));
      const before = routesOf.get(host);
      if (before === undefined) routesOf.set(host, [...routes]);
      else before.push(...routes);
    }
  }
  const hostRoutes = sortedBy(routesOf, ([host]) => host).map(([host, routes]): HostRoutes => ({
    host,
    service: serviceOf.get(host)!.service,
    port: routes[0]!.split[0]!.port,
    routes,
  }));
  const [severalPorts] = hostRoutes.flatMap(({ host }) => {
    const ports = portsOf.get(host)!;
    return ports.size > 1
      ? [
          problems.routerMultiplePorts(
            host,
            [...ports].sort((a, b) => a - b),
          ),
        ]
      : [];
  });
  const failure = severalPorts ?? collided;
  const warnings = mode === 'strict' ? hostRoutes.flatMap(hostWarnings) : [];
  return {
    rules,
    hostRoutes,
    unresolvedHosts: [...unresolvedHosts].sort(byText),
    warnings,
    ...(failure && { failure }),
  };
}

export function routeCount(routes: readonly Route[]): RouteCount {
  return {
    matchers: routes.length,
    routes: routes.reduce((sum, { match }) => sum + Math.max(match.methods.length, 1), 0),
    arePlainPrefixes: routes.every(({ match }) => match.path.kind === 'prefix' && isPlain(match)),
  };
}

function sumOf(before: RouteCount | undefined, added: RouteCount): RouteCount {
  if (before === undefined) return added;
  return {
    matchers: before.matchers + added.matchers,
    routes: before.routes + added.routes,
    arePlainPrefixes: before.arePlainPrefixes && added.arePlainPrefixes,
  };
}

/** The first problem of the hosts. */
function firstOf(hosts: readonly string[], problemOf: (host: string) => Problem | undefined): Problem | undefined {
  for (const host of hosts) {
    const problem = problemOf(host);
    if (problem !== undefined) return problem;
  }
}

/** Two hosts whose routers would have the same name: both of this rule, or one of another rule. */
function nameCollision(
  hosts: readonly string[],
  hostOf: ReadonlyMap<string, string>,
  routerName: MergeOptions['routerName'],
): Problem | undefined {
  const own = new Map<string, string>();
  return firstOf(hosts, (host) => {
    const name = routerName(host);
    const other = hostOf.get(name) ?? own.get(name);
    own.set(name, host);
    return other === undefined || other === host ? undefined : problems.nameCollision('hosts', [other, host], name);
  });
}

/** Of two rules with different ports for one host, the later is rejected. */
function portConflict(plan: RulePlan, portsOf: ReadonlyMap<string, ReadonlySet<number>>): Problem | undefined {
  const port = plan.split[0]!.port;
  return firstOf(plan.hosts, (host) => {
    const ports = portsOf.get(host);
    if (ports === undefined || ports.has(port)) return undefined;
    const all = [...ports, port].sort((a, b) => a - b);
    return problems.routerMultiplePorts(host, all);
  });
}

function hostWarnings({ host, routes }: HostRoutes): { rule: Ref; problem: Problem }[] {
  const same = [...Map.groupBy(routes, ({ match }) => matchText(match))].filter(([, each]) => each.length > 1);
  const ambiguous = same.flatMap(([text, each]) => {
    const rules = [...new Map(each.map(({ rule }) => [keyOf(rule), rule])).values()];
    const problem = problems.routeAmbiguous(host, rules, text);
    return rules.map((rule) => ({ rule, problem }));
  });
  const hidden = shadowed(routes).map(({ route, by }) => ({
    rule: route.rule,
    problem: problems.routeShadowed(host, matchText(route.match), matchText(by.match), by.rule),
  }));
  if (routes.some(({ match }) => matchesEverything(match))) return [...ambiguous, ...hidden];
  return [...ambiguous, ...hidden, { rule: routes[0]!.rule, problem: problems.noCatchAll(host) }];
}

/** Whether a match has no condition except its path. */
function isPlain({ headers, query, methods }: Match): boolean {
  return headers.length === 0 && query.length === 0 && methods.length === 0;
}

function matchesEverything(match: Match): boolean {
  const { kind, value } = match.path;
  const isAnyPath = kind === 'prefix' ? value === '/' : kind === 'regex' && isSubset('/.*', value) === true;
  return isAnyPath && isPlain(match);
}

/** A match in one line. */
function matchText({ path, headers, query, methods }: Match): string {
  const value = (each: Match['headers'][number]): string =>
    each.value === '' ? each.name : `${each.name}${each.regex ? '~' : '='}${each.value}`;
  return [
    `${path.kind} ${path.value}`,
    ...headers.map((each) => `header ${value(each)}`).sort(),
    ...query.map((each) => `parameter ${value(each)}`).sort(),
    ...(methods.length > 0 ? [`method ${methods.toSorted().join('|')}`] : []),
  ].join(', ');
}
