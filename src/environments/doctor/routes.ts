// Base routes that keep environments from getting routes.
import type { Facts } from '../../controller/index.ts';
import { keyOf } from '../../kube/index.ts';
import { resolveCalledHost, resolveHost } from '../../traffic/istio/hosts.ts';
import { handles } from '../../traffic/istio/insert-routes.ts';
import { isInserted } from '../../traffic/istio/inserted-routes.ts';
import type { HttpRoute, StreamRoute, VirtualService } from '../../traffic/istio/objects.ts';
import { isForMesh, supersedes } from '../../traffic/istio/precedence.ts';
import { streamRoutes } from '../../traffic/istio/stream-routes.ts';
import { insertionOf } from '../facts.ts';
import type { EnvironmentFacts, HostFacts } from '../facts.ts';
import { gatewaysOf } from '../lookup/lookup.ts';
import type { Settings } from '../settings.ts';
import { findBaseServices } from '../lookup/virtual-services.ts';
import { about } from './finding.ts';
import type { Finding } from './finding.ts';

/** A host of a workload, with its base VirtualServices. */
export interface Way extends HostFacts {
  readonly namespace: string;
  /** VirtualServices that list the host. */
  readonly listing: readonly VirtualService[];
  /** VirtualServices with a route to the host, whatever hosts they list. */
  readonly leading: readonly VirtualService[];
  /** Whether environments get routes in a VirtualService. */
  readonly isHandled: (service: VirtualService) => boolean;
}

/** The hosts of a workload. */
export function waysTo(view: Facts, { env, workloads: [workload] }: EnvironmentFacts, settings: Settings): Way[] {
  const { hosts, subset } = workload!;
  return hosts.map((each) => {
    const insertion = insertionOf(env, subset, [each.host], settings);
    return {
      ...each,
      namespace: subset.namespace,
      listing: findBaseServices(view, 'host', each.host, settings),
      leading: findBaseServices(view, 'destination', each.host, settings),
      isHandled: (service) => handles(service, insertion),
    };
  });
}

/** Problems of the routes to a workload. */
export function routeFindings(ways: readonly Way[], settings: Settings): Finding[] {
  const isRouted = ways.some(({ virtualServices }) => virtualServices.length > 0);
  return ways.flatMap((way) => {
    const withoutSubset = way.leading.flatMap((service) => routesWithoutSubset(service, way, settings));
    return [
      ...withoutSubset,
      ...(withoutSubset.length > 0 ? [] : notRouted(way, isRouted, settings)),
      ...otherHosts(way, settings),
      ...notHttp(way, settings),
      ...superseded(way, settings),
      ...way.missing.map((delegate) => noDelegate(way, keyOf(delegate))),
    ];
  });
}

/** The base routes, with their names or positions. */
export function namedRoutes({ spec }: VirtualService): readonly { readonly name: string; readonly route: HttpRoute }[] {
  return (spec?.http ?? [])
    .filter((route) => !isInserted(route))
    .map((route, i) => ({ name: route.name ? `"${route.name}"` : `http[${i}]`, route }));
}

/** The subsets of a host that a route leads to; undefined for a destination without one. */
function subsetsIn(service: VirtualService, { route = [] }: HttpRoute | StreamRoute, host: string, settings: Settings) {
  const isThere = (each: string): boolean => resolveHost(each, service, settings.clusterDomain) === host;
  return route
    .filter(({ destination }) => isThere(destination?.host ?? ''))
    .map(({ destination }) => destination?.subset);
}

function routesWithoutSubset(service: VirtualService, { host }: Way, settings: Settings): Finding[] {
  const { defaultVersion } = settings;
  const open = namedRoutes(service).filter(({ route }) =>
    subsetsIn(service, route, host, settings).some((subset) => !subset),
  );
  if (open.length === 0) return [];
  const names = open.map(({ name }) => name).join(', ');
  return [
    {
      severity: 'error',
      reason: 'RouteWithoutSubset',
      ...about(service),
      message: `route ${names} leads to ${host} without a subset: its requests reach clones by load balancing whatever their headers are, and environments get no route next to it`,
      advice: `add subset: ${defaultVersion} to the destination`,
    },
  ];
}

/** Hosts for which environments can't get a route. */
function notRouted(way: Way, isRouted: boolean, settings: Settings): Finding[] {
  const { host, service, namespace, listing, virtualServices } = way;
  const { defaultVersion } = settings;
  const severity = isRouted ? 'warning' : 'error';
  if (!listing.some(isForMesh)) {
    return [
      {
        severity,
        reason: 'NoVirtualService',
        kind: 'Service',
        object: `${namespace}/${service}`,
        message: `no VirtualService for the mesh has the host ${host}: requests to it reach clones by load balancing whatever their headers are`,
        advice: `create one with the host ${service} and a route to its subset "${defaultVersion}"`,
      },
    ];
  }
  // A root that only delegates has its routes in the delegates.
  if (virtualServices.length > 0 || way.missing.length > 0) return [];
  return listing.map((each) => {
    const subsets = namedRoutes(each).flatMap(({ route }) => subsetsIn(each, route, host, settings));
    const found = subsets.length === 0 ? 'none leads to it' : `they lead to ${[...new Set(subsets)].join(', ')}`;
    const routes = streamRoutes(each).length > 0 ? 'HTTP routes' : 'routes';
    return {
      severity,
      reason: 'DefaultVersionNotRouted',
      ...about(each),
      message: `none of its ${routes} leads to subset "${defaultVersion}" of ${host} (${found}): environments get no route`,
      advice: `lead to subset "${defaultVersion}", or set the version that requests get by default: --default-version, or defaultVersion in each environment's subset`,
    };
  });
}

