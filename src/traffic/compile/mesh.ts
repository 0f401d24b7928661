// Compiles a host for a sidecar proxy: its VirtualServices in order of precedence, then the Service itself.
import { keyOf } from '../../kube/index.ts';
import type { VirtualService } from '../istio/objects.ts';
import { isForMesh } from '../istio/precedence.ts';
import { virtualServiceHosts } from '../istio/hosts.ts';
import type { MeshSource } from '../request.ts';
import type { CompiledHost, Rule, Tier } from '../rules.ts';
import type { MeshService, World } from '../world.ts';
import { DEFAULT_RETRIES } from './actions.ts';
import { isWildcard, wildcardsOver, within } from './hostnames.ts';
import { compileContext, MESH, rulesOf } from './routes.ts';
import type { CompileContext } from './routes.ts';
import { importsRoutes, byPrecedence, preferredService, scopeOf, seesService } from './visibility.ts';
import type { Scope } from './visibility.ts';

/** The only port on which istiod applies VirtualServices to hosts without a service. */
const WEB = 80;

/** The rules of a pod in the mesh for a host, which is in lower case and without a port. */
export function compileInMesh(world: World, source: MeshSource, host: string, port: number): CompiledHost {
  const scope = scopeOf(world, source, port);
  if (scope === undefined) return { host, port, tiers: [], otherwise: 'Passthrough' };
  const context = compileContext(world, { source, namespace: scope.namespace, labels: scope.labels, port });
  const lookup: Lookup = { world, scope, port };
  const tiers: Tier[] = [];
  for (const domain of [host, ...wildcardsOver(host)]) {
    const service = serviceAt(lookup, domain);
    if (service !== undefined && !isHttpOn(service, port)) return { host, port, tiers, otherwise: 'NotHttp' };
    for (const each of virtualServicesFor(lookup, domain, service)) {
      tiers.push({ virtualService: keyOf(each.metadata), rules: rulesOf(context, each, MESH) });
    }
    if (service !== undefined) {
      tiers.push({ rules: [defaultRule(context, service)] });
      break;
    }
  }
  const otherwise = scope.outboundTrafficPolicy === 'REGISTRY_ONLY' ? 'BlackHole' : 'Passthrough';
  return { host, port, tiers, otherwise };
}

interface Lookup {
  readonly world: World;
  readonly scope: Scope;
  readonly port: number;
}

/** The service that a name means: its full name, a shorter form of it, or a pod of a headless service. */
function serviceAt(lookup: Lookup, domain: string): MeshService | undefined {
  const { world, scope } = lookup;
  const own = serviceNamed(lookup, domain);
  if (own !== undefined) return own;
  if (isWildcard(domain)) {
    const headless = domain === '*' ? undefined : serviceAt(lookup, domain.slice(2));
    return headless?.isHeadless ? headless : undefined;
  }
  if (domain.endsWith('.')) return serviceNamed(lookup, domain.slice(0, -1));
  const [name, namespace = scope.namespace, svc = 'svc', ...rest] = domain.split('.');
  if (svc !== 'svc' || rest.length > 0) return undefined;
  return serviceNamed(lookup, `${name}.${namespace}.svc.${world.settings.clusterDomain}`);
}

/** The service with this host that the caller sees. */
function serviceNamed({ world, scope, port }: Lookup, host: string): MeshService | undefined {
  const seen = world.services(host).filter((each) => hasPort(each, port) && seesService(scope, each));
  return preferredService(seen, scope.namespace);
}

function hasPort({ ports }: MeshService, port: number): boolean {
  return ports.some(({ number }) => number === port);
}

function isHttpOn({ ports }: MeshService, port: number): boolean {
  return ports.some(({ number, isHttp }) => number === port && isHttp);
}

/** The VirtualServices for a name, in order of precedence. */
function virtualServicesFor(
  lookup: Lookup,
  domain: string,
  service: MeshService | undefined,
): readonly VirtualService[] {
  const { world } = lookup;
  const literal = imported(lookup, world.virtualServices(domain)).filter((each) => isForName(lookup, each, domain));
  const ofService = service === undefined ? [] : virtualServicesOfService(lookup, service);
  return byPrecedence([...literal, ...ofService], lookup.scope.namespace);
}

/** The VirtualServices that the caller imports. */
function imported({ world, scope }: Lookup, services: readonly VirtualService[]): readonly VirtualService[] {
  return byPrecedence(services.filter(isForMesh), scope.namespace).filter((each) =>
    importsRoutes(scope, each.metadata.namespace ?? '', virtualServiceHosts(each, world.settings.clusterDomain)),
  );
}

/** The VirtualServices of a service: all with its exact host, else the one with the most specific wildcard. */
function virtualServicesOfService(lookup: Lookup, { host }: MeshService): readonly VirtualService[] {
  const exact = imported(lookup, lookup.world.virtualServices(host));
  if (exact.length > 0) return exact;
  for (const wildcard of wildcardsOver(host)) {
    const [first] = imported(lookup, lookup.world.virtualServices(wildcard));
    if (first !== undefined) return [first];
  }
  return [];
}

/** Whether a VirtualService applies to a name without a service: if another of its hosts has one, or on port 80. */
function isForName(lookup: Lookup, service: VirtualService, name: string): boolean {
  const { world, port } = lookup;
  if (isWildcard(name) ? hasServiceUnder(lookup, name) : serviceNamed(lookup, name) !== undefined) return false;
  const others = virtualServiceHosts(service, world.settings.clusterDomain).filter((each) => each !== name);
  const hasService = others.some((each) => {
    if (isWildcard(each))
      return servicesUnder(lookup, each).some((found) => virtualServicesOfService(lookup, found).includes(service));
    const found = serviceNamed(lookup, each);
    return found !== undefined && isHttpOn(found, port);
  });
  return hasService || port === WEB;
}

function hasServiceUnder(lookup: Lookup, wildcard: string): boolean {
  return servicesUnder(lookup, wildcard).length > 0;
}

/** The visible services on the port that a wildcard covers. */
function servicesUnder({ world, scope, port }: Lookup, wildcard: string): readonly MeshService[] {
  return world
    .allServices()
    .filter((each) => within(each.host, wildcard) && hasPort(each, port) && seesService(scope, each));
}

/** The rule of a service without a VirtualService. */
function defaultRule({ proxy, lookUp }: CompileContext, { host }: MeshService): Rule {
  const target = lookUp({ host, port: proxy.port });
  return {
    name: 'default',
    index: 0,
    match: { headers: [], query: [] },
    action: {
      kind: 'route',
      destinations: [{ ...target, weight: 100, requestHeaders: [], responseHeaders: [] }],
      mirrors: [],
      retries: DEFAULT_RETRIES,
    },
  };
}
