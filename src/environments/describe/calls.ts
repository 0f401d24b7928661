// Example calls: for each route to an environment, a command whose request takes it.
import { statusKey, itemsOf } from '../names.ts';
import { ownerOf } from '../identity/ownership.ts';
import { isRouteOfSubset } from '../../traffic/istio/inserted-routes.ts';
import type { HttpMatch, HttpRoute, VirtualService } from '../../traffic/istio/objects.ts';
import { isForMesh } from '../../traffic/istio/precedence.ts';
import { keyOf } from '../../kube/objects.ts';
import { gatewayKey } from '../../traffic/compile/routes.ts';
import { requestFor } from '../../traffic/prove/route-request.ts';
import { exampleCall, exampleValue } from './matches.ts';
import type { Address, CalledRequest } from './matches.ts';
import type { EnvironmentWorld } from './world.ts';

/** Commands that send requests to an environment; none if requests do not reach it. */
export function exampleCalls(world: EnvironmentWorld): readonly string[] {
  const { env, virtualServices } = world;
  const owner = ownerOf(env, []);
  const reached = itemsOf(env).subsets.filter(
    (subset) => env.status?.subsetsStatus?.[statusKey(subset)]?.unreached === undefined,
  );
  const calls = [...virtualServices.values()].flatMap((service) => {
    const http = service.spec?.http ?? [];
    const isOurs = (route: HttpRoute): boolean => reached.some((each) => isRouteOfSubset(owner, each, service, route));
    return http.flatMap((route, i) => {
      const earlier = http.slice(0, i).filter((each) => !isOurs(each));
      return isOurs(route) ? callsBy(world, service, route, earlier) : [];
    });
  });
  return [...new Set(calls)];
}

/** The calls that take one route and none of the earlier ones, for each host that leads there. */
function callsBy(
  world: EnvironmentWorld,
  service: VirtualService,
  { match = [{}] }: HttpRoute,
  earlier: readonly HttpRoute[],
): readonly string[] {
  return waysTo(world, service).flatMap(({ root, above, before }) => {
    const others = [...before, ...earlier].flatMap((route) => entriesFor(root, route));
    return (
      match
        // Callers outside the mesh have no labels.
        .filter(({ sourceLabels = {} }) => isForMesh(root) || Object.keys(sourceLabels).length === 0)
        .flatMap((entry) =>
          addressesOf(world, root).flatMap(({ host, ...address }) => {
            const found = requestFor([above, entry], others, host);
            if (found === 'none') return [];
            return [
              exampleCall(found === 'unknown' ? describedRequest({ ...above, ...entry }) : found.request, address),
            ];
          }),
        )
    );
  });
}

/** The match entries of a route that apply to requests through a root VirtualService. */
function entriesFor(root: VirtualService, { match = [{}] }: HttpRoute): readonly HttpMatch[] {
  const own = new Set((root.spec?.gateways ?? ['mesh']).map((each) => gatewayKey(each, root)));
  return match.filter(
    ({ gateways = [] }) => gateways.length === 0 || gateways.some((each) => own.has(gatewayKey(each, root))),
  );
}

/** A description of such a request, if none can be found. */
function describedRequest({ headers = {}, sourceLabels, uri }: HttpMatch): CalledRequest {
  return {
    path: uri === undefined ? '/' : exampleValue(uri),
    headers: Object.fromEntries(Object.entries(headers).map(([name, match]) => [name, exampleValue(match)])),
    source: { namespace: '', ...(sourceLabels && { labels: sourceLabels }) },
  };
}

interface Way {
  readonly root: VirtualService;
  /** The match of the root. */
  readonly above: HttpMatch;
  /** Routes of the root that come first. */
  readonly before: readonly HttpRoute[];
}

/** The VirtualServices through which requests come to one: itself, or those that delegate to it. */
function waysTo({ roots }: EnvironmentWorld, service: VirtualService): readonly Way[] {
  if ((service.spec?.hosts ?? []).length > 0) return [{ root: service, above: {}, before: [] }];
  const key = keyOf(service.metadata);
  return roots.flatMap((root) => {
    const namespace = root.metadata.namespace ?? '';
    const http = root.spec?.http ?? [];
    return http.flatMap(({ delegate, match = [] }, i) => {
      const leads = delegate && `${delegate.namespace || namespace}/${delegate.name}` === key;
      return leads ? [{ root, above: match[0] ?? {}, before: http.slice(0, i) }] : [];
    });
  });
}

/** The addresses of a VirtualService, one for each of its hosts. */
function addressesOf({ services }: EnvironmentWorld, root: VirtualService): readonly (Address & { host: string })[] {
  return (root.spec?.hosts ?? []).map((host) => {
    const [name = '', namespace = root.metadata.namespace ?? ''] = host.split('.');
    const service = isForMesh(root) ? services.get(`${namespace}/${name}`) : undefined;
    if (service === undefined) return addressAt(root, host);
    const [first] = (service.spec?.['ports'] ?? []) as readonly { readonly port?: number }[];
    const port = first?.port === undefined || first.port === 80 ? '' : `:${first.port}`;
    return { host, url: `http://${name}.${namespace}${port}` };
  });
}

/** The address of a host that is not a Service. For `*` it is that of the gateway, which only the user knows. */
function addressAt(root: VirtualService, host: string): Address & { host: string } {
  const gateway = root.spec?.gateways?.find((each) => each !== 'mesh');
  if (host !== '*' || gateway === undefined) {
    const named = host === '*' ? 'example.com' : host.replace('*', 'any');
    return { host: named, url: `http://${named}` };
  }
  return {
    host: 'any',
    url: 'http://$GATEWAY',
    note: `GATEWAY is the address of gateway ${gatewayKey(gateway, root)}`,
  };
}
