// The hosts, ports and callers that an environment can affect: a proof compares their rules in both worlds.
import { RE2JS } from 're2js';
import { keyOf } from '../../kube/index.ts';
import { isWildcard, wildcardsOver, within } from '../compile/hostnames.ts';
import { gatewayKey, MESH } from '../compile/routes.ts';
import { virtualServiceHosts } from '../istio/hosts.ts';
import type { VirtualService } from '../istio/objects.ts';
import { isForMesh } from '../istio/precedence.ts';
import type { World } from '../world.ts';
import type { ProvenEnvironment } from './effects.ts';
import type { Budget, RequestScope } from './witness.ts';

type Labels = Readonly<Record<string, string>>;

/** A scope with the host name that proxies look up. */
export interface HostScope extends RequestScope {
  readonly host: string;
}

type Worlds = readonly [World, World];

/** The only port on which VirtualServices apply to hosts without a service. */
const WEB = 80;

/** The parts of an environment that determine its scopes. */
type ScopeInputs = Pick<ProvenEnvironment, 'hosts' | 'workloads' | 'virtualServices'>;

export function* scopesOf(before: World, after: World, environment: ScopeInputs, budget: Budget): Generator<HostScope> {
  const worlds: Worlds = [before, after];
  const hosts = [...new Set([...environment.hosts, ...environment.workloads.flatMap((each) => each.hosts)])];
  const services = affectedVirtualServices(worlds, environment, hosts);
  yield* meshScopes(worlds, services, hosts, budget);
  yield* gatewayScopes(worlds, services, budget);
}

/** The VirtualServices that changed or route to the environment's hosts, and those that delegate to them. */
function affectedVirtualServices(
  worlds: Worlds,
  { virtualServices }: ScopeInputs,
  hosts: readonly string[],
): readonly VirtualService[] {
  return worlds.flatMap((world) => {
    const named = virtualServices.flatMap((ref) => world.virtualService(ref) ?? []);
    const own = [...named, ...hosts.flatMap((host) => world.virtualServicesTo(host))];
    // A VirtualService can be a delegate in only one of the worlds.
    const delegates = [...virtualServices, ...own.map(({ metadata }) => metadata)];
    return [...new Set([...own, ...delegates.flatMap((ref) => world.delegatingTo(ref))])];
  });
}

function* meshScopes(
  worlds: Worlds,
  routes: readonly VirtualService[],
  hosts: readonly string[],
  budget: Budget,
): Generator<HostScope> {
  const { clusterDomain } = worlds[0].settings;
  const inMesh = routes.filter(isForMesh).flatMap((each) => virtualServiceHosts(each, clusterDomain));
  const wildcards = inMesh.filter(isWildcard);
  const under =
    wildcards.length === 0
      ? []
      : worlds
          .flatMap((world) => world.allServices())
          .filter(({ host }) => wildcards.some((each) => within(host, each)));
  const names = new Set([...hosts, ...inMesh, ...under.map(({ host }) => host)]);
  const services = (name: string) => worlds.flatMap((world) => world.services(name));
  const all = [...names].flatMap(services);
  const ports = [...new Set([...all.flatMap((each) => each.ports.map(({ number }) => number)), WEB])];
  const sources = callers(worlds, routes, [...names], budget);
  for (const name of names) {
    const own = services(name);
    // A name without a service has routes on the ports of the other hosts of its VirtualService.
    const numbers =
      own.length === 0 ? ports : [...new Set(own.flatMap((each) => each.ports.map(({ number }) => number)))];
    for (const { host, names: called } of spellings(worlds, name)) {
      for (const port of numbers) {
        const authority = authorityOf(called, port);
        for (const source of sources) {
          budget.spend();
          yield { host, port, source, authority };
        }
      }
    }
  }
}

/** A name with the shorter forms that callers use; a form with routes of its own is a separate scope. */
function spellings(
  worlds: Worlds,
  name: string,
): readonly { readonly host: string; readonly names: readonly string[] }[] {
  const suffix = `.svc.${worlds[0].settings.clusterDomain}`;
  const [service, namespace, ...rest] = name.endsWith(suffix) ? name.slice(0, -suffix.length).split('.') : [];
  if (isWildcard(name) || service === undefined || namespace === undefined || rest.length > 0)
    return [{ host: name, names: [name] }];
  const shorter = [service, `${service}.${namespace}`, `${service}.${namespace}.svc`, `${name}.`];
  const isApart = (each: string): boolean => worlds.some((world) => world.virtualServices(each).length > 0);
  const joined = [name, ...shorter.filter((each) => !isApart(each))];
  return [{ host: name, names: joined }, ...shorter.filter(isApart).map((each) => ({ host: each, names: [each] }))];
}

