// The common part of both App Mesh back ends: capabilities, limits, and the routes of a router.
import { problems } from '../errors.ts';
import type { Problem } from '../errors.ts';
import { regexProblem } from '../../traffic/regex/regex.ts';
import type {
  HostRoutes,
  Match,
  MeshPlan,
  Mode,
  Route,
  RouteCount,
  ServiceHost,
  ValueMatch,
  Workload,
} from '../model.ts';
import { memo } from '../memo.ts';
import { sanitize } from '../names.ts';
import { routeCount } from '../resolve/hosts.ts';
import { inOrder } from '../resolve/order.ts';
import { STEP } from '../resolve/rule.ts';
import type { RulePlan, RuleProblem } from '../resolve/rule.ts';
import type { Capabilities, Emission } from './backend.ts';
import { percentages } from './weights.ts';

export const MESH = 'AWS AppMesh';
export const PROTOCOL = 'http';

const DROPPED = { support: 'dropped', note: 'as the original does' } as const;
const NEVER = { support: 'refused', note: 'AWS App Mesh has no equivalent' } as const;
const NOT_HERE = { support: 'refused', note: 'not translated: no rule has it together with destinations' } as const;
const NOT_THEN = { support: 'refused', note: 'refused by the original' } as const;

export const CAPABILITIES: Readonly<Record<Mode, Capabilities>> = {
  compat: {
    pathPrefix: { support: 'exact', note: 'match.prefix' },
    pathExact: NOT_THEN,
    pathRegex: NOT_THEN,
    headerExact: DROPPED,
    headerRegex: DROPPED,
    headerPresence: DROPPED,
    queryExact: DROPPED,
    queryRegex: DROPPED,
    queryPresence: DROPPED,
    methods: DROPPED,
    sourceSelector: DROPPED,
    trafficShifting: { support: 'approximate', note: 'whole percentages; the rest goes to the first destination' },
    subset: DROPPED,
    faultInjection: NOT_THEN,
    requestTimeout: NOT_THEN,
    retries: NOT_THEN,
    corsPolicy: NOT_THEN,
    mirror: NOT_THEN,
    headerManipulation: NOT_THEN,
  },
  strict: {
    pathPrefix: { support: 'exact', note: 'match.prefix' },
    pathExact: { support: 'exact', note: 'match.path.exact' },
    pathRegex: { support: 'exact', note: 'match.path.regex' },
    headerExact: { support: 'exact', note: 'match.headers' },
    headerRegex: { support: 'exact', note: 'match.headers' },
    headerPresence: { support: 'exact', note: 'match.headers' },
    queryExact: { support: 'exact', note: 'match.queryParameters' },
    queryRegex: { support: 'refused', note: 'AWS App Mesh compares query parameters with exact values only' },
    queryPresence: { support: 'exact', note: 'match.queryParameters' },
    methods: { support: 'approximate', note: 'one route for each' },
    sourceSelector: { support: 'refused', note: 'routes of AWS App Mesh are the same for all clients' },
    trafficShifting: { support: 'approximate', note: 'whole percentages; the rest goes to the first with a weight' },
    subset: { support: 'refused', note: 'pods that get requests of their own need a service of their own' },
    faultInjection: NEVER,
    requestTimeout: NOT_HERE,
    retries: NOT_HERE,
    corsPolicy: NEVER,
    mirror: NEVER,
    headerManipulation: NEVER,
  },
};

const MAX_TARGETS = 10;
const MAX_CONDITIONS = 10;
const LONGEST_PATH = 255;
const LONGEST_HEADER = 50;
const LONGEST_VALUE = 255;
/** Priorities are 0 to 1000. */
const MAX_ORDERED = 1001;
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'];

/** The limits of AWS that a rule exceeds. */
export function limits({ rule, matches, split }: RulePlan): readonly RuleProblem[] {
  const found: RuleProblem[] = matches.flatMap(({ index, match }) => {
    const { path } = match;
    const step = STEP.matchers;
    if (path.kind !== 'regex' && !path.value.startsWith('/')) {
      return [{ ...problems.pathInvalid(rule, index, path.value), step, index }];
    }
    const regex = brokenRegex(match);
    if (regex !== undefined) return [{ ...problems.regexInvalid(rule, index, ...regex), step, index }];
    const broken = brokenLimit(match);
    if (broken === undefined) return [];
    const [type, why] = broken;
    return [{ ...problems.matcherUnsupported(rule, type, `spec.requestMatchers[${index}]: ${why}`), step, index }];
  });
  if (split.length > MAX_TARGETS) {
    found.push({ ...problems.tooManyTargets(rule, split.length, MAX_TARGETS), step: STEP.limits, index: 0 });
  }
  return found;
}

