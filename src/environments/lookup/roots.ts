// The roots of a VirtualService, whose hosts and gateways it serves (itself, or those that delegate to it), and why
// Istio ignores it.
import type { Facts } from '../../controller/index.ts';
import { keyOf } from '../../kube/index.ts';
import { conflictOf } from '../../traffic/istio/delegates.ts';
import { resolveCalledHost } from '../../traffic/istio/hosts.ts';
import type { HttpRoute, VirtualService } from '../../traffic/istio/objects.ts';
import { isForMesh, supersedes } from '../../traffic/istio/precedence.ts';
import { streamRoutes } from '../../traffic/istio/stream-routes.ts';
import { messages } from '../status/messages.ts';
import type { Settings } from '../settings.ts';
import { findBaseServices } from './virtual-services.ts';

/** The roots of a VirtualService. */
export interface Roots {
  /** The gateways where it applies; `mesh` stands for pods in the mesh. */
  readonly gateways: readonly string[];
  /** The routes that delegate to it, with their VirtualService; none if it is not a delegate. */
  readonly delegating: readonly { readonly root: string; readonly route: HttpRoute }[];
  /** The hosts for which Istio ignores it, and why. */
  readonly superseded: readonly string[];
  /** Whether Istio ignores it for all hosts and gateways. */
  readonly isIgnored: boolean;
}

/** The roots of a VirtualService that was not looked up: its own hosts. */
export function ownRoots({ spec }: VirtualService): Roots {
  return { gateways: spec?.gateways ?? ['mesh'], delegating: [], superseded: [], isIgnored: false };
}

/** Looks up the roots of a VirtualService. */
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

/** The entries of a root: each of its hosts in the mesh, each of its gateways. */
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
    // Istio looks at the TLS and TCP routes of all of them.
    const what = streamRoutes(root).length > 0 ? `HTTP requests to ${called}` : called;
    return winner === root ? {} : { superseded: messages.superseded(root, what, winner) };
  });
  return [...inMesh, ...atGateways];
}

function delegatingTo(key: string, root: VirtualService): Roots['delegating'] {
  const namespace = root.metadata.namespace ?? '';
  return (root.spec?.http ?? [])
    .filter(({ delegate }) => delegate?.name && `${delegate.namespace || namespace}/${delegate.name}` === key)
    .map((route) => ({ root: keyOf(root.metadata), route }));
}

/** Why routes of a VirtualService can't match on source labels; undefined if they can. */
export function labelsProblem({ gateways, delegating }: Roots): string | undefined {
  if (!gateways.includes('mesh')) return messages.labelsAtGateway(gateways);
  const named = delegating.find(({ route }) => route.match?.some((entry) => (entry.gateways ?? []).length > 0));
  return named && messages.labelsBelowGateway(named.root);
}

/** The conflicts because of which Istio drops a route of a delegate below routes of its roots. */
export function conflictsOf({ delegating }: Roots, route: HttpRoute): readonly string[] {
  return delegating.flatMap(({ root, route: above }) => {
    const conflict = conflictOf(above, route);
    return conflict === undefined ? [] : [messages.leftOutBelow(root, conflict)];
  });
}
