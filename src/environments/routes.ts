// The routes of a VirtualService with those of one environment in their places: a pure function of the service as it
// is and of what the environment wants, so a base route that changes is followed, and nothing is written twice.
import { createHash } from 'node:crypto';
import type { DynamicEnv, IstioMatch, Subset } from '../api/dynamicenv.ts';
import { resolveHost } from '../traffic/istio/hosts.ts';
import { isInserted, isRouteOf, isRouteOfSubset } from './ownership.ts';
import type { Owner } from './ownership.ts';
import { combine, unusable } from '../traffic/istio/matches.ts';
import { messages } from './messages.ts';
import { cloneName, RESPONSE_HEADER, routeName, statusKey } from './names.ts';
import type { HttpMatch, HttpRoute, RouteDestination, VirtualService } from '../traffic/istio/objects.ts';
import { conflictsOf, labelsProblem, ownRoots } from './roots.ts';
import type { Roots } from './roots.ts';
import { takerOf, titleOf } from './shadow.ts';

/** A subset whose requests a VirtualService shall lead to its clone: those that go to one of these hosts now. */
export interface Insertion {
  readonly subset: Subset;
  /** Full names of the services. */
  readonly hosts: readonly string[];
  readonly defaultVersion: string;
  readonly clusterDomain: string;
}

/** What an environment wants of a VirtualService. */
export interface Wishes {
  readonly env: DynamicEnv;
  readonly owner: Owner;
  readonly insertions: readonly Insertion[];
  /** Subsets whose routes stay as they are: what they should be can't be told at the moment. */
  readonly untouched: readonly Subset[];
  /** By whose hosts and gateways the VirtualService works; by its own unless told. */
  readonly roots?: Roots;
}

/** The routes that a VirtualService shall have, and what people should know about those that could not be made. */
export function withRoutes(
  service: VirtualService,
  { env, owner, insertions, untouched, roots = ownRoots(service) }: Wishes,
): { readonly http: readonly HttpRoute[]; readonly warnings: readonly string[] } {
  const isOurs = (route: HttpRoute): boolean =>
    isRouteOf(owner, service, route) && !untouched.some((subset) => isRouteOfSubset(owner, subset, service, route));
  const http: HttpRoute[] = [];
  const warnings = new Set<string>();
  let block: HttpRoute[] = [];
  for (const route of service.spec?.http ?? []) {
    // Inserted routes stand in blocks before the base route that they were made from.
    if (isInserted(route)) {
      block.push(route);
      continue;
    }
    const warn = (text: string): unknown => warnings.add(`${route.name ? `, route ${route.name}` : ''}: ${text}`);
    const place = placeIn(block, isOurs);
    http.push(...place.before);
    for (const insertion of insertions)
      http.push(...inserted(service, env, owner, insertion, route, http, roots, warn));
    http.push(...place.after, route);
    block = [];
  }
  http.push(...block.filter((route) => !isOurs(route)));
  return { http, warnings: [...warnings] };
}

/**
 * The routes of others between which those of the environment stand: where they stood, or at the end if there were none.
 * So environments that arrive later come later, and no two of them ever change places back and forth.
 */
function placeIn(
  block: readonly HttpRoute[],
  isOurs: (route: HttpRoute) => boolean,
): { readonly before: readonly HttpRoute[]; readonly after: readonly HttpRoute[] } {
  const first = block.findIndex(isOurs);
  const others = block.filter((route) => !isOurs(route));
  return first < 0 ? { before: others, after: [] } : { before: others.slice(0, first), after: others.slice(first) };
}

