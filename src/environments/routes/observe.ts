// How the routes of one environment are in the VirtualServices, beside how they should be: what its status tells.
import type { ResourceStatus } from '../../api/dynamicenv.ts';
import { isRouteOfSubset } from '../../traffic/istio/inserted-routes.ts';
import type { RouteOwner } from '../../traffic/istio/inserted-routes.ts';
import type { VirtualService } from '../../traffic/istio/objects.ts';
import { keyOf } from '../../kube/index.ts';
import { keepsRoutes } from '../decision.ts';
import type { Decision } from '../decision.ts';
import type { EnvironmentFacts } from '../facts.ts';
import { matchTitle } from '../matches.ts';
import { isPaused } from '../lifecycle/paused.ts';
import { messages } from '../messages.ts';
import { ownRoots } from '../roots.ts';
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
  /** Those of them that are about to be written. */
  readonly pending: ReadonlySet<string>;
  /** By subset: the VirtualServices that lead to it or should. */
  readonly statuses: ReadonlyMap<Decision, readonly ResourceStatus[]>;
  /** Those that lead to the environment since its status was last written. */
  readonly newlyRouted: readonly VirtualService[];
  /** The same for people. */
  readonly news: readonly string[];
  readonly warnings: readonly string[];
  /** Routes that should go and can't. */
  readonly refusals: readonly string[];
}

/** Of an environment that has no routes. */
export const NO_ROUTES: ObservedRoutes = {
  services: new Map(),
  pending: new Set(),
  statuses: new Map(),
  newlyRouted: [],
  news: [],
  warnings: [],
  refusals: [],
};

/** Looks at every VirtualService that has routes of this environment or should have some. */
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
    // Those who want routes there tell of it themselves.
    else if (wish.insertions.length === 0) refusals.push(messages.routesNotRemoved(key, refused));
  }
  const statuses = new Map(
    decisions.map((decision) => [decision, statusesOf(facts, decision, services, pending, now, settings)]),
  );
  const newlyRouted = newlyRoutedIn(facts, services, statuses);
  const news = newlyRouted.map((each) => routeCount(each, facts.owner, facts.roots.get(keyOf(each.metadata))));
  return { services, pending, statuses, newlyRouted, news, warnings, refusals };
}

/** What the status says of the VirtualServices that should lead to a subset; of those that do, where routes stay. */
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
