// Warnings about routes of an environment that match no request, or whose requests other routes take.
import { refOf } from '../../kube/objects.ts';
import { handledBy } from '../../traffic/istio/insert-routes.ts';
import type { Copy, EditedRoutes } from '../../traffic/istio/insert-routes.ts';
import { isInserted, isRouteOfSubset } from '../../traffic/istio/inserted-routes.ts';
import type { HttpRoute, VirtualService } from '../../traffic/istio/objects.ts';
import { takerOf } from '../../traffic/istio/shadow.ts';
import { messages } from '../status/messages.ts';
import { uniqueVersion } from '../names.ts';
import { environmentsOf } from '../identity/ownership.ts';
import { conflictsOf } from '../lookup/roots.ts';
import type { Roots } from '../lookup/roots.ts';

/** The warnings, each beginning with the base route that it is about. */
export function routeWarnings(
  service: VirtualService,
  { http, copies }: EditedRoutes,
  roots: Roots,
  titleOfMatch: (match: number) => string,
): readonly string[] {
  const warnings = copies.flatMap((copy) => {
    const { base, insertion } = copy;
    const match = titleOfMatch(copy.match);
    const about = `${insertion.workload.namespace}/${insertion.workload.name}`;
    const texts = [
      ...copy.contradictions.map(({ entry, why }) => `${messages.fitsNothing(match, entry, why)} (${about})`),
      ...shadows(service, http, copy, match, about),
      ...(copy.route === undefined ? [] : conflictsOf(roots, copy.route)).map((why) =>
        messages.routeLeftOut(match, about, why),
      ),
    ];
    return texts.map((text) => `${base.name ? `, route ${base.name}` : ''}: ${text}`);
  });
  return [...new Set(warnings)];
}

/** Which earlier route takes the requests of a copy, if any. */
function shadows(
  service: VirtualService,
  http: readonly HttpRoute[],
  copy: Copy,
  match: string,
  about: string,
): readonly string[] {
  const { route, wish, insertion } = copy;
  if (route === undefined) return [];
  // If a base route has a copy, that copy takes the requests with the key.
  const earlier = http
    .slice(0, http.indexOf(route))
    .filter(
      (each) =>
        !isRouteOfSubset(wish.owner, insertion.workload, service, each) &&
        (isInserted(each) || !handledBy(service, insertion, each)),
    );
  const taker = takerOf(earlier, route.match ?? [{}]);
  if (taker === undefined) return [];
  const text = taker.isCertain ? messages.shadowed : messages.mayBeShadowed;
  return [text(titleOf(service, taker.route), match, about)];
}

/** The title of a route: the environment that inserted it, or its name or position among the base routes. */
export function titleOf(service: VirtualService, route: HttpRoute): string {
  if (isInserted(route)) return `environment ${environmentOf(service, route)}`;
  const base = (service.spec?.http ?? []).filter((each) => !isInserted(each));
  return `route ${route.name || `http[${base.indexOf(route)}]`}`;
}

/** The environment that inserted a route; its version, if the VirtualService does not name it. */
function environmentOf(service: VirtualService, { route = [] }: HttpRoute): string {
  const version = route[0]?.destination?.subset ?? '';
  return environmentsOf(service).find((key) => uniqueVersion(refOf(key)) === version) ?? version;
}
