// Edits of VirtualServices, which others own: each at most once a pass, whatever the subsets of an environment want.
import type { DynamicEnv, ResourceStatus } from '../api/dynamicenv.ts';
import type { View } from '../controller/index.ts';
import { edit, keyOf, withAnnotations } from '../kube/index.ts';
import type { Step } from '../kube/index.ts';
import { jsonEqual } from '../watchable/index.ts';
import type { Item } from './decision.ts';
import { isRouteOf, isRouteOfSubset, WATCH_ANNOTATION, withEnvironment, withoutEnvironment } from './ownership.ts';
import type { Owner } from './ownership.ts';
import { messages } from './messages.ts';
import { VirtualService } from '../traffic/istio/objects.ts';
import { insertionOf } from './reach.ts';
import { withRoutes } from './routes.ts';
import type { Wishes } from './routes.ts';
import type { Settings } from './settings.ts';
import { findEdited } from './lookup.ts';

export interface Edits {
  readonly steps: Step[];
  /** By item: the VirtualServices that lead to it or should, as they will be after this pass. */
  readonly statuses: Map<Item, ResourceStatus[]>;
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
export function planEdits(
  view: View,
  env: DynamicEnv,
  owner: Owner,
  items: readonly Item[],
  settings: Settings,
): Edits {
  const services = new Map<string, VirtualService>();
  const edits = noEdits(services);
  for (const item of items) for (const [key, { service }] of item.virtualServices) services.set(key, service);
  for (const service of findEdited(view, env)) services.set(keyOf(service.metadata), service);
  const untouched = items.filter(({ routes, consumer }) => routes === 'untouched' && !consumer);

  for (const [key, service] of services) {
    const wanting = items.filter(
      (item) => item.routes === 'insert' && (item.virtualServices.get(key)?.hosts ?? []).length > 0,
    );
    const edited = editRoutes(service, {
      env,
      owner,
      insertions: wanting.map((item) => insertionOf(item, item.virtualServices.get(key)!.hosts, settings)),
      untouched: untouched.map(({ subset }) => subset),
    });
    edits.warnings.push(...edited.warnings.map((text) => `VirtualService ${key}${text}`));
    if (edited.service === service) continue;
    const refusal = view.refusal(VirtualService, service.metadata);
    if (refusal !== undefined) {
      // Those who want routes there tell of it themselves.
      if (wanting.length === 0) edits.refusals.push(messages.routesNotRemoved(key, refusal));
      continue;
    }
    services.set(key, edited.service);
    edits.steps.push(edit(VirtualService, service, edited.service));
    edits.notes.push(`VirtualService ${key}: ${edited.note}`);
    edits.routesLeave ||= edited.routesLeave;
  }
  for (const item of items) edits.statuses.set(item, statusesOf(owner, item, services));
  return edits;
}

/** What became of the VirtualServices that an item is about; of an item that is left alone, of those that lead to it. */
function statusesOf(owner: Owner, item: Item, services: ReadonlyMap<string, VirtualService>): ResourceStatus[] {
  const statuses: ResourceStatus[] = [];
  const keys = item.routes === 'untouched' ? services.keys() : item.virtualServices.keys();
  for (const key of item.consumer ? [] : keys) {
    const service = services.get(key)!;
    const leads = service.spec?.http?.some((route) => isRouteOfSubset(owner, item.subset, service, route)) ?? false;
    if (!leads && item.routes === 'untouched') continue;
    const { name, namespace = '' } = service.metadata;
    const isOpen = item.routes === 'wait' || (item.virtualServices.get(key)?.settling ?? []).length > 0;
    const missing = isOpen ? 'unknown' : 'ignored-missing-virtual-service';
    statuses.push({ name, namespace, status: leads ? 'running' : missing });
  }
  return statuses;
}

interface Edited {
  readonly service: VirtualService;
  readonly note: string;
  readonly warnings: readonly string[];
  readonly routesLeave: boolean;
}

/** A VirtualService as it shall be; the very same object when nothing differs. */
function editRoutes(service: VirtualService, wishes: Wishes): Edited {
  const { env, owner, insertions, untouched } = wishes;
  const { http, warnings } = withRoutes(service, wishes);
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