/** VirtualServices that lead to the workload by another host. */
function otherHosts(way: Way, { gatewayRoutes }: Settings): Finding[] {
  const { host, skipped, virtualServices, listing, isHandled } = way;
  const left = skipped.filter(({ service, roots }) => isHandled(service) && roots.length > 0);
  const isListing = new Set(listing.map(({ metadata }) => keyOf(metadata)));
  const public_ = virtualServices.filter(
    (each) => !isListing.has(keyOf(each.metadata)) && gatewaysOf(each).length > 0 && !isForMesh(each),
  );
  const hostsOf = ({ spec }: VirtualService): string => (spec?.hosts ?? []).join(', ');
  return [
    ...left.map(({ service, roots }): Finding => {
      const names = roots.map(hostsOf).join(', ');
      const isPublic = roots.some((root) => gatewaysOf(root).length > 0) && !gatewayRoutes;
      return {
        severity: 'warning',
        reason: 'OtherHost',
        ...about(service),
        message: `it leads to ${host} for other hosts (${names}): environments get no route there, so these requests only reach the base`,
        advice: isPublic ? 'turn on --gateway-routes' : `lead to it by the host ${host}, or by a gateway`,
      };
    }),
    ...public_.map((service): Finding => ({
      severity: 'note',
      reason: 'OtherHost',
      ...about(service),
      message: `it leads to ${host} for ${hostsOf(service)} at ${gatewaysOf(service).join(', ')}: environments get routes there for headers only, because source labels never match at a gateway`,
      advice: 'match on a header if requests from outside should reach environments',
    })),
  ];
}

/** VirtualServices that lead to the workload by TLS or TCP routes, which environments never get. */
function notHttp({ host, leading }: Way, settings: Settings): Finding[] {
  return leading.flatMap((service) => {
    const routes = streamRoutes(service).flatMap((each) => {
      const subsets = subsetsIn(service, each.route, host, settings);
      return subsets.length === 0 ? [] : [{ ...each, isOpen: subsets.some((subset) => !subset) }];
    });
    return [...Map.groupBy(routes, ({ protocol, isOpen }) => `${protocol} ${isOpen}`).values()].map((some): Finding => {
      const [{ protocol, isOpen }] = some as [(typeof some)[number]];
      const names = some.map(({ name }) => name).join(', ');
      const terminate = protocol === 'TLS' && !isForMesh(service);
      return {
        severity: 'warning',
        reason: 'NotHttp',
        ...about(service),
        message: `route ${names} leads to ${host} by ${protocol}, which can't be routed by header: ${
          isOpen
            ? 'without a subset, its connections reach clones by load balancing'
            : 'its connections never reach environments'
        }`,
        advice: isOpen
          ? `add subset: ${settings.defaultVersion} to the destination`
          : terminate
            ? 'let the gateway terminate TLS, and use an HTTP route, if environments should get these requests'
            : 'use an HTTP route if environments should get these requests',
      };
    });
  });
}

/** VirtualServices for one host, of which Istio uses only one. Those without HTTP routes take nothing and lose nothing. */
function superseded({ host, listing, isHandled }: Way, { clusterDomain }: Settings): Finding[] {
  const rivals = listing.filter(
    (each) => isForMesh(each) && ((each.spec?.http ?? []).length > 0 || streamRoutes(each).length === 0),
  );
  return rivals.flatMap((service): Finding[] => {
    const winner = rivals.reduce((first, each) => (supersedes(each, first) ? each : first), service);
    if (winner === service) return [];
    const others = (service.spec?.hosts ?? []).filter(
      (each) => resolveCalledHost(each, service, clusterDomain) !== host,
    );
    const requests = streamRoutes(service).length > 0 ? 'for HTTP requests ' : '';
    return [
      {
        severity: isHandled(service) && !isHandled(winner) ? 'error' : 'warning',
        reason: 'HostInSeveralVirtualServices',
        ...about(service),
        message: `VirtualService ${keyOf(winner.metadata)} has the host ${host} too and is older: ${requests}in the mesh, Istio uses only that one`,
        advice:
          others.length === 0
            ? `move its routes to VirtualService ${keyOf(winner.metadata)} and delete this one`
            : `move its routes for ${host} to VirtualService ${keyOf(winner.metadata)}, and remove the host here`,
      },
    ];
  });
}

function noDelegate({ listing, host }: Way, delegate: string): Finding {
  const root = listing.find(({ metadata, spec }) =>
    spec?.http?.some(
      ({ delegate: to }) => to !== undefined && `${to.namespace || metadata.namespace}/${to.name}` === delegate,
    ),
  );
  return {
    severity: 'warning',
    reason: 'NoDelegate',
    kind: 'VirtualService',
    object: root === undefined ? delegate : keyOf(root.metadata),
    message: `it delegates requests for ${host} to VirtualService ${delegate}, which does not exist`,
    advice: 'create it, or remove the route',
  };
}
