// Requests to try: for each route that leads to an environment, a command whose request takes it.
import { statusKey, itemsOf } from '../names.ts';
import { ownerOf } from '../ownership.ts';
import { isRouteOfSubset } from '../../traffic/istio/inserted-routes.ts';
import type { HttpMatch, HttpRoute, VirtualService } from '../../traffic/istio/objects.ts';
import { isForMesh } from '../../traffic/istio/precedence.ts';
import { keyOf } from '../../kube/objects.ts';
import { exampleCall, exampleValue } from './matches.ts';
import type { EnvironmentWorld } from './world.ts';

/** Commands that send requests to an environment. None where requests do not reach it. */
export function exampleCalls(world: EnvironmentWorld): readonly string[] {
  const { env, virtualServices } = world;
  const owner = ownerOf(env, []);
  const reached = itemsOf(env).subsets.filter(
    (subset) => env.status?.subsetsStatus?.[statusKey(subset)]?.unreached === undefined,
  );
  const calls = [...virtualServices.values()].flatMap((service) =>
    (service.spec?.http ?? [])
      .filter((route) => reached.some((subset) => isRouteOfSubset(owner, subset, service, route)))
      .flatMap((route) => callsBy(world, service, route)),
  );
  return [...new Set(calls)];
}

/** The calls that take one route, by each host that leads there. */
function callsBy(world: EnvironmentWorld, service: VirtualService, { match = [{}] }: HttpRoute): readonly string[] {
  return waysTo(world, service).flatMap(({ root, above }) =>
    match
      .map((entry) => ({ ...above, ...entry }))
      // Callers from outside have no labels.
      .filter(({ sourceLabels = {} }) => isForMesh(root) || Object.keys(sourceLabels).length === 0)
      .flatMap((entry) => addressesOf(world, root).map((address) => exampleCall(entry, address + pathOf(entry)))),
  );
}

/** By which VirtualServices requests come to one: itself, or those that delegate to it, with what these ask for. */
function waysTo({ roots }: EnvironmentWorld, service: VirtualService): { root: VirtualService; above: HttpMatch }[] {
  if ((service.spec?.hosts ?? []).length > 0) return [{ root: service, above: {} }];
  const key = keyOf(service.metadata);
  return roots.flatMap((root) => {
    const namespace = root.metadata.namespace ?? '';
    return (root.spec?.http ?? [])
      .filter(({ delegate }) => delegate && `${delegate.namespace || namespace}/${delegate.name}` === key)
      .map(({ match = [] }) => ({ root, above: match[0] ?? {} }));
  });
}

/** `http://host:port` for each host of a VirtualService. */
function addressesOf({ services }: EnvironmentWorld, root: VirtualService): readonly string[] {
  return (root.spec?.hosts ?? []).map((host) => {
    const [name = '', namespace = root.metadata.namespace ?? ''] = host.split('.');
    const service = isForMesh(root) ? services.get(`${namespace}/${name}`) : undefined;
    if (service === undefined) return `http://${host.startsWith('*') ? `<a host that fits ${host}>` : host}`;
    const [first] = (service.spec?.['ports'] ?? []) as readonly { readonly port?: number }[];
    return `http://${name}.${namespace}${first?.port === undefined || first.port === 80 ? '' : `:${first.port}`}`;
  });
}

function pathOf({ uri }: HttpMatch): string {
  return uri === undefined ? '/' : exampleValue(uri);
}
