// Where a request goes: a second, naive implementation that, like istiod, builds the table of all names that a proxy
// knows on a port and looks up the host of the request. Tests compare the compiler of single hosts with it.
import { keyOf } from '../../kube/index.ts';
import type { AnyObject, Kind, KubeObject } from '../../kube/index.ts';
import { isWildcard, overlaps, within } from '../compile/hostnames.ts';
import { gatewayKey } from '../compile/routes.ts';
import { withDelegates } from '../istio/delegates.ts';
import { resolveHost } from '../istio/hosts.ts';
import { Gateway, ServiceEntry, Sidecar, VirtualService } from '../istio/objects.ts';
import type { HttpMatch, HttpRoute } from '../istio/objects.ts';
import { hostOf, isGatewaySource, normalized } from '../request.ts';
import type { GatewaySource, MeshSource, Request } from '../request.ts';
import { meshService, meshServicesOf, Service } from '../services.ts';
import type { MeshService } from '../world.ts';
import { fits } from './naive-routes.ts';

const DOMAIN = 'cluster.local';

/** A route that istiod sends to a proxy. */
interface ProxyRoute {
  readonly by: string;
  readonly name: string;
  readonly entry: HttpMatch;
}

/** The route that decides, or why none does. */
export function landingOf(objects: readonly AnyObject[], sent: Request): string {
  const request = normalized(sent);
  const { source } = request;
  const table = isGatewaySource(source)
    ? atGateway(objects, source, request.port)
    : inMesh(objects, source, request.port);
  const host = hostOf(request.host);
  const wildcards = [...table.keys()].filter((name) => isWildcard(name) && within(host, name) && name !== host);
  const name = table.has(host) ? host : wildcards.sort((a, b) => b.length - a.length)[0];
  if (name === undefined) return isGatewaySource(source) ? 'UnknownHost' : 'Passthrough';
  const gateway = isGatewaySource(source) ? source.gateway : 'mesh';
  const asked = {
    ...request,
    method: request.method ?? 'GET',
    authority: request.host,
    headers: {},
    labels: {},
    gateway,
  };
  const headers = { ...request.headers, host: request.host, ':path': request.path };
  // The caller has already been checked.
  const found = table.get(name)!.find(({ entry }) => fits(requestPart(entry), { ...asked, headers }));
  return found === undefined ? 'NoRoute' : `${found.by} ${found.name}`;
}

function requestPart({
  gateways: _gateways,
  sourceLabels: _labels,
  sourceNamespace: _namespace,
  ...entry
}: HttpMatch): HttpMatch {
  return entry;
}

type Names = Map<string, readonly ProxyRoute[]>;

const ofKind = <T extends KubeObject>(objects: readonly AnyObject[], { kind }: Kind<T>): readonly T[] =>
  objects.filter((each) => each.kind === kind) as readonly KubeObject[] as readonly T[];

const fullName = (host: string, object: VirtualService): string =>
  host === '*' ? host : resolveHost(host, object, DOMAIN);

function servicesIn(objects: readonly AnyObject[]): readonly MeshService[] {
  return [
    ...ofKind(objects, Service).map((each) => meshService(each, DOMAIN)),
    ...ofKind(objects, ServiceEntry).flatMap(meshServicesOf),
  ];
}

/** The VirtualServices that are visible in a namespace, in istiod's order. */
function visible(objects: readonly AnyObject[], namespace: string): readonly VirtualService[] {
  const rank = ({ metadata, spec }: VirtualService): number => {
    const to = new Set((spec?.exportTo ?? ['*']).map((each) => (each === '.' ? metadata.namespace! : each)));
    if (to.has('*')) return 2;
    if (to.has('~') || !to.has(namespace)) return -1;
    return metadata.namespace === namespace ? 0 : 1;
  };
  const age = ({ metadata }: VirtualService): string =>
    [metadata.creationTimestamp ?? '', metadata.name, metadata.namespace].join(' ');
  return ofKind(objects, VirtualService)
    .filter((each) => rank(each) >= 0 && each.spec?.hosts?.length)
    .sort((a, b) => rank(a) - rank(b) || (age(a) < age(b) ? -1 : 1));
}

interface Caller {
  readonly gateway: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly port: number;
}

