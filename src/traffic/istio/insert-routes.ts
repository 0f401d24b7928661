// The routes of a VirtualService with those of environments in their places: a pure function of the service as it is and
// of what they want, so a base route that changes is followed, and nothing is written twice.
import { createHash } from 'node:crypto';
import type { IstioMatch } from '../../api/dynamicenv.ts';
import type { Ref } from '../../kube/objects.ts';
import { resolveHost } from './hosts.ts';
import { isInserted, isRouteOf, isRouteOfSubset, routeName } from './inserted-routes.ts';
import type { RouteOwner } from './inserted-routes.ts';
import { combine, unusable } from './matches.ts';
import type { HttpMatch, HttpRoute, RouteDestination, VirtualService } from './objects.ts';

export const RESPONSE_HEADER = 'x-dynamic-env';

/** A workload whose requests a VirtualService should lead to its clone: those that go to one of these hosts now. */
export interface Insertion {
  readonly workload: Ref;
  /** The name of the clone, which answers tell. */
  readonly clone: string;
  /** Full names of the services. */
  readonly hosts: readonly string[];
  readonly defaultVersion: string;
  readonly clusterDomain: string;
}

/** What an environment wants of a VirtualService. */
export interface RouteWish {
  readonly owner: RouteOwner;
  readonly matches: readonly IstioMatch[];
  readonly insertions: readonly Insertion[];
  /** Workloads whose routes stay as they are: what they should be can't be told at the moment. */
  readonly untouched: readonly Ref[];
  /** Why callers with some labels can't be told from others where the VirtualService works. */
  readonly labelsProblem?: string;
}

/** What came of one match of an environment at one base route: a route, and what people should know about it. */
export interface Copy {
  readonly wish: RouteWish;
  readonly insertion: Insertion;
  readonly base: HttpRoute;
  /** The place of the match among those of the environment. */
  readonly match: number;
  /** Absent if no request fits. */
  readonly route?: HttpRoute;
  readonly contradictions: readonly Contradiction[];
}

/** No request fits both the environment's match and this match entry of the base route; any of them, if none is named. */
interface Contradiction {
  readonly entry?: number;
  readonly why: string;
}

/** The routes that a VirtualService should have, and how those of the wishes came about. */
export interface EditedRoutes {
  readonly http: readonly HttpRoute[];
  readonly copies: readonly Copy[];
}

/**
 * Puts the routes of some environments in their places, in the order of the wishes, whatever order they had: so a request
 * that carries two keys always goes to the same environment. Routes of environments that nobody speaks for here stay
 * where they are, and new ones come as far back as the order allows.
 */
export function withRoutes(service: VirtualService, wishes: readonly RouteWish[]): EditedRoutes {
  const wishOf = wishFinder(service, wishes);
  const http: HttpRoute[] = [];
  const copies: Copy[] = [];
  let block: HttpRoute[] = [];
  for (const base of service.spec?.http ?? []) {
    // Inserted routes stand in blocks before the base route that they were made from.
    if (isInserted(base)) {
      block.push(base);
      continue;
    }
    const made = new Map(wishes.map((wish) => [wish, copiesOf(service, wish, base)]));
    const insert = (wish: RouteWish): void => {
      const own = made.get(wish) ?? [];
      made.delete(wish);
      copies.push(...own);
      http.push(...own.flatMap(({ route }) => (route === undefined ? [] : [route])));
    };
    for (const place of placesIn(block, wishes, wishOf)) {
      if ('wish' in place) insert(place.wish);
      else http.push(place.stays);
    }
    http.push(base);
    block = [];
  }
  http.push(...block.filter((route) => wishOf(route) === undefined));
  return { http, copies };
}

/** What stands in a block: routes that stay, and all wishes in their order, those that had routes there in these places. */
function* placesIn(
  block: readonly HttpRoute[],
  wishes: readonly RouteWish[],
  wishOf: (route: HttpRoute) => RouteWish | undefined,
): Generator<{ readonly stays: HttpRoute } | { readonly wish: RouteWish }> {
  const found = block.map(wishOf);
  const there = new Set(found);
  const places = new Set<RouteWish>();
  let next = 0;
  for (const [i, route] of block.entries()) {
    const wish = found[i];
    if (wish === undefined) yield { stays: route };
    else if (!places.has(wish)) {
      places.add(wish);
      // The place of some wish is that of the next one in order; those before it that had none come along.
      do yield { wish: wishes[next]! };
      while (!there.has(wishes[next++]));
    }
  }
  for (const wish of wishes.slice(next)) yield { wish };
}

/** Tells by whose wish a route is recreated or goes; undefined for one that stays. */
function wishFinder(
  service: VirtualService,
  wishes: readonly RouteWish[],
): (route: HttpRoute) => RouteWish | undefined {
  const byVersion = Map.groupBy(wishes, ({ owner }) => owner.version);
  return (route) => {
    const version = route.route?.[0]?.destination?.subset ?? '';
    const isOwner = ({ owner }: RouteWish): boolean => isRouteOf(owner, service, route);
    // Nearly always it is told by where the route leads; else by its name.
    const wish = byVersion.get(version)?.find(isOwner) ?? wishes.find(isOwner);
    const isKept = wish?.untouched.some((workload) => isRouteOfSubset(wish.owner, workload, service, route));
    return isKept ? undefined : wish;
  };
}

/** What to insert before a base route: a route for each workload and each of the environment's matches, in order. */
function copiesOf(service: VirtualService, wish: RouteWish, base: HttpRoute): readonly Copy[] {
  const { owner, matches, insertions } = wish;
  return insertions.flatMap((insertion) => {
    const matching = (base.route ?? []).filter((each) => leadsTo(service, insertion, each));
    if (matching.length === 0) return [];
    const destinations = rescaled(matching).map((each) => redirected(each, owner.version, insertion.clone));
    return matches.flatMap((wanted, i): readonly Copy[] => {
      if (unusable(wanted) !== undefined) return [];
      const { match, contradictions } = combined(base, wanted, wish.labelsProblem);
      const copy = { wish, insertion, base, match: i, contradictions };
      if (match.length === 0) return [copy];
      const route = { ...base, match, route: destinations };
      return [{ ...copy, route: { ...route, name: routeName(owner.version, insertion.workload.name, digest(route)) } }];
    });
  });
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
  base: HttpRoute,
  wanted: IstioMatch,
  labelsProblem: string | undefined,
): { readonly match: readonly HttpMatch[]; readonly contradictions: readonly Contradiction[] } {
  const entries = base.match && base.match.length > 0 ? base.match : [{}];
  const problem = Object.keys(wanted.sourceLabels ?? {}).length > 0 ? labelsProblem : undefined;
  const results = entries.map((entry) => (problem === undefined ? combine(entry, wanted) : { contradiction: problem }));
  const isNever = results.every((result) => 'contradiction' in result);
  return {
    match: results.flatMap((result) => ('match' in result ? [result.match] : [])),
    contradictions: results.flatMap((result, entry) =>
      'contradiction' in result ? [{ ...(!isNever && { entry }), why: result.contradiction }] : [],
    ),
  };
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