/** The Host headers for these names: in any case, with or without a port. */
function authorityOf(names: readonly string[], port: number): RequestScope['authority'] {
  const regexes = names.map((each) => (isWildcard(each) ? `[^:]+${RE2JS.quote(each.slice(1))}` : RE2JS.quote(each)));
  return {
    regex: String.raw`(?i)(?:${regexes.join('|')})(?::\d*)?`,
    // Callers omit the default port.
    samples: names
      .map((each) => (isWildcard(each) ? `any${each.slice(1)}` : each))
      .flatMap((each) => (port === WEB ? [each] : [`${each}:${port}`, each])),
  };
}

/** The callers whose rules can differ: of each namespace that is named, of any other, and with each selector. */
function callers(
  worlds: Worlds,
  routes: readonly VirtualService[],
  names: readonly string[],
  budget: Budget,
): readonly { readonly namespace: string; readonly labels: Labels }[] {
  const ruled = [...new Set(names.flatMap((name) => [name, ...wildcardsOver(name)]))];
  const rules = worlds.flatMap((world) => ruled.flatMap((name) => world.destinationRules(name)));
  const services = worlds.flatMap((world) => names.flatMap((name) => world.services(name)));
  // The first caller with a counterexample is reported, so the likeliest callers come first.
  const named = [
    ...services.flatMap(({ namespace, exportTo }) => [namespace, ...exportTo]),
    ...[...routes, ...rules].flatMap(({ metadata, spec }) => [metadata.namespace ?? '', ...(spec?.exportTo ?? [])]),
    ...worlds.flatMap((world) => routes.flatMap((route) => sourceNamespaces(world, route))),
    ...worlds.flatMap((world) => [...world.sidecarNamespaces(), world.settings.rootNamespace]),
  ];
  const namespaces = [...new Set(named)].filter((each) => !['', '*', '.', '~'].includes(each));
  return [...namespaces, freshName(namespaces)].flatMap((namespace) => {
    const selectors = [
      ...worlds.flatMap((world) => world.sidecars(namespace).map(({ spec }) => spec?.workloadSelector?.labels)),
      ...rules
        .filter(({ metadata }) => metadata.namespace === namespace)
        .map(({ spec }) => spec?.workloadSelector?.matchLabels),
    ].filter((each) => each !== undefined);
    return combinations(selectors, budget).map((labels) => ({ namespace, labels }));
  });
}

/** The source namespaces of the routes of a VirtualService and of its delegates. */
function sourceNamespaces(world: World, { metadata, spec }: VirtualService): readonly string[] {
  return (spec?.http ?? []).flatMap(({ match = [], delegate }) => {
    const own = match.flatMap(({ sourceNamespace }) => sourceNamespace ?? []);
    if (delegate === undefined) return own;
    const found = world.virtualService({
      name: delegate.name ?? '',
      namespace: delegate.namespace || metadata.namespace || '',
    });
    return [
      ...own,
      ...(found?.spec?.http ?? []).flatMap((each) =>
        (each.match ?? []).flatMap(({ sourceNamespace }) => sourceNamespace ?? []),
      ),
    ];
  });
}

/** The prefix of the name that stands for all other namespaces. */
export const OTHER_NAMESPACE = 'elsewhere';

function freshName(taken: readonly string[]): string {
  let name = OTHER_NAMESPACE;
  while (taken.includes(name)) name += '-1';
  return name;
}

/** The label sets that satisfy any combination of selectors without contradiction. */
function combinations(selectors: readonly Labels[], budget: Budget): readonly Labels[] {
  const all = new Map<string, Labels>([['{}', {}]]);
  for (const selector of selectors) {
    for (const labels of all.values()) {
      budget.spend();
      if (Object.entries(selector).some(([name, value]) => (labels[name] ?? value) !== value)) continue;
      const both = { ...labels, ...selector };
      all.set(JSON.stringify(Object.entries(both).sort(([a], [b]) => (a < b ? -1 : 1))), both);
    }
  }
  return [...all.values()];
}

/** At a gateway, a host is the narrower of a host of the server and a host of a VirtualService. */
function* gatewayScopes(worlds: Worlds, routes: readonly VirtualService[], budget: Budget): Generator<HostScope> {
  const { clusterDomain } = worlds[0].settings;
  const seen = new Set<string>();
  for (const route of routes) {
    const named = new Set(
      (route.spec?.gateways ?? []).filter((each) => each !== MESH).map((each) => gatewayKey(each, route)),
    );
    for (const gateway of worlds.flatMap((world) => world.gateways())) {
      const key = keyOf(gateway.metadata);
      if (!named.has(key)) continue;
      for (const { port, hosts: served = [] } of gateway.spec?.servers ?? []) {
        for (const own of served.map((each) => each.split('/').at(-1)!.toLowerCase())) {
          for (const other of virtualServiceHosts(route, clusterDomain)) {
            budget.spend();
            const host = within(own, other) ? own : within(other, own) ? other : undefined;
            const id = `${key} ${port?.number} ${host}`;
            if (host === undefined || port?.number === undefined || seen.has(id)) continue;
            seen.add(id);
            const authority = authorityOf([host], port.number);
            yield { host, port: port.number, source: { gateway: key }, authority };
          }
        }
      }
    }
  }
}
