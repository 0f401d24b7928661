// Why routes of an environment get no requests: earlier routes take all of them, or Istio ignores the routes. For the
// status, and for the number of routes in Events.
import { keyOf } from '../../kube/index.ts';
import { isRouteOf } from '../../traffic/istio/inserted-routes.ts';
import type { RouteOwner } from '../../traffic/istio/inserted-routes.ts';
import type { HttpRoute, VirtualService } from '../../traffic/istio/objects.ts';
import { takerOf } from '../../traffic/istio/shadow.ts';
import { conflictsOf, ownRoots } from '../lookup/roots.ts';
import type { Roots } from '../lookup/roots.ts';
import { titleOf } from './warnings.ts';

/** Why a route gets no requests. */
export type Obstacle = { readonly taker: string } | { readonly ignored: string };

/** For each own route of a VirtualService: its obstacle, if any. */
export function obstaclesIn(
  service: VirtualService,
  isOwn: (route: HttpRoute) => boolean,
  roots: Roots = ownRoots(service),
): (Obstacle | undefined)[] {
  const http = service.spec?.http ?? [];
  return http.flatMap((route, i): readonly (Obstacle | undefined)[] => {
    if (!isOwn(route)) return [];
    if (roots.isIgnored) return roots.superseded.map((ignored) => ({ ignored }));
    const conflicts = conflictsOf(roots, route);
    if (conflicts.length > 0 && conflicts.length === roots.delegating.length) return [{ ignored: conflicts[0]! }];
    const earlier = http.slice(0, i).filter((each) => !isOwn(each));
    const taker = takerOf(earlier, route.match ?? [{}]);
    const name = keyOf(service.metadata);
    return [taker?.isCertain ? { taker: `${titleOf(service, taker.route)} in VirtualService ${name}` } : undefined];
  });
}

/** How many routes of a VirtualService lead requests to an environment, as text. */
export function routeCount(service: VirtualService, owner: RouteOwner, roots?: Roots): string {
  const obstacles = obstaclesIn(service, (route) => isRouteOf(owner, service, route), roots);
  const count = obstacles.filter((each) => each === undefined).length;
  const routes = count === 0 ? 'no route leads' : count === 1 ? '1 route leads' : `${count} routes lead`;
  return `VirtualService ${keyOf(service.metadata)}: ${routes} to the environment`;
}