/** The routes of a VirtualService that a proxy gets, up to the first catch-all. */
function routesFor(objects: readonly AnyObject[], service: VirtualService, caller: Caller): readonly ProxyRoute[] {
  const named = (route: HttpRoute, owner: VirtualService): HttpRoute => ({
    ...route,
    ...(route.match && {
      match: route.match.map((entry) => ({
        ...entry,
        ...(entry.gateways && { gateways: entry.gateways.map((each) => gatewayKey(each, owner)) }),
      })),
    }),
  });
  const http = withDelegates(
    (service.spec?.http ?? []).map((each) => named(each, service)),
    ({ name, namespace = service.metadata.namespace }) => {
      const found = ofKind(objects, VirtualService).find(
        ({ metadata, spec }) => metadata.name === name && metadata.namespace === namespace && !spec?.hosts?.length,
      );
      const to = new Set((found?.spec?.exportTo ?? ['*']).map((each) => (each === '.' ? namespace : each)));
      if (!found || !(to.has('*') || to.has(service.metadata.namespace))) return undefined;
      return { key: keyOf(found.metadata), http: (found.spec?.http ?? []).map((each) => named(each, found)) };
    },
  );
  const all = http.flatMap(({ route }) =>
    (route.match?.length ? route.match : [{}])
      .filter((entry) => appliesTo(entry, caller))
      .map((entry) => ({
        by: keyOf(service.metadata),
        name: [route.name ?? '', ...(entry['name'] ? [entry['name']] : [])].join('.'),
        entry,
      })),
  );
  const last = all.findIndex(({ entry }) => isForAll(entry));
  return last < 0 ? all : all.slice(0, last + 1);
}

function appliesTo({ port, gateways = [], sourceLabels = {}, sourceNamespace }: HttpMatch, caller: Caller): boolean {
  if (port && port !== caller.port) return false;
  if (gateways.length > 0) return gateways.includes(caller.gateway);
  const hasLabels = Object.entries(sourceLabels).every(([name, value]) => caller.labels[name] === value);
  return hasLabels && (!sourceNamespace || sourceNamespace === caller.namespace);
}

function isForAll({ uri, headers, withoutHeaders, method, scheme, authority, queryParams }: HttpMatch): boolean {
  const isAnyPath = !uri || Object.keys(uri).length === 0 || uri.prefix === '/' || uri.regex === '.*';
  const others = Object.keys({ ...headers, ...withoutHeaders, ...queryParams }).length;
  return isAnyPath && others === 0 && !method && !scheme && !authority;
}

/** Every name that a sidecar knows on a port. */
function inMesh(objects: readonly AnyObject[], { namespace, labels = {} }: MeshSource, port: number): Names {
  const sees = importsOf(objects, namespace, labels);
  const services = new Map<string, MeshService>();
  for (const each of servicesIn(objects)) {
    const { host, exportTo } = each;
    const to = new Set(exportTo.map((name) => (name === '.' ? each.namespace : name)));
    const isSeen = (to.has('*') || to.has(namespace)) && sees(each.namespace, [host], within);
    if (isSeen && each.ports.some(({ number }) => number === port)) services.set(host, services.get(host) ?? each);
  }
  const matches = (host: string, other: string): boolean =>
    isWildcard(host) || isWildcard(other) ? overlaps(host, other) : host === other;
  const all = visible(objects, namespace)
    .filter(({ spec }) => !spec?.gateways?.length || spec.gateways.includes('mesh'))
    .map((service) => ({ service, hosts: service.spec!.hosts!.map((host) => fullName(host, service).toLowerCase()) }))
    .filter(({ service, hosts }) => sees(service.metadata.namespace!, hosts, matches));
  /** The VirtualService with the most specific wildcard for a service, if none has its exact host. */
  const wildcardOwner = (host: string): VirtualService | undefined => {
    if (all.some(({ hosts }) => hosts.includes(host))) return undefined;
    const over = all.flatMap(({ service, hosts }) =>
      hosts.filter((each) => isWildcard(each) && within(host, each)).map((each) => ({ service, each })),
    );
    return over.sort((a, b) => b.each.length - a.each.length)[0]?.service;
  };
  const names: Names = new Map();
  const put = (name: string, routes: readonly ProxyRoute[]): unknown => names.has(name) || names.set(name, routes);
  const rest = new Map(services);
  for (const { service, hosts } of all) {
    const routes = routesFor(objects, service, { gateway: 'mesh', namespace, labels, port });
    if (routes.length === 0) continue;
    const own = [...services.values()].filter(({ host }) => hosts.includes(host) || wildcardOwner(host) === service);
    const others = hosts.filter(
      (host) => ![...services.keys()].some((each) => (isWildcard(host) ? within(each, host) : each === host)),
    );
    if (own.length === 0 && port !== 80) continue;
    for (const host of others) put(host, routes);
    for (const each of own) {
      rest.delete(each.host);
      for (const name of namesOf(each, namespace, services)) put(name, routes);
    }
  }
  for (const each of rest.values()) {
    const routes = [{ by: each.host, name: 'default', entry: {} }];
    for (const name of namesOf(each, namespace, services)) put(name, routes);
  }
  return names;
}

