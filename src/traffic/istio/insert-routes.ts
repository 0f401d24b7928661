// Inserts the routes of environments into a VirtualService: a pure function of the current object and of the wishes of
// the environments, so copies follow a base route that changes, and nothing is written twice.
import { createHash } from 'node:crypto';
import type { IstioMatch } from '../../api/dynamicenv.ts';
import type { Ref } from '../../kube/objects.ts';
import { resolveHost } from './hosts.ts';
import { isInserted, isRouteOf, isRouteOfSubset, routeName } from './inserted-routes.ts';
import type { RouteOwner } from './inserted-routes.ts';
import { combine } from './matches.ts';
import type { HttpMatch, HttpRoute, RouteDestination, VirtualService } from './objects.ts';
import { hasRefusedPart, unusable } from './unusable.ts';

export const RESPONSE_HEADER = 'x-dynamic-env';

/** A workload whose requests a VirtualService should route to its clone: those that now go to one of these hosts. */
export interface Insertion {
  readonly workload: Ref;
  /** The name of the clone, which responses carry in a header. */
  readonly clone: string;
  /** Full names of the services. */
  readonly hosts: readonly string[];
  readonly defaultVersion: string;
  readonly clusterDomain: string;
}

/** The routes that an environment wants in a VirtualService. */
export interface RouteWish {
  readonly owner: RouteOwner;
  readonly matches: readonly IstioMatch[];
  readonly insertions: readonly Insertion[];
  /** Workloads whose routes are left unchanged, as the desired routes are not known at the moment, if proxies accept them. */
  readonly untouched: readonly Ref[];
  /** Why source labels can't be matched where the VirtualService applies. */
  readonly labelsProblem?: string;
}

/** The result of combining one match of an environment with one base route: a route, and any contradictions. */
export interface Copy {
  readonly wish: RouteWish;
  readonly insertion: Insertion;
  readonly base: HttpRoute;
  /** The index of the match among those of the environment. */
  readonly match: number;
  /** Absent if no request can match. */
  readonly route?: HttpRoute;
  readonly contradictions: readonly Contradiction[];
}

/** No request can match both the environment's match and this entry of the base route, or any entry if none is set. */
interface Contradiction {
  readonly entry?: number;
  readonly why: string;
}

/** The desired routes of a VirtualService, and how those of the wishes were made. */
export interface EditedRoutes {
  readonly http: readonly HttpRoute[];
  readonly copies: readonly Copy[];
}

/**
 * Inserts the routes of environments in the order of the wishes, whatever order they had, so a request with two keys
 * always goes to the same environment. Routes of environments without a wish stay where they are, and new routes are
 * inserted as late as the order allows.
 */
export function withRoutes(service: VirtualService, wishes: readonly RouteWish[]): EditedRoutes {
  const wishOf = wishFinder(service, wishes);
  const http: HttpRoute[] = [];
  const copies: Copy[] = [];
  let block: HttpRoute[] = [];
  for (const base of service.spec?.http ?? []) {
    // Inserted routes are in a block before the base route from which they were made.
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

/** The contents of a block: routes that stay, and all wishes in order, in the positions where wishes had routes. */
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
      // Each position of a wish is filled with the next wishes in order, up to one that already had routes here.
      do yield { wish: wishes[next]! };
      while (!there.has(wishes[next++]));
    }
  }
  for (const wish of wishes.slice(next)) yield { wish };
}

/** Finds the wish that recreates or removes a route; undefined for a route that stays. */
function wishFinder(
  service: VirtualService,
  wishes: readonly RouteWish[],
): (route: HttpRoute) => RouteWish | undefined {
  const byVersion = Map.groupBy(wishes, ({ owner }) => owner.version);
  const bases = (service.spec?.http ?? []).filter((route) => !isInserted(route));
  return (route) => {
    const version = route.route?.[0]?.destination?.subset ?? '';
    const isOwner = ({ owner }: RouteWish): boolean => isRouteOf(owner, service, route);
    // Nearly always the destination of the route identifies the owner; otherwise its name does.
    const wish = byVersion.get(version)?.find(isOwner) ?? wishes.find(isOwner);
    // A route that proxies refuse blocks all route updates of its port, but not more than a base route with its header.
    const isKept =
      wish?.untouched.some((workload) => isRouteOfSubset(wish.owner, workload, service, route)) &&
      !hasRefusedPart(route, bases);
    return isKept ? undefined : wish;
  };
}

/** The routes to insert before a base route: one for each workload and each of the environment's matches, in order. */
function copiesOf(service: VirtualService, wish: RouteWish, base: HttpRoute): readonly Copy[] {
  const { owner, matches, insertions } = wish;
  return insertions.flatMap((insertion) => {
    const matching = (base.route ?? []).filter((each) => leadsTo(service, insertion, each));
    if (matching.length === 0) return [];
    const destinations = rescaled(matching).map((each) => redirected(each, owner.version, insertion.clone));
    return matches.flatMap((ownMatch, i): readonly Copy[] => {
      if (unusable(ownMatch) !== undefined) return [];
      const { match, contradictions } = combined(base, ownMatch, wish.labelsProblem);
      const copy = { wish, insertion, base, match: i, contradictions };
      if (match.length === 0) return [copy];
      const route = { ...base, match, route: destinations };
      return [{ ...copy, route: { ...route, name: routeName(owner.version, insertion.workload.name, digest(route)) } }];
    });
  });
}

/** Whether a VirtualService has a base route for an insertion. */
export function handles(service: VirtualService, insertion: Insertion): boolean {
  return (service.spec?.http ?? []).some((route) => !isInserted(route) && handledBy(service, insertion, route));
}

/** Whether a base route leads to the workload of an insertion. */
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

/** Every match entry of the base route with the environment's conditions; no entries count as one empty entry. */
function combined(
  base: HttpRoute,
  ownMatch: IstioMatch,
  labelsProblem: string | undefined,
): { readonly match: readonly HttpMatch[]; readonly contradictions: readonly Contradiction[] } {
  const entries = base.match && base.match.length > 0 ? base.match : [{}];
  const problem = Object.keys(ownMatch.sourceLabels ?? {}).length > 0 ? labelsProblem : undefined;
  const results = entries.map((entry) =>
    problem === undefined ? combine(entry, ownMatch) : { contradiction: problem },
  );
  const isNever = results.every((result) => 'contradiction' in result);
  return {
    match: results.flatMap((result) => ('match' in result ? [result.match] : [])),
    contradictions: results.flatMap((result, entry) =>
      'contradiction' in result ? [{ ...(!isNever && { entry }), why: result.contradiction }] : [],
    ),
  };
}

/** A single destination needs no weight; several keep their proportions and add up to 100. */
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
  // The remainder after rounding goes to the destinations that lost most by it.
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

/** Ten hex digits of a hash over the whole route. */
function digest(route: HttpRoute): string {
  return createHash('sha256').update(canonical(route)).digest('hex').slice(0, 10);
}

/** JSON with sorted keys. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, each]) => each !== undefined);
  return `{${fields
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, each]) => `${JSON.stringify(name)}:${canonical(each)}`)
    .join(',')}}`;
}
