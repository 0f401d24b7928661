// By whose hosts and gateways a VirtualService works, itself or the roots of a delegate, and what keeps it from working.
import type { Facts } from '../controller/index.ts';
import { keyOf } from '../kube/index.ts';
import { conflictOf } from '../traffic/istio/delegates.ts';
import { resolveCalledHost } from '../traffic/istio/hosts.ts';
import type { HttpRoute, VirtualService } from '../traffic/istio/objects.ts';
import { isForMesh, supersedes } from '../traffic/istio/precedence.ts';
import { messages } from './messages.ts';
import type { Settings } from './settings.ts';
import { findBaseServices } from './virtual-services.ts';

/** How a VirtualService works. */
export interface Roots {
  /** The gateways where it applies, `mesh` among them for the pods that call. */
  readonly gateways: readonly string[];
  /** The routes of others that delegate to it, by the VirtualService that they are in; none if it is no delegate. */
  readonly delegating: readonly { readonly root: string; readonly route: HttpRoute }[];
  /** What proxies do not go by, and why. */
  readonly superseded: readonly string[];
  /** Whether that is all of it. */
  readonly isIgnored: boolean;
}

/** The roots of one that is not known: it works by its own hosts. */
export function ownRoots({ spec }: VirtualService): Roots {
  return { gateways: spec?.gateways ?? ['mesh'], delegating: [], superseded: [], isIgnored: false };
}

/** Looks up how a VirtualService works. */
export function findRoots(view: Facts, service: VirtualService, settings: Settings): Roots {
  const key = keyOf(service.metadata);
  const isDelegate = (service.spec?.hosts ?? []).length === 0;
  const roots = isDelegate ? findBaseServices(view, 'delegate', key, settings) : [service];
  const entries = roots.flatMap((root) => entriesOf(view, root, settings));
  return {
    gateways: roots.length === 0 ? ['mesh'] : [...new Set(roots.flatMap(({ spec }) => spec?.gateways ?? ['mesh']))],
    delegating: isDelegate ? roots.flatMap((root) => delegatingTo(key, root)) : [],
    superseded: entries.flatMap(({ superseded }) => superseded ?? []),
    isIgnored: entries.length > 0 && entries.every(({ superseded }) => superseded !== undefined),
  };
}

/** The ways into a root: each of its hosts in the mesh, each of its gateways. */
function entriesOf(view: Facts, root: VirtualService, settings: Settings): { readonly superseded?: string }[] {
  const { hosts = [], gateways = [] } = root.spec ?? {};
  const atGateways = gateways.filter((gateway) => gateway !== 'mesh').map(() => ({}));
  if (!isForMesh(root)) return atGateways;
  const inMesh = hosts.map((host) => {
    const called = resolveCalledHost(host, root, settings.clusterDomain);
    const winner = findBaseServices(view, 'host', called, settings).reduce(
      (first, each) => (supersedes(each, first) ? each : first),
      root,
    );
    return winner === root ? {} : { superseded: messages.superseded(root, called, winner) };
  });
  return [...inMesh, ...atGateways];
}

function delegatingTo(key: string, root: VirtualService): Roots['delegating'] {
  const namespace = root.metadata.namespace ?? '';
  return (root.spec?.http ?? [])
    .filter(({ delegate }) => delegate?.name && `${delegate.namespace || namespace}/${delegate.name}` === key)
    .map((route) => ({ root: keyOf(root.metadata), route }));
}

/** Why callers with some labels can't be told from others by routes of a VirtualService; undefined if they can. */
export function labelsProblem({ gateways, delegating }: Roots): string | undefined {
  if (!gateways.includes('mesh')) return messages.labelsAtGateway(gateways);
  const named = delegating.find(({ route }) => route.match?.some((entry) => (entry.gateways ?? []).length > 0));
  return named && messages.labelsBelowGateway(named.root);
}

/** Below which routes of its roots Istio leaves a route of a delegate out, and why. */
export function conflictsOf({ delegating }: Roots, route: HttpRoute): readonly string[] {
  return delegating.flatMap(({ root, route: above }) => {
    const conflict = conflictOf(above, route);
    return conflict === undefined ? [] : [messages.leftOutBelow(root, conflict)];
  });
}
