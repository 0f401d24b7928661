// A VirtualService with the routes and the names of some environments: nothing else of it is touched.
import { withAnnotations } from '../../kube/index.ts';
import { withRoutes } from '../../traffic/istio/insert-routes.ts';
import type { EditedRoutes } from '../../traffic/istio/insert-routes.ts';
import { isRouteOf, isRouteOfSubset } from '../../traffic/istio/inserted-routes.ts';
import type { RouteOwner } from '../../traffic/istio/inserted-routes.ts';
import type { HttpRoute, VirtualService } from '../../traffic/istio/objects.ts';
import { jsonEqual } from '../../watchable/index.ts';
import { listEnvironment, unlistEnvironment, WATCH_ANNOTATION } from '../ownership.ts';
import type { DueWish } from './due.ts';

export interface EditedService {
  /** The very same object when nothing differs. */
  readonly service: VirtualService;
  readonly routes: EditedRoutes;
}

/** A VirtualService as some environments want it. */
export function editService(service: VirtualService, wishes: readonly DueWish[]): EditedService {
  const routes = withRoutes(service, wishes);
  const listed = service.metadata.annotations?.[WATCH_ANNOTATION] ?? '';
  const annotation = wishes.reduce(
    (list, wish) =>
      (isInvolved(service, routes.http, wish) ? listEnvironment : unlistEnvironment)(list, wish.environment),
    listed,
  );
  const isSame = jsonEqual(routes.http, service.spec?.http ?? []);
  if (isSame && annotation === listed) return { service, routes };
  return {
    service: {
      ...withAnnotations(service, { [WATCH_ANNOTATION]: annotation }),
      spec: { ...service.spec, ...(!isSame && { http: routes.http }) },
    },
    routes,
  };
}

/** Whether a VirtualService has to do with an environment: it should have routes of it, or those that it has stay. */
function isInvolved(service: VirtualService, http: readonly HttpRoute[], wish: DueWish): boolean {
  const { owner, insertions, untouched } = wish;
  return (
    insertions.length > 0 ||
    untouched.some((workload) => http.some((route) => isRouteOfSubset(owner, workload, service, route)))
  );
}

/** Whether a wish brings no route that is not there: it only takes some away. */
export function isRemoval(service: VirtualService, wish: DueWish): boolean {
  const before = service.spec?.http ?? [];
  const { http } = withRoutes(service, [wish]);
  return routesOf(wish.owner, service, http).every((route) => before.some((each) => jsonEqual(each, route)));
}

/** The routes of an environment. */
export function routesOf(
  owner: RouteOwner,
  service: VirtualService,
  http: readonly HttpRoute[] = service.spec?.http ?? [],
): readonly HttpRoute[] {
  return http.filter((route) => isRouteOf(owner, service, route));
}
