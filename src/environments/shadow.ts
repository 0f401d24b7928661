// Which requests earlier routes take away from later ones: a proxy goes by the first route that fits.
import { refOf } from '../kube/objects.ts';
import { environmentsOf, isInserted } from './ownership.ts';
import { includes } from '../traffic/istio/matches.ts';
import { uniqueVersion } from './names.ts';
import type { HttpMatch, HttpRoute, VirtualService } from '../traffic/istio/objects.ts';

/** The first of the earlier routes that together take every request of some match entries; undefined if any is left. */
export function takerOf(earlier: readonly HttpRoute[], match: readonly HttpMatch[]): HttpRoute | undefined {
  const takers = match.map((entry) => earlier.find((route) => takesAll(route, entry)));
  return takers.includes(undefined) ? undefined : takers[0];
}

/** Whether a route fits every request of a match entry. What a delegate's routes fit is not told here. */
function takesAll({ match = [], delegate }: HttpRoute, entry: HttpMatch): boolean {
  return delegate === undefined && (match.length === 0 || match.some((each) => includes(each, entry)));
}

/** How people know a route: by the environment that inserted it, or by its name or place among those they wrote. */
export function titleOf(service: VirtualService, route: HttpRoute): string {
  if (isInserted(route)) return `environment ${environmentOf(service, route)}`;
  const base = (service.spec?.http ?? []).filter((each) => !isInserted(each));
  return `route ${route.name || `http[${base.indexOf(route)}]`}`;
}

/** The environment that inserted a route; its version, if the service does not name it. */
function environmentOf(service: VirtualService, { route = [] }: HttpRoute): string {
  const version = route[0]?.destination?.subset ?? '';
  return environmentsOf(service).find((key) => uniqueVersion(refOf(key)) === version) ?? version;
}