function namesOf(
  { host, isHeadless }: MeshService,
  namespace: string,
  services: ReadonlyMap<string, unknown>,
): readonly string[] {
  const [name, owner, ...rest] = host.split('.');
  const isOfCluster = rest.join('.') === `svc.${DOMAIN}`;
  const short = isOfCluster
    ? [`${name}.${owner}`, `${name}.${owner}.svc`, ...(owner === namespace ? [name!] : [])]
    : [];
  const all = [host, `${host}.`, ...short.filter((each) => !services.has(each))];
  return isHeadless ? [...all, ...all.map((each) => `*.${each}`)] : all;
}

type Sees = (namespace: string, hosts: readonly string[], fits: (host: string, imported: string) => boolean) => boolean;

/** The services that the Sidecar of a caller imports. */
function importsOf(objects: readonly AnyObject[], namespace: string, labels: Caller['labels']): Sees {
  const sidecar = ofKind(objects, Sidecar).find(
    ({ metadata, spec }) =>
      metadata.namespace === namespace &&
      Object.entries(spec?.workloadSelector?.labels ?? {}).every(([name, value]) => labels[name] === value),
  );
  const entries = (sidecar?.spec?.egress?.[0]?.hosts ?? ['*/*']).map((each) => {
    const [scope, host] = each.replace(/^~/, '').split('/');
    return { scope: scope === '.' ? namespace : scope, host: host!, isExcluded: each.startsWith('~') };
  });
  return (owner, hosts, fits) => {
    const mine = entries.filter(({ scope }) => scope === owner || scope === '*');
    return hosts.some(
      (host) =>
        mine.some((each) => !each.isExcluded && fits(host, each.host)) &&
        !mine.some((each) => each.isExcluded && within(host, each.host)),
    );
  };
}

/** Every name that a gateway knows on a port. */
function atGateway(objects: readonly AnyObject[], source: GatewaySource, port: number): Names {
  const { namespace = '', labels = {} } = source;
  const names: Names = new Map();
  const gateways = ofKind(objects, Gateway).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  for (const { metadata, spec } of gateways) {
    const gateway = keyOf(metadata);
    for (const server of (spec?.servers ?? []).filter((each) => each.port?.number === port)) {
      for (const service of visible(objects, namespace)) {
        if (!service.spec?.gateways?.some((each) => gatewayKey(each, service) === gateway)) continue;
        const routes = routesFor(objects, service, { gateway, namespace, labels, port });
        const common = new Set(
          (server.hosts ?? []).flatMap((each) => {
            const [scope, own] = each.includes('/') ? each.split('/') : ['*', each];
            const owner = scope === '.' ? metadata.namespace : scope;
            if (owner !== '*' && owner !== service.metadata.namespace) return [];
            const hosts = service.spec!.hosts!.map((host) => fullName(host, service).toLowerCase());
            return hosts.flatMap((host) => (within(own!, host) ? [own!] : within(host, own!) ? [host] : []));
          }),
        );
        if (routes.length > 0) for (const name of common) names.set(name, [...(names.get(name) ?? []), ...routes]);
      }
    }
  }
  for (const [name, routes] of names) {
    const isLast = ({ entry }: ProxyRoute): boolean => isForAll(entry);
    names.set(name, [...routes.filter((each) => !isLast(each)), ...routes.filter(isLast)]);
  }
  return names;
}
