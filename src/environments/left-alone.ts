// What leads to a workload and gets no route of its environment, and why: named, so that nobody has to look for it.
import { keyOf } from '../kube/index.ts';
import { resolveHost } from '../traffic/istio/hosts.ts';
import { isInserted } from '../traffic/istio/inserted-routes.ts';
import { messages } from './messages.ts';
import type { HttpRoute, RouteDestination, VirtualService } from '../traffic/istio/objects.ts';
import { handledBy } from '../traffic/istio/insert-routes.ts';
import type { Insertion } from '../traffic/istio/insert-routes.ts';
import { gatewaysOf } from './lookup.ts';
import type { FoundVirtualServices } from './lookup.ts';

/** A host of the workload with the VirtualServices that lead there. */
export interface FoundHost extends FoundVirtualServices {
  readonly host: string;
  /** Whether a rule declares the environment's version of it. */
  readonly ruled: boolean;
}

/** Names the routes to these hosts that are not among those that an environment copies. */
export function leftAlone(
  found: readonly FoundHost[],
  insertionInto: (service: VirtualService) => Insertion,
): readonly string[] {
  const services = new Map<string, { service: VirtualService; roots: readonly VirtualService[] }>();
  for (const { virtualServices, leftAlone: others } of found) {
    const edited = virtualServices.map((service) => ({ service, roots: [service] }));
    for (const each of [...edited, ...others]) services.set(keyOf(each.service.metadata), each);
  }
  return [...services].flatMap(([key, { service, roots }]) => {
    const insertion = insertionInto(service);
    // Places are those that people gave them: inserted routes do not count.
    const base = (service.spec?.http ?? []).filter((route) => !isInserted(route));
    const routes = base.map((route, i) => ({ name: route.name || `http[${i}]`, route }));
    const leading = routes.filter(({ route }) => destinationsTo(found, service, insertion, route).length > 0);
    const left = leading.filter(({ route }) => !handledBy(service, insertion, route));
    // What no root names leads nobody anywhere.
    const reasons = Map.groupBy(roots.length === 0 ? [] : left, ({ route }) => {
      const [{ to, destination }] = destinationsTo(found, service, insertion, route) as [To];
      return messages.leftAlone(to.host, reasonOf(to, destination, roots, insertion));
    });
    return [...reasons].map(([text, some]) => {
      const names = some.length === leading.length ? '' : `, route ${some.map(({ name }) => name).join(', ')}`;
      return `VirtualService ${key}${names} ${text}`;
    });
  });
}

interface To {
  readonly to: FoundHost;
  readonly destination: NonNullable<RouteDestination['destination']>;
}

function destinationsTo(
  found: readonly FoundHost[],
  service: VirtualService,
  { clusterDomain }: Insertion,
  { route = [] }: HttpRoute,
): readonly To[] {
  return route.flatMap(({ destination }) => {
    const meant = resolveHost(destination?.host ?? '', service, clusterDomain);
    const to = found.find(({ host }) => host === meant);
    return to === undefined || destination === undefined ? [] : [{ to, destination }];
  });
}

function reasonOf(
  { ruled }: FoundHost,
  { subset }: To['destination'],
  roots: readonly VirtualService[],
  { defaultVersion }: Insertion,
): string {
  if (subset !== defaultVersion) {
    return `it uses ${subset ? `subset "${subset}"` : 'no subset'} there, not "${defaultVersion}"`;
  }
  if (!ruled) return `no DestinationRule declares version "${defaultVersion}" of it`;
  if (roots.some((root) => gatewaysOf(root).length > 0)) return 'routes at gateways are turned off';
  return `it is only for the mesh, and for other hosts (${roots.flatMap(({ spec }) => spec?.hosts ?? []).join(', ')})`;
}
