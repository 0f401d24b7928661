// A readable change of a VirtualService: route by route, instead of two long lists.
import type { Change, FieldChange } from '../../controller/index.ts';
import type { KubeObject } from '../../kube/index.ts';
import { isInserted } from '../../traffic/istio/inserted-routes.ts';
import type { HttpRoute, VirtualService } from '../../traffic/istio/objects.ts';
import { jsonEqual } from '../../watchable/index.ts';
import { formatRoute } from '../describe/matches.ts';

const ROUTES = 'spec.http';

/** A change with one field for each added, changed or removed route of an environment. */
export function withRouteFields(change: Change): Change {
  const { kind, before, after, fields } = change;
  if (kind.kind !== 'VirtualService' || before === undefined || after === undefined) return change;
  const [from, to] = [routesIn(before), routesIn(after)];
  const others = (http: readonly HttpRoute[]): readonly HttpRoute[] => http.filter((route) => !isInserted(route));
  const routes = routeFields(from.filter(isInserted), to.filter(isInserted));
  // If other routes or only the order change, the full lists are kept.
  if (routes.length === 0 || !jsonEqual(others(from), others(to))) return change;
  return { ...change, fields: [...fields.filter(({ path }) => !path.startsWith(ROUTES)), ...routes] };
}

function routesIn(service: KubeObject): readonly HttpRoute[] {
  return (service as VirtualService).spec?.http ?? [];
}

function routeFields(from: readonly HttpRoute[], to: readonly HttpRoute[]): readonly FieldChange[] {
  const byName = (http: readonly HttpRoute[]) => new Map(http.map((route) => [route.name ?? '', route]));
  const [before, after] = [byName(from), byName(to)];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((name): readonly FieldChange[] => {
    const [one, other] = [before.get(name), after.get(name)];
    if (jsonEqual(one, other)) return [];
    const text = { ...(one && { before: formatRoute(one) }), ...(other && { after: formatRoute(other) }) };
    // If both texts are the same, only the routes themselves show the change.
    const isDifferent = text.before !== text.after;
    return [
      {
        path: `${ROUTES}[${name}]`,
        ...(one && { before: one }),
        ...(other && { after: other }),
        ...(isDifferent && { text }),
      },
    ];
  });
}
