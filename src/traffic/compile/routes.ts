// The rules of a VirtualService for one proxy: delegates are resolved, and host names are written in full.
import { keyOf } from '../../kube/index.ts';
import { withDelegates } from '../istio/delegates.ts';
import { resolveHost } from '../istio/hosts.ts';
import type { Destination, HttpMatch, HttpRoute, VirtualService } from '../istio/objects.ts';
import type { Action, Rule } from '../rules.ts';
import type { World } from '../world.ts';
import { actionOf } from './actions.ts';
import { conditionsOf, refusalOf } from './conditions.ts';
import { targetsFor } from './targets.ts';
import type { LookUp, Proxy } from './targets.ts';
import { isExportedTo } from './visibility.ts';

export const MESH = 'mesh';

/** The inputs for compiling the routes of a proxy. */
export interface CompileContext {
  readonly world: World;
  readonly proxy: Proxy;
  readonly lookUp: LookUp;
}

/** The inputs for compiling the routes of this proxy. */
export function compileContext(world: World, proxy: Proxy): CompileContext {
  return { world, proxy, lookUp: targetsFor(world, proxy) };
}

/** The rules of a VirtualService, also those excluded for this proxy. `gateway` is `mesh` or the key of a Gateway. */
export function rulesOf(
  { world, proxy, lookUp }: CompileContext,
  service: VirtualService,
  gateway: string,
): readonly Rule[] {
  const virtualService = keyOf(service.metadata);
  const { clusterDomain } = world.settings;
  const http = (service.spec?.http ?? []).map((route) => withFullNames(route, service, clusterDomain));
  const routes = withDelegates(http, (named) => delegateOf(world, service, named));
  return routes.flatMap(({ route, delegate, index }) => {
    const action = actionOf(route, proxy.port, lookUp);
    const entries: readonly HttpMatch[] = route.match?.length ? route.match : [{}];
    return entries.map((entry): Rule => {
      const match = conditionsOf(entry);
      const excluded = exclusionOf(entry, proxy.port, gateway);
      const refused = 'refused' in action ? action.refused : refusalOf(match);
      return {
        virtualService,
        ...(delegate && { delegate }),
        name: [route.name ?? '', ...(entry.name ? [entry.name] : [])].join('.'),
        index,
        match,
        ...(excluded && { excluded }),
        ...(refused && { refused }),
        action: 'refused' in action ? REFUSED : action,
      };
    });
  });
}

/** A placeholder: Envoy refuses the route, so the action is never used. */
const REFUSED: Action = { kind: 'response', status: 503, responseHeaders: [] };

/** Why istiod leaves an entry out for a proxy, regardless of the caller. */
function exclusionOf({ port, gateways = [] }: HttpMatch, own: number, gateway: string): string | undefined {
  if (port && port !== own) return `it is for port ${port}`;
  if (gateways.length > 0 && !gateways.includes(gateway)) return `it is for gateways ${gateways.join(', ')}`;
  return undefined;
}

function delegateOf(world: World, root: VirtualService, named: NonNullable<HttpRoute['delegate']>) {
  const namespace = root.metadata.namespace ?? '';
  const found = world.virtualService({ name: named.name ?? '', namespace: named.namespace || namespace });
  // A VirtualService with hosts is not a delegate.
  if (found === undefined || found.spec?.hosts?.length) return undefined;
  const exportTo = found.spec?.exportTo?.length ? found.spec.exportTo : ['*'];
  if (!isExportedTo(exportTo, found.metadata.namespace ?? '', namespace)) return undefined;
  const http = (found.spec?.http ?? []).map((route) => withFullNames(route, found, world.settings.clusterDomain));
  return { key: keyOf(found.metadata), http };
}

/** A route with the names of hosts and gateways written in full. */
function withFullNames(route: HttpRoute, service: VirtualService, clusterDomain: string): HttpRoute {
  const full = <T extends Destination | undefined>(destination: T): T =>
    destination?.host ? { ...destination, host: resolveHost(destination.host, service, clusterDomain) } : destination;
  const { match, route: destinations, mirror, mirrors } = route;
  return {
    ...route,
    ...(match && { match: match.map((entry) => withGateways(entry, service)) }),
    ...(destinations && {
      route: destinations.map((each) => ({
        ...each,
        ...(each.destination && { destination: full(each.destination) }),
      })),
    }),
    ...(mirror && { mirror: full(mirror) }),
    ...(mirrors && {
      mirrors: mirrors.map((each) => ({ ...each, ...(each.destination && { destination: full(each.destination) }) })),
    }),
  };
}

function withGateways(entry: HttpMatch, service: VirtualService): HttpMatch {
  return entry.gateways?.length
    ? { ...entry, gateways: entry.gateways.map((each) => gatewayKey(each, service)) }
    : entry;
}

/** The key `NAMESPACE/NAME` of a gateway, from any form of its name; `mesh` is returned unchanged. */
export function gatewayKey(gateway: string, { metadata }: VirtualService): string {
  if (gateway === MESH) return gateway;
  const own = metadata.namespace ?? '';
  if (gateway.includes('/')) return gateway.replace(/^\.\//, `${own}/`);
  const [name = '', namespace] = gateway.split('.');
  return `${namespace ?? own}/${name}`;
}