/** A regular expression that Envoy would refuse, together with all routes of its port. */
function brokenRegex({ path, headers }: Match): readonly [regex: string, why: string] | undefined {
  const values = headers.filter(({ value, regex }) => regex && value !== '').map(({ value }) => value);
  for (const regex of path.kind === 'regex' ? [path.value, ...values] : values) {
    const why = regexProblem(regex);
    if (why !== undefined) return [regex, why];
  }
}

function brokenLimit({ path, headers, query, methods }: Match): readonly [type: string, why: string] | undefined {
  if (path.kind !== 'prefix' && path.value.length > LONGEST_PATH) {
    return [path.kind, `the path has ${path.value.length} characters; AWS App Mesh allows ${LONGEST_PATH}`];
  }
  if (headers.length > MAX_CONDITIONS)
    return ['headers', `${headers.length} headers; AWS App Mesh allows ${MAX_CONDITIONS}`];
  if (query.length > MAX_CONDITIONS) {
    return ['query parameters', `${query.length} parameters; AWS App Mesh allows ${MAX_CONDITIONS}`];
  }
  const header = headers.find(({ name }) => name === '' || name.length > LONGEST_HEADER);
  if (header) return ['header', `the name ${JSON.stringify(header.name)} must have 1 to ${LONGEST_HEADER} characters`];
  if (query.some(({ name }) => name === '')) return ['query parameter', 'one has no name'];
  const long = [...headers, ...query].find(({ value }) => value.length > LONGEST_VALUE);
  if (long)
    return ['value', `that of ${long.name} has ${long.value.length} characters; AWS App Mesh allows ${LONGEST_VALUE}`];
  const method = methods.find((each) => !METHODS.includes(each));
  if (method !== undefined) return ['method', `${JSON.stringify(method)} is none of ${METHODS.join(', ')}`];
}

/** A route of a router, in the form that both back ends share. */
export interface AppMeshRoute {
  readonly name: string;
  readonly priority?: number;
  readonly match: object;
  readonly targets: readonly { readonly workload: string; readonly weight: number }[];
}

/** A route for at most one method. */
interface SingleRoute {
  readonly route: Route;
  readonly method: string | undefined;
}

/** The routes of a host, numbered in their order. */
export function routesOf({ host, routes }: HostRoutes, mode: Mode): readonly AppMeshRoute[] {
  const single = routes.flatMap((route): SingleRoute[] => {
    const { methods } = route.match;
    return methods.length === 0 ? [{ route, method: undefined }] : methods.map((method) => ({ route, method }));
  });
  const priorities = prioritiesOf(routes, single);
  const router = sanitize(host);
  return single.map((each, index) => {
    const priority = priorities?.get(each);
    const { split, match } = each.route;
    const shares = percentages(
      split.map(({ weight }) => weight),
      mode,
    );
    return {
      name: `${router}-${index}`,
      ...(priority !== undefined && { priority }),
      match: matchOf(match, each.method),
      targets: split.map(({ workload }, i) => ({ workload, weight: shares[i]! })),
    };
  });
}

/**
 * The priorities of routes, if AWS App Mesh needs them: among plain prefixes the longest wins anyway, and the routes of
 * one matcher never compete.
 */
function prioritiesOf(
  routes: readonly Route[],
  single: readonly SingleRoute[],
): ReadonlyMap<SingleRoute, number> | undefined {
  if (!needsPriorities(routeCount(routes))) return undefined;
  const byRoute = Map.groupBy(single, ({ route }) => route);
  return new Map(
    inOrder(routes)
      .flatMap((route) => byRoute.get(route)!)
      .map((each, index) => [each, index]),
  );
}

/** Whether the routes of a host need priorities. */
function needsPriorities({ matchers, arePlainPrefixes }: RouteCount): boolean {
  return matchers > 1 && !arePlainPrefixes;
}

