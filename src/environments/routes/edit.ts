// Edits the routes and the annotation of a VirtualService for some environments; nothing else of it is changed.
import { withAnnotations } from '../../kube/index.ts';
import { withRoutes } from '../../traffic/istio/insert-routes.ts';
import type { EditedRoutes } from '../../traffic/istio/insert-routes.ts';
import { isRouteOf, isRouteOfSubset } from '../../traffic/istio/inserted-routes.ts';
import type { RouteOwner } from '../../traffic/istio/inserted-routes.ts';
import type { HttpRoute, VirtualService } from '../../traffic/istio/objects.ts';
import { jsonEqual } from '../../watchable/index.ts';
import { listEnvironment, unlistEnvironment, WATCH_ANNOTATION } from '../identity/ownership.ts';
import type { DueWish } from './due.ts';

export interface EditedService {
  /** The same object if nothing changed. */
  readonly service: VirtualService;
  readonly routes: EditedRoutes;
}

/** A VirtualService with the wishes of some environments applied. */
export function editService(service: VirtualService, wishes: readonly DueWish[]): EditedService {
  const routes = withRoutes(service, wishes);
  const listed = service.metadata.annotations?.[WATCH_ANNOTATION] ?? '';
  const annotation = wishes.reduce((list, wish) => {
    if (isInvolved(service, routes.http, wish)) return listEnvironment(list, wish.environment);
    // Its name may be there already, and stays.
    return wish.isWaiting ? list : unlistEnvironment(list, wish.environment);
  }, listed);
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

/** Whether a VirtualService has or should have routes of an environment. */
function isInvolved(service: VirtualService, http: readonly HttpRoute[], wish: DueWish): boolean {
  const { owner, insertions, untouched } = wish;
  return (
    insertions.length > 0 ||
    untouched.some((workload) => http.some((route) => isRouteOfSubset(owner, workload, service, route)))
  );
}

/** Whether a wish adds no new route: it only removes some. */
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
