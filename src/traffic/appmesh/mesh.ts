// The routing part of an AWS App Mesh, read from either form: the input of its API, or the objects of its Kubernetes
// controller.
import type { KubeObject } from '../../kube/objects.ts';

/** The conditions on a request. */
export interface Match {
  readonly prefix?: string;
  readonly path?: { readonly exact?: string; readonly regex?: string };
  readonly method?: string;
  readonly headers?: readonly ValueMatch[];
  readonly queryParameters?: readonly ValueMatch[];
}

/** A header or query parameter. Without `match` it only has to be present. */
export interface ValueMatch {
  readonly name: string;
  readonly match?: { readonly exact?: string; readonly regex?: string };
}

export interface Route {
  readonly name: string;
  readonly priority?: number;
  readonly match: Match;
  readonly targets: readonly { readonly node: string; readonly weight: number }[];
}

export interface Mesh {
  /** The hosts that each virtual node may call, by the name of the node. */
  readonly backends: ReadonlyMap<string, ReadonlySet<string>>;
  /** By host. */
  readonly services: ReadonlyMap<string, { readonly node: string } | { readonly router: string }>;
  /** By router. */
  readonly routes: ReadonlyMap<string, readonly Route[]>;
}

interface Resources {
  readonly virtualNodes: Readonly<Record<string, object>>;
  readonly virtualServices: Readonly<Record<string, object>>;
  readonly virtualRouters: Readonly<Record<string, object>>;
  readonly routes: Readonly<Record<string, object>>;
}

interface ApiNode {
  readonly spec: { readonly backends: readonly { readonly virtualService: { readonly virtualServiceName: string } }[] };
}
interface ApiService {
  readonly spec: {
    readonly provider: {
      readonly virtualNode?: { readonly virtualNodeName: string };
      readonly virtualRouter?: { readonly virtualRouterName: string };
    };
  };
}
interface ApiRoute {
  readonly virtualRouterName: string;
  readonly spec: { readonly priority?: number; readonly httpRoute: HttpRoute<{ readonly virtualNode: string }> };
}
interface HttpRoute<T> {
  readonly match: Match;
  readonly action: { readonly weightedTargets: readonly (T & { readonly weight: number })[] };
}

/** Reads the input of the App Mesh API. */
export function meshOfResources({ virtualNodes, virtualServices, virtualRouters, routes }: Resources): Mesh {
  const ofRouter = new Map<string, Route[]>(Object.keys(virtualRouters).map((name) => [name, []]));
  for (const [name, route] of Object.entries(routes) as [string, ApiRoute][]) {
    const { priority, httpRoute } = route.spec;
    ofRouter.get(route.virtualRouterName)!.push(routeOf(name, priority, httpRoute, ({ virtualNode }) => virtualNode));
  }
  return {
    backends: new Map(
      (Object.entries(virtualNodes) as [string, ApiNode][]).map(([name, { spec }]) => [
        name,
        new Set(spec.backends.map(({ virtualService }) => virtualService.virtualServiceName)),
      ]),
    ),
    services: new Map(
      (Object.entries(virtualServices) as [string, ApiService][]).map(([host, { spec }]) => {
        const { virtualNode, virtualRouter } = spec.provider;
        return [
          host,
          virtualRouter ? { router: virtualRouter.virtualRouterName } : { node: virtualNode!.virtualNodeName },
        ];
      }),
    ),
    routes: ofRouter,
  };
}

interface Reference {
  readonly name: string;
  readonly namespace?: string;
}
interface Spec {
  readonly awsName: string;
  readonly backends?: readonly { readonly virtualService: { readonly virtualServiceRef: Reference } }[];
  readonly provider?: {
    readonly virtualNode?: { readonly virtualNodeRef: Reference };
    readonly virtualRouter?: { readonly virtualRouterRef: Reference };
  };
  readonly routes?: readonly {
    readonly name: string;
    readonly priority?: number;
    readonly httpRoute: HttpRoute<{ readonly virtualNodeRef: Reference }>;
  }[];
}

/** Reads the objects of the App Mesh controller, which refer to each other by their names in the cluster. */
export function meshOfObjects(objects: readonly KubeObject[]): Mesh {
  const all = objects as readonly (KubeObject & { readonly spec: Spec })[];
  const keyOf = (kind: string, namespace: string | undefined, name: string): string => `${kind} ${namespace}/${name}`;
  const awsNames = new Map(
    all.map(({ kind, metadata, spec }) => [keyOf(kind, metadata.namespace, metadata.name), spec.awsName]),
  );
  const named = (kind: string, from: KubeObject, { name, namespace = from.metadata.namespace }: Reference): string =>
    awsNames.get(keyOf(kind, namespace, name))!;
  const ofKind = (expected: string) => all.filter(({ kind }) => kind === expected);
  return {
    backends: new Map(
      ofKind('VirtualNode').map((node) => [
        node.spec.awsName,
        new Set(
          (node.spec.backends ?? []).map(({ virtualService }) =>
            named('VirtualService', node, virtualService.virtualServiceRef),
          ),
        ),
      ]),
    ),
    services: new Map(
      ofKind('VirtualService').map((service) => {
        const { virtualNode, virtualRouter } = service.spec.provider!;
        return [
          service.spec.awsName,
          virtualRouter
            ? { router: named('VirtualRouter', service, virtualRouter.virtualRouterRef) }
            : { node: named('VirtualNode', service, virtualNode!.virtualNodeRef) },
        ];
      }),
    ),
    routes: new Map(
      ofKind('VirtualRouter').map((router) => [
        router.spec.awsName,
        (router.spec.routes ?? []).map(({ name, priority, httpRoute }) =>
          routeOf(name, priority, httpRoute, ({ virtualNodeRef }) => named('VirtualNode', router, virtualNodeRef)),
        ),
      ]),
    ),
  };
}

function routeOf<T>(
  name: string,
  priority: number | undefined,
  { match, action }: HttpRoute<T>,
  nodeOf: (target: T) => string,
): Route {
  const targets = action.weightedTargets.map((target) => ({ node: nodeOf(target), weight: target.weight }));
  return { name, ...(priority !== undefined && { priority }), match, targets };
}
