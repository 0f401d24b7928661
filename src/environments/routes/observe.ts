// The current routes of one environment in the VirtualServices, compared with the desired ones, for its status; and
// whether proxies know routes that were just written: an environment is ready when requests reach it, not when its
// routes are stored.
import type { ResourceStatus } from '../../api/dynamicenv.ts';
import type { View } from '../../controller/index.ts';
import { isRouteOfSubset } from '../../traffic/istio/inserted-routes.ts';
import type { RouteOwner } from '../../traffic/istio/inserted-routes.ts';
import type { VirtualService } from '../../traffic/istio/objects.ts';
import { keyOf } from '../../kube/index.ts';
import { keepsRoutes } from '../decision.ts';
import type { Decision } from '../decision.ts';
import type { EnvironmentFacts } from '../facts.ts';
import { matchTitle } from '../requests/matches.ts';
import { isPaused } from '../lifecycle/paused.ts';
import { messages } from '../status/messages.ts';
import { ownRoots } from '../lookup/roots.ts';
import type { Settings } from '../settings.ts';
import { dueWish, waitOf } from './due.ts';
import type { DueDecision } from './due.ts';
import { editService } from './edit.ts';
import { routeCount } from './obstacles.ts';
import { routeWarnings } from './warnings.ts';
import { entrancesOf, involvedServices, wishesOf } from './wishes.ts';

export interface ObservedRoutes {
  /** The VirtualServices that lead to the environment or should. */
  readonly services: ReadonlyMap<string, VirtualService>;
  /** The keys of those that are about to be written. */
  readonly pending: ReadonlySet<string>;
  /** By subset: the VirtualServices that lead to it or should. */
  readonly statuses: ReadonlyMap<Decision, readonly ResourceStatus[]>;
  /** VirtualServices that lead to the environment since its status was last written. */
  readonly newlyRouted: readonly VirtualService[];
  /** The same as text. */
  readonly newRouteTexts: readonly string[];
  readonly warnings: readonly string[];
  /** Routes that should be removed and can't. */
  readonly refusals: readonly string[];
}

/** For an environment without routes. */
export const NO_ROUTES: ObservedRoutes = {
  services: new Map(),
  pending: new Set(),
  statuses: new Map(),
  newlyRouted: [],
  newRouteTexts: [],
  warnings: [],
  refusals: [],
};

/** Observes every VirtualService that has or should have routes of this environment. */
export function observeRoutes(
  facts: EnvironmentFacts,
  decisions: readonly DueDecision[],
  now: number,
  settings: Settings,
): ObservedRoutes {
  const wishes = wishesOf(facts, decisions, settings);
  const services = involvedServices(facts, decisions);
  const pending = new Set<string>();
  const warnings: string[] = [];
  const refusals: string[] = [];
  for (const [key, service] of isPaused(facts.env) ? [] : services) {
    const { wish } = dueWish(wishes, key, now, settings);
    const roots = facts.roots.get(key) ?? ownRoots(service);
    const edited = editService(service, [wish]);
    if (wish.insertions.length > 0) warnings.push(...roots.superseded);
    warnings.push(
      ...routeWarnings(service, edited.routes, roots, (i) => matchTitle(facts.env.spec, i)).map(
        (text) => `VirtualService ${key}${text}`,
      ),
    );
    if (edited.service === service) continue;
    const refused = facts.routeRefusal(key);
    if (refused === undefined) pending.add(key);
    // Subsets that want routes there report it themselves.
    else if (wish.insertions.length === 0) refusals.push(messages.routesNotRemoved(key, refused));
  }
  const statuses = new Map(
    decisions.map((decision) => [decision, statusesOf(facts, decision, services, pending, now, settings)]),
  );
  const newlyRouted = newlyRoutedIn(facts, services, statuses);
  const newRouteTexts = newlyRouted.map((each) => routeCount(each, facts.owner, facts.roots.get(keyOf(each.metadata))));
  return { services, pending, statuses, newlyRouted, newRouteTexts, warnings, refusals };
}

/** The status of the VirtualServices that should lead to a subset or, if its routes are left alone, that do. */
function statusesOf(
  { owner }: EnvironmentFacts,
  decision: DueDecision,
  services: ReadonlyMap<string, VirtualService>,
  pending: ReadonlySet<string>,
  now: number,
  settings: Settings,
): readonly ResourceStatus[] {
  const isKept = keepsRoutes(decision);
  const entrances = entrancesOf(decision);
  const startsAt = decision.action === 'route' ? decision.startsAt : undefined;
  return [...(isKept ? services.keys() : entrances.keys())].flatMap((key) => {
    const service = services.get(key)!;
    const leads = leadsTo(owner, decision, service);
    if (!leads && isKept) return [];
    const { name, namespace = '' } = service.metadata;
    const hosts = entrances.get(key)?.hosts ?? [];
    const isOpen = pending.has(key) || hosts.some((host) => waitOf(host, startsAt, now, settings) !== undefined);
    const missing = isOpen ? 'unknown' : 'ignored-missing-virtual-service';
    return [{ name, namespace, status: leads ? 'running' : missing }];
  });
}

function leadsTo(owner: RouteOwner, { subset }: Decision, service: VirtualService): boolean {
  return service.spec?.http?.some((route) => isRouteOfSubset(owner, subset, service, route)) ?? false;
}

function newlyRoutedIn(
  { env }: EnvironmentFacts,
  services: ReadonlyMap<string, VirtualService>,
  statuses: ObservedRoutes['statuses'],
): readonly VirtualService[] {
  const running = (list: readonly ResourceStatus[] = []): string[] =>
    list.filter(({ status }) => status === 'running').map(({ name, namespace }) => `${namespace}/${name}`);
  const before = new Set(
    Object.values(env.status?.subsetsStatus ?? {}).flatMap(({ virtualServices }) => running(virtualServices)),
  );
  const after = new Set([...statuses.values()].flatMap(running));
  return [...after].filter((key) => !before.has(key)).map((key) => services.get(key)!);
}

/** The longest wait for a mesh that reports its progress and does not finish. */
const MAX_WAIT_MS = 10_000;

/** How long a status still waits until proxies know the routes in these VirtualServices; 0 if they do. */
export function timeForProxies(
  time: Pick<View, 'heldFor'>,
  routed: readonly VirtualService[],
  { settleMs }: Pick<Settings, 'settleMs'>,
): number {
  const distributed = routed.map(isDistributed);
  if (settleMs === 0 || distributed.every((each) => each === true)) return 0;
  const within = distributed.includes(false) ? MAX_WAIT_MS : settleMs;
  return Math.max(0, within - time.heldFor('proxies learn of routes'));
}

interface Status {
  /** Protobuf writes 64-bit numbers as text. */
  readonly observedGeneration?: number | string;
  readonly conditions?: readonly { readonly type?: string; readonly status?: string }[];
}

/** Whether istiod reports that all proxies have the current VirtualService; undefined if it does not report that. */
export function isDistributed({ metadata, ...object }: VirtualService): boolean | undefined {
  const { observedGeneration, conditions = [] } = (object as { readonly status?: Status }).status ?? {};
  const reconciled = conditions.find(({ type }) => type === 'Reconciled');
  // Without a generation, the condition may be about an older version.
  if (reconciled === undefined || observedGeneration === undefined) return undefined;
  return reconciled.status === 'True' && Number(observedGeneration) >= (metadata.generation ?? 0);
}
