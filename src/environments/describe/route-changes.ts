// Which routes of environments come and go when a VirtualService is edited: what a plan shows of the edit.
import type { HttpRoute, VirtualService } from '../../traffic/istio/objects.ts';
import { isInserted } from '../../traffic/istio/inserted-routes.ts';
import { formatRoute } from './matches.ts';

export interface RouteChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** The routes that an edit adds and removes. */
export function routeChanges(from: VirtualService, to: VirtualService): RouteChanges {
  const inserted = ({ spec }: VirtualService): readonly HttpRoute[] => (spec?.http ?? []).filter(isInserted);
  const [before, after] = [inserted(from), inserted(to)];
  const without = (routes: readonly HttpRoute[], others: readonly HttpRoute[]): string[] =>
    routes.filter(({ name }) => !others.some((other) => other.name === name)).map(formatRoute);
  return { added: without(after, before), removed: without(before, after) };
}
