// Edits of VirtualServices, which others own: each at most once a pass, whatever the subsets of an environment want.
import type { DynamicEnv, ResourceStatus } from '../../api/dynamicenv.ts';
import { edit, keyOf, withAnnotations } from '../../kube/index.ts';
import type { Step } from '../../kube/index.ts';
import { jsonEqual } from '../../watchable/index.ts';
import { keepsRoutes } from '../decision.ts';
import type { Decision, Entrance } from '../decision.ts';
import type { DueDecision } from './due.ts';
import { insertionOf } from '../facts.ts';
import type { EnvironmentFacts } from '../facts.ts';
import { isRouteOf, isRouteOfSubset } from '../../traffic/istio/inserted-routes.ts';
import type { RouteOwner } from '../../traffic/istio/inserted-routes.ts';
import { WATCH_ANNOTATION, withEnvironment, withoutEnvironment } from '../ownership.ts';
import { messages } from '../messages.ts';
import { VirtualService } from '../../traffic/istio/objects.ts';
import { withRoutes } from '../../traffic/istio/insert-routes.ts';
import type { RouteWish } from '../../traffic/istio/insert-routes.ts';
import { routeWarnings } from './warnings.ts';
import type { Settings } from '../settings.ts';
import { labelsProblem, ownRoots } from '../roots.ts';
import type { Roots } from '../roots.ts';

export interface Edits {
  readonly steps: Step[];
  /** By subset: the VirtualServices that lead to it or should, as they will be after this pass. */
  readonly statuses: Map<Decision, readonly ResourceStatus[]>;
  /** What becomes of the routes, for people. */
  readonly notes: string[];
  readonly warnings: string[];
  /** Routes that should go and can't. */
  readonly refusals: string[];
  /** The VirtualServices as they will be after this pass. */
  readonly services: ReadonlyMap<string, VirtualService>;
  /** Whether routes are taken out that requests may be on their way through. */
  routesLeave: boolean;
}

/** Edits of nothing. */
export function noEdits(services: Map<string, VirtualService> = new Map()): Edits {
  return { steps: [], statuses: new Map(), notes: [], warnings: [], refusals: [], services, routesLeave: false };
}

/** Edits every VirtualService that has routes of this environment or shall have some. */
export function planEdits(facts: EnvironmentFacts, decisions: readonly DueDecision[], settings: Settings): Edits {
  const { env, owner, refusal } = facts;
  const services = new Map<string, VirtualService>();
  const edits = noEdits(services);
  for (const decision of decisions) for (const [key, { service }] of entrancesOf(decision)) services.set(key, service);
  for (const service of facts.edited) services.set(keyOf(service.metadata), service);
  const untouched = decisions.filter(keepsRoutes).map(({ subset }) => subset);

  for (const [key, service] of services) {
    const insertions = decisions.flatMap(({ subset, due }) => {
      const hosts = due.hosts.get(key) ?? [];
      return hosts.length === 0 ? [] : [insertionOf(env, subset, hosts, settings)];
    });
    const roots = facts.roots.get(key) ?? ownRoots(service);
    if (insertions.length > 0) edits.warnings.push(...roots.superseded);
    const matches = env.spec?.istioMatches ?? [];
    const labels = labelsProblem(roots);
    const wish = { owner, matches, insertions, untouched, ...(labels !== undefined && { labelsProblem: labels }) };
    const edited = editRoutes(service, env, wish, roots);
    edits.warnings.push(...edited.warnings.map((text) => `VirtualService ${key}${text}`));
    if (edited.service === service) continue;
    const refused = refusal(VirtualService, service.metadata);
    if (refused !== undefined) {
      // Those who want routes there tell of it themselves.
      if (insertions.length === 0) edits.refusals.push(messages.routesNotRemoved(key, refused));
      continue;
    }
    services.set(key, edited.service);
    edits.steps.push(edit(VirtualService, service, edited.service));
    edits.notes.push(`VirtualService ${key}: ${edited.note}`);
    edits.routesLeave ||= edited.routesLeave;
  }
  for (const decision of decisions) edits.statuses.set(decision, statusesOf(owner, decision, services));
  return edits;
}

const NONE: ReadonlyMap<string, Entrance> = new Map();

function entrancesOf(decision: Decision): ReadonlyMap<string, Entrance> {
  return decision.action === 'route' ? decision.entrances : NONE;
}

/** What became of the VirtualServices that shall lead to a subset; of those that do, where they are left alone. */
function statusesOf(
  owner: RouteOwner,
  decision: DueDecision,
  services: ReadonlyMap<string, VirtualService>,
): readonly ResourceStatus[] {
  const isKept = keepsRoutes(decision);
  const entrances = entrancesOf(decision);
  return [...(isKept ? services.keys() : entrances.keys())].flatMap((key) => {
    const service = services.get(key)!;
    const leads = service.spec?.http?.some((route) => isRouteOfSubset(owner, decision.subset, service, route));
    if (!leads && isKept) return [];
    const { name, namespace = '' } = service.metadata;
    const due = decision.due.hosts.get(key) ?? [];
    const isOpen = due.length < (entrances.get(key)?.hosts.length ?? 0);
    const missing = isOpen ? 'unknown' : 'ignored-missing-virtual-service';
    return [{ name, namespace, status: leads ? 'running' : missing }];
  });
}

interface Edited {
  readonly service: VirtualService;
  readonly note: string;
  readonly warnings: readonly string[];
  readonly routesLeave: boolean;
}

/** A VirtualService as it shall be; the very same object when nothing differs. */
function editRoutes(service: VirtualService, env: DynamicEnv, wish: RouteWish, roots: Roots): Edited {
  const { owner, insertions, untouched } = wish;
  const routes = withRoutes(service, [wish]);
  const { http } = routes;
  const warnings = routeWarnings(service, routes, roots);
  const before = service.spec?.http ?? [];
  const isInvolved =
    insertions.length > 0 ||
    untouched.some((subset) => http.some((route) => isRouteOfSubset(owner, subset, service, route)));
  const annotation = isInvolved ? withEnvironment(env, service) : withoutEnvironment(env, service);
  const isSame = jsonEqual(http, before);
  if (isSame && annotation === (service.metadata.annotations?.[WATCH_ANNOTATION] ?? '')) {
    return { service, note: '', warnings, routesLeave: false };
  }
  const ours = http.filter((route) => isRouteOf(owner, service, route));
  const names = new Set(ours.map(({ name }) => name));
  return {
    service: {
      ...withAnnotations(service, { [WATCH_ANNOTATION]: annotation }),
      spec: { ...service.spec, ...(!isSame && { http }) },
    },
    note: noteOf(ours.length),
    warnings,
    routesLeave: before.some((route) => isRouteOf(owner, service, route) && !names.has(route.name)),
  };
}

function noteOf(count: number): string {
  if (count === 0) return 'no route leads to the environment';
  return count === 1 ? '1 route leads to the environment' : `${count} routes lead to the environment`;
}
