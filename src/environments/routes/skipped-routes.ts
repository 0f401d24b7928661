// Names the routes to a workload that get no route of its environment beside them, and why.
import { keyOf } from '../../kube/index.ts';
import { resolveHost } from '../../traffic/istio/hosts.ts';
import { isInserted } from '../../traffic/istio/inserted-routes.ts';
import { messages } from '../status/messages.ts';
import type { HttpRoute, RouteDestination, StreamRoute, VirtualService } from '../../traffic/istio/objects.ts';
import { handledBy } from '../../traffic/istio/insert-routes.ts';
import type { Insertion } from '../../traffic/istio/insert-routes.ts';
import { streamRoutes } from '../../traffic/istio/stream-routes.ts';
import type { NamedStreamRoute } from '../../traffic/istio/stream-routes.ts';
import { gatewaysOf } from '../lookup/lookup.ts';
import type { FoundVirtualServices } from '../lookup/lookup.ts';

/** A host of the workload with the VirtualServices that lead there. */
export interface FoundHost extends FoundVirtualServices {
  readonly host: string;
  /** Whether a rule declares the environment's version for the host. */
  readonly ruled: boolean;
}

/** Warnings for the routes to these hosts that an environment does not copy. */
export function skippedRoutes(
  found: readonly FoundHost[],
  insertionInto: (service: VirtualService) => Insertion,
): readonly string[] {
  const services = new Map<string, { service: VirtualService; roots: readonly VirtualService[] }>();
  for (const { virtualServices, skipped: others } of found) {
    const edited = virtualServices.map((service) => ({ service, roots: [service] }));
    for (const each of [...edited, ...others]) services.set(keyOf(each.service.metadata), each);
  }
  return [...services].flatMap(([key, { service, roots }]) => {
    const insertion = insertionInto(service);
    const leading = [...httpIn(service, insertion), ...streamRoutes(service)].filter(
      ({ route }) => destinationsTo(found, service, insertion, route).length > 0,
    );
    const left = leading.filter((each) => !('isHandled' in each && each.isHandled));
    // A delegate without a root has no effect.
    const reasons = Map.groupBy(roots.length === 0 ? [] : left, (each) => {
      const [first, ...others] = destinationsTo(found, service, insertion, each.route) as [To, ...To[]];
      const why =
        'protocol' in each
          ? streamReason(each.protocol, [first, ...others])
          : reasonOf(first.to, first.destination, service, roots, insertion);
      return messages.skippedVirtualServices(first.to.host, why);
    });
    return [...reasons].map(([text, some]) => {
      const names = some.length === leading.length ? '' : `, route ${some.map(({ name }) => name).join(', ')}`;
      return `VirtualService ${key}${names} ${text}`;
    });
  });
}

/** The base routes of a VirtualService, and whether they get routes of the environment. */
function httpIn(service: VirtualService, insertion: Insertion) {
  // Positions are those of the base routes: inserted routes do not count.
  const base = (service.spec?.http ?? []).filter((route) => !isInserted(route));
  return base.map((route, i) => ({
    name: route.name || `http[${i}]`,
    route,
    isHandled: handledBy(service, insertion, route),
  }));
}

interface To {
  readonly to: FoundHost;
  readonly destination: NonNullable<RouteDestination['destination']>;
}

function destinationsTo(
  found: readonly FoundHost[],
  service: VirtualService,
  { clusterDomain }: Insertion,
  { route = [] }: HttpRoute | StreamRoute,
): readonly To[] {
  return route.flatMap(({ destination }) => {
    const resolved = resolveHost(destination?.host ?? '', service, clusterDomain);
    const to = found.find(({ host }) => host === resolved);
    return to === undefined || destination === undefined ? [] : [{ to, destination }];
  });
}

/** A destination without a subset is every pod of the Service, and so the clone too. */
function streamReason(protocol: NamedStreamRoute['protocol'], destinations: readonly To[]): string {
  const isOpen = destinations.some(({ destination }) => !destination.subset);
  const open = isOpen ? ', and without a subset there, connections reach the clone too' : '';
  return `${protocol} routes can't match on headers${open}`;
}

function reasonOf(
  { ruled }: FoundHost,
  { subset }: To['destination'],
  service: VirtualService,
  roots: readonly VirtualService[],
  { defaultVersion }: Insertion,
): string {
  const [parent] = roots;
  if (parent !== service && roots.every(({ spec }) => (spec?.hosts ?? []).length === 0)) {
    return `Istio ignores it, because VirtualService ${keyOf(parent!.metadata)}, which delegates to it, is a delegate too`;
  }
  if (subset !== defaultVersion) {
    return `it uses ${subset ? `subset "${subset}"` : 'no subset'} there, not "${defaultVersion}"`;
  }
  if (!ruled) return `no DestinationRule declares version "${defaultVersion}" of it`;
  if (roots.some((root) => gatewaysOf(root).length > 0)) return 'routes at gateways are turned off';
  return `it is only for the mesh, and for other hosts (${roots.flatMap(({ spec }) => spec?.hosts ?? []).join(', ')})`;
}
