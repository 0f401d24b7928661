// The requests of an environment that go to other environments, whose routes come first.
import { isInserted, isRouteOfSubset } from '../../traffic/istio/inserted-routes.ts';
import type { HttpMatch, HttpRoute, VirtualService } from '../../traffic/istio/objects.ts';
import { overlapOf } from '../../traffic/prove/overlap.ts';
import { itemsOf } from '../names.ts';
import { ownerOf } from '../identity/ownership.ts';
import { titleOf } from '../routes/warnings.ts';
import { formatMatches } from './matches.ts';
import type { EnvironmentWorld } from './world.ts';

/** Requests that go to another environment, which comes first. */
export interface Exception {
  /** `x-env=pr-7`. */
  readonly match: string;
  /** `environment shop/pr-7`. */
  readonly taker: string;
}

/** The requests of an environment that earlier ones get. Requests with two keys are not included: see `overlapOf`. */
export function exceptionsTo({ env, virtualServices }: EnvironmentWorld): readonly Exception[] {
  const owner = ownerOf(env, []);
  const { subsets } = itemsOf(env);
  const found = [...virtualServices.values()].flatMap((service) => {
    const http = service.spec?.http ?? [];
    const isOurs = (route: HttpRoute): boolean => subsets.some((each) => isRouteOfSubset(owner, each, service, route));
    return http.flatMap((route, i) => {
      if (!isOurs(route)) return [];
      const earlier = http.slice(0, i).filter((each) => isInserted(each) && !isOurs(each));
      return earlier.flatMap((each) => takenBy(service, each, route.match ?? []));
    });
  });
  return [...new Map(found.map((each) => [`${each.match} ${each.taker}`, each])).values()];
}

/** The requests of some match entries that an earlier route takes. */
function takenBy(service: VirtualService, earlier: HttpRoute, own: readonly HttpMatch[]): readonly Exception[] {
  return (earlier.match ?? [])
    .filter((entry) => own.some((each) => overlapOf(keyIn(each), keyIn(entry)) !== undefined))
    .map((entry) => ({ match: formatMatches([keyIn(entry)]), taker: titleOf(service, earlier) }));
}

/** The conditions of the environment itself: the rest is that of the base route. */
function keyIn({ headers, sourceLabels }: HttpMatch): Pick<HttpMatch, 'headers' | 'sourceLabels'> {
  return { ...(headers && { headers }), ...(sourceLabels && { sourceLabels }) };
}

/** The requests, except those that others get. */
export function withExceptions(requests: string, exceptions: readonly Exception[]): string {
  const texts = exceptions.map(({ match, taker }) => `${match} (${taker})`);
  return texts.length === 0 ? requests : `${requests}, except ${texts.join(', ')}`;
}