/** The routes to insert before a base route for one subset: one for each of the environment's matches, in order. */
function inserted(
  service: VirtualService,
  env: DynamicEnv,
  owner: Owner,
  insertion: Insertion,
  base: HttpRoute,
  before: readonly HttpRoute[],
  roots: Roots,
  warn: (text: string) => void,
): HttpRoute[] {
  const matching = (base.route ?? []).filter((each) => leadsTo(service, insertion, each));
  if (matching.length === 0) return [];
  const { subset } = insertion;
  const destinations = rescaled(matching).map((each) =>
    redirected(each, owner.version, cloneName(env.metadata, subset)),
  );
  // Of a base route that has a copy, that copy takes what carries the key.
  const earlier = before.filter(
    (route) =>
      !isRouteOfSubset(owner, subset, service, route) && (isInserted(route) || !handledBy(service, insertion, route)),
  );
  const routes: HttpRoute[] = [];
  for (const [i, wanted] of (env.spec?.istioMatches ?? []).entries()) {
    if (unusable(wanted) !== undefined) continue;
    const match = combined(roots, base, wanted, i, (text) => warn(`${text} (${statusKey(subset)})`));
    if (match.length === 0) continue;
    const taker = takerOf(earlier, match);
    if (taker !== undefined) {
      const text = taker.isCertain ? messages.shadowed : messages.mayBeShadowed;
      warn(text(titleOf(service, taker.route), i, statusKey(subset)));
    }
    const route = { ...base, match, route: destinations };
    for (const why of conflictsOf(roots, route)) warn(messages.routeLeftOut(i, statusKey(subset), why));
    routes.push({ ...route, name: routeName(env.metadata, subset, digest(route)) });
  }
  return routes;
}

/** Whether a route has a destination that an insertion is about. */
export function handles(service: VirtualService, insertion: Insertion): boolean {
  return (service.spec?.http ?? []).some((route) => !isInserted(route) && handledBy(service, insertion, route));
}

/** Whether a base route is one that an insertion is made from. */
export function handledBy(service: VirtualService, insertion: Insertion, { route = [] }: HttpRoute): boolean {
  return route.some((each) => leadsTo(service, insertion, each));
}

function leadsTo(service: VirtualService, insertion: Insertion, { destination }: RouteDestination): boolean {
  return (
    destination?.host !== undefined &&
    destination.subset === insertion.defaultVersion &&
    insertion.hosts.includes(resolveHost(destination.host, service, insertion.clusterDomain))
  );
}

/** Every match entry of the base with the environment's conditions; one without entries has one that asks nothing. */
function combined(
  roots: Roots,
  base: HttpRoute,
  wanted: IstioMatch,
  index: number,
  warn: (text: string) => void,
): HttpMatch[] {
  const entries = base.match && base.match.length > 0 ? base.match : [{}];
  const hasLabels = Object.keys(wanted.sourceLabels ?? {}).length > 0;
  const problem = hasLabels ? labelsProblem(roots) : undefined;
  const results = entries.map((entry) => (problem === undefined ? combine(entry, wanted) : { contradiction: problem }));
  const isNever = results.every((result) => 'contradiction' in result);
  return results.flatMap((result, i) => {
    if (!('contradiction' in result)) return [result.match];
    warn(messages.fitsNothing(index, isNever ? undefined : i, result.contradiction));
    return [];
  });
}

/** One destination needs no weight; several keep their proportion and add up to 100. */
function rescaled(destinations: readonly RouteDestination[]): readonly RouteDestination[] {
  if (destinations.length === 1) {
    const { weight: _weight, ...only } = destinations[0]!;
    return [only];
  }
  const total = destinations.reduce((sum, { weight = 0 }) => sum + weight, 0);
  const shares = destinations.map(({ weight = 0 }) =>
    total === 0 ? 100 / destinations.length : (weight * 100) / total,
  );
  const weights = shares.map(Math.floor);
  // What rounding left goes to those that lost most by it, the first of equals first.
  const byLoss = shares
    .map((share, i) => ({ i, loss: share - weights[i]! }))
    .sort((a, b) => b.loss - a.loss || a.i - b.i);
  const missing = 100 - weights.reduce((sum, weight) => sum + weight, 0);
  for (const { i } of byLoss.slice(0, missing)) weights[i]!++;
  return destinations.map((each, i) => ({ ...each, weight: weights[i]! }));
}

function redirected(each: RouteDestination, version: string, clone: string): RouteDestination {
  const { headers, destination } = each;
  const add = { ...headers?.response?.add, [RESPONSE_HEADER]: clone };
  return {
    ...each,
    destination: { ...destination, subset: version },
    headers: { ...headers, response: { ...headers?.response, add } },
  };
}

/** Ten hex digits that stand for a route and change with anything in it. */
function digest(route: HttpRoute): string {
  return createHash('sha256').update(canonical(route)).digest('hex').slice(0, 10);
}

/** JSON with the fields of every object in order. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, each]) => each !== undefined);
  return `{${fields
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, each]) => `${JSON.stringify(name)}:${canonical(each)}`)
    .join(',')}}`;
}