/** Why a host cannot have this many routes. */
export function hostLimit(host: string, count: RouteCount): Problem | undefined {
  const { routes } = count;
  return routes > MAX_ORDERED && needsPriorities(count) ? problems.tooManyRoutes(host, routes, MAX_ORDERED) : undefined;
}

function matchOf({ path, headers, query }: Match, method: string | undefined): object {
  return {
    ...(path.kind === 'prefix' ? { prefix: path.value } : { path: { [path.kind]: path.value } }),
    ...(method !== undefined && { method }),
    ...(headers.length > 0 && { headers: headers.map(conditionOf) }),
    ...(query.length > 0 && { queryParameters: query.map(conditionOf) }),
  };
}

function conditionOf({ name, value, regex }: ValueMatch): object {
  return value === '' ? { name } : { name, match: regex ? { regex: value } : { exact: value } };
}

/** The workloads of a mesh by id; computed once for all its routers. */
export const workloadsById = memo(
  ({ workloads }: Topology): ReadonlyMap<string, Workload> => new Map(workloads.map((each) => [each.id, each])),
);

/** A virtual service and its provider. */
export interface AppMeshService {
  readonly host: string;
  readonly service: ServiceHost['service'];
  readonly provider: { readonly router: string } | { readonly workload: string };
}

/** A mesh without the contents of its routes: the input for everything except routers. */
export interface Topology extends Pick<MeshPlan, 'mesh' | 'name' | 'workloads' | 'services' | 'connectivity'> {
  /** Hosts that have routes, in order. */
  readonly routed: readonly string[];
}

export function topologyOf({ mesh, name, workloads, services, connectivity, hostRoutes }: MeshPlan): Topology {
  return { mesh, name, workloads, services, connectivity, routed: hostRoutes.map(({ host }) => host) };
}

/** The virtual services of a mesh, by host: those with routes and, with connectivity `all`, one for every workload. */
export function servicesOf({ services, routed: hosts, connectivity }: Topology): readonly AppMeshService[] {
  const routed = new Set(hosts);
  return services.flatMap(({ host, service, workload }): AppMeshService[] => {
    if (routed.has(host)) return [{ host, service, provider: { router: sanitize(host) } }];
    return connectivity === 'all' && workload !== undefined ? [{ host, service, provider: { workload } }] : [];
  });
}

/** The backends of each workload: one for every virtual service except its own. Workloads share the values. */
export function backendsOf<T>(
  workloads: readonly Workload[],
  services: readonly AppMeshService[],
  make: (service: AppMeshService) => T,
): ReadonlyMap<Workload, readonly T[]> {
  const all = services.map(make);
  const placeOf = new Map(services.map(({ host }, index) => [host, index]));
  return new Map(
    workloads.map((workload) => {
      const own = workload.host === undefined ? undefined : placeOf.get(workload.host);
      return [workload, own === undefined ? all : all.toSpliced(own, 1)];
    }),
  );
}

/** Two hosts whose routers would have the same name. */
export function routerCollision({ routed }: Topology): Problem | undefined {
  const hostOf = new Map<string, string>();
  for (const host of routed) {
    const name = sanitize(host);
    const other = hostOf.get(name);
    if (other !== undefined) return problems.nameCollision('hosts', [other, host], name);
    hostOf.set(name, host);
  }
}

/** The parts of a mesh, one function each, so that a change recomputes only the affected parts. */
export interface Parts<T> {
  /** Why the mesh cannot be emitted. */
  problem(topology: Topology, mode: Mode): Problem | undefined;
  warnings(topology: Topology): readonly Problem[];
  mesh(topology: Topology): T | undefined;
  nodes(topology: Topology): readonly T[];
  /** The router of a host with its routes. */
  router(topology: Topology, routes: HostRoutes, mode: Mode): readonly T[];
  services(topology: Topology): readonly T[];
}

/** All parts of a mesh, in the order in which they are created. */
export function allParts<T>(parts: Parts<T>, plan: MeshPlan, mode: Mode): Emission<readonly T[]> {
  const topology = topologyOf(plan);
  const failure = parts.problem(topology, mode);
  if (failure !== undefined) return { failure };
  const mesh = parts.mesh(topology);
  const output = [
    ...(mesh === undefined ? [] : [mesh]),
    ...parts.nodes(topology),
    ...plan.hostRoutes.flatMap((routes) => parts.router(topology, routes, mode)),
    ...parts.services(topology),
  ];
  return { output, warnings: parts.warnings(topology) };
}
