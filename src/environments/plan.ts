// The plan of an environment: what to make, to edit and to remove now, given what is observed. Everything that the
// controller, the command line and the tests know of environments comes from this function.
import { DynamicEnv } from '../api/dynamicenv.ts';
import type { Subset } from '../api/dynamicenv.ts';
import type { ResourceStatus } from '../api/dynamicenv.ts';
import type { Plan, PlannedEvent, View } from '../controller/index.ts';
import { edit, keyOf } from '../kube/index.ts';
import type { Step } from '../kube/index.ts';
import { jsonEqual } from '../watchable/index.ts';
import { insertionOf, planItem } from './item.ts';
import type { Item } from './item.ts';
import { leave } from './leave.ts';
import { messages } from './messages.ts';
import {
  isRouteOfSubset,
  statusKey,
  uniqueVersion,
  WATCH_ANNOTATION,
  withEnvironment,
  withoutEnvironment,
} from './names.ts';
import { VirtualService } from './objects.ts';
import { withRoutes } from './routes.ts';
import type { Settings } from './settings.ts';
import { statusOf, transitions } from './status.ts';
import type { Overall } from './status.ts';
import { findEdited } from './world.ts';

/** Plans one environment. */
export function planEnvironment(view: View, env: DynamicEnv, settings: Settings): Plan {
  if (env.metadata.deletionTimestamp !== undefined) return planDeletion(view, env, settings);
  const refusal = refused(view, env);
  if (refusal !== undefined) return planRefusal(view, env, refusal);

  const { subsets = [], consumers = [] } = env.spec ?? {};
  const items = [
    ...subsets.map((subset) => planItem(view, env, subset, false, settings)),
    ...consumers.map((consumer) => planItem(view, env, consumer, true, settings)),
  ];
  const traffic = planRoutes(view, env, items, settings);
  const leaving = leave(view, env, items, traffic.steps.length > 0, settings);
  const overall: Overall = {
    items,
    leaving: leaving.entries,
    routes: traffic.statuses,
    warnings: [...items.flatMap((item) => item.warnings), ...traffic.warnings],
  };
  const status = statusOf(env, overall, view.now());
  const again = [...items.map(({ waitMs }) => waitMs), leaving.waitMs].filter((ms) => ms !== undefined);
  return {
    // Make before break: a clone and its rule are there before a route leads to them, and go after it is gone.
    steps: [...items.flatMap((item) => item.steps), ...traffic.steps, ...leaving.steps],
    status,
    events: [...traffic.events, ...warningEvents(overall), ...transitions(env, status)],
    ...(again.length > 0 && { requeueAfterMs: Math.min(...again) }),
  };
}

interface Refusal {
  readonly reason: string;
  readonly message: string;
}

/** Why an environment can't be made at all: its names would be those of another one, or no valid names. */
function refused(view: View, env: DynamicEnv): Refusal | undefined {
  const version = uniqueVersion(env.metadata);
  if (!/^[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?$/.test(version)) {
    const message = `"${version}", made from namespace and name, is not a valid subset name: choose a name of letters, digits and hyphens that does not break at its 40th character`;
    return { reason: 'InvalidName', message };
  }
  const key = keyOf(env.metadata);
  for (const other of view.index(DynamicEnv, 'version', version)) {
    if (keyOf(other.metadata) === key || !isOlder(other, env)) continue;
    return { reason: 'NameCollision', message: messages.collision(keyOf(other.metadata), key, version) };
  }
  return undefined;
}

/** Which of two environments was there first; by key when they came at once. */
function isOlder(a: DynamicEnv, b: DynamicEnv): boolean {
  const order = (env: DynamicEnv): string => `${env.metadata.creationTimestamp ?? ''} ${keyOf(env.metadata)}`;
  return order(a) < order(b);
}

function planRefusal(view: View, env: DynamicEnv, refusal: Refusal): Plan {
  const { subsets = [], consumers = [] } = env.spec ?? {};
  const overall = { items: [], leaving: { subsets: {}, consumers: {} }, routes: new Map(), refusal, warnings: [] };
  const totalCount = subsets.length + consumers.length;
  const status = { ...statusOf(env, overall, view.now()), ...(totalCount > 0 && { totalCount }) };
  const isNew = env.status?.state !== 'degraded';
  return {
    status,
    events: isNew ? [{ type: 'Warning', reason: refusal.reason, note: refusal.message }] : [],
  };
}

interface Traffic {
  readonly steps: Step[];
  readonly statuses: Map<Item, ResourceStatus[]>;
  readonly events: PlannedEvent[];
  readonly warnings: string[];
}

/** Edits every VirtualService that has routes of this environment or shall have some, each at most once. */
function planRoutes(view: View, env: DynamicEnv, items: readonly Item[], settings: Settings): Traffic {
  const traffic: Traffic = { steps: [], statuses: new Map(), events: [], warnings: [] };
  const services = new Map<string, VirtualService>();
  for (const item of items) for (const [key, { service }] of item.virtualServices) services.set(key, service);
  for (const service of findEdited(view, env)) services.set(keyOf(service.metadata), service);
  const untouched = items.filter(({ routes, consumer }) => routes === 'untouched' && !consumer);

  const after = new Map<string, VirtualService>();
  for (const [key, service] of services) {
    const wanting = items.filter((item) => item.routes === 'insert' && item.virtualServices.has(key));
    const insertions = wanting.map((item) => insertionOf(item, item.virtualServices.get(key)!.hosts, settings));
    const edited = editRoutes(
      env,
      service,
      insertions,
      untouched.map(({ subset }) => subset),
    );
    after.set(key, edited.service);
    traffic.warnings.push(...edited.warnings);
    if (edited.service === service) continue;
    traffic.steps.push(edit(VirtualService, service, edited.service));
    traffic.events.push({ type: 'Normal', reason: 'RoutesChanged', note: `VirtualService ${key}: ${edited.note}` });
  }
  for (const item of items) {
    const statuses = [...item.virtualServices].map(([key, { service }]) => ({
      name: service.metadata.name,
      namespace: service.metadata.namespace ?? '',
      status: routeStatus(env, item, after.get(key) ?? service),
    }));
    traffic.statuses.set(item, statuses);
  }
  return traffic;
}

function routeStatus(env: DynamicEnv, item: Item, service: VirtualService): string {
  if (service.spec?.http?.some((route) => isRouteOfSubset(env.metadata, item.subset, route))) return 'running';
  return item.routes === 'wait' ? 'unknown' : 'ignored-missing-virtual-service';
}

/** A VirtualService as it shall be; the very same object when nothing differs. */
export function editRoutes(
  env: DynamicEnv,
  service: VirtualService,
  insertions: Parameters<typeof withRoutes>[2],
  untouched: readonly Subset[],
): { readonly service: VirtualService; readonly note: string; readonly warnings: readonly string[] } {
  const { http, leftOut } = withRoutes(service, env, insertions, untouched);
  const key = keyOf(service.metadata);
  const warnings = leftOut.map(
    ({ on, base, env: ours, subset, route }) =>
      `VirtualService ${key}${route && `, route ${route}`}: no route for ${statusKey(subset)}, for its ${on} asks for ${base} and the environment for ${ours}`,
  );
  const involved =
    insertions.length > 0 ||
    untouched.some((subset) => http.some((route) => isRouteOfSubset(env.metadata, subset, route)));
  const annotation = involved ? withEnvironment(env, service) : withoutEnvironment(env, service);
  const before = service.metadata.annotations?.[WATCH_ANNOTATION];
  const sameRoutes = jsonEqual(http, service.spec?.http ?? []);
  if (sameRoutes && annotation === (before ?? '')) return { service, note: '', warnings };
  const annotations = { ...service.metadata.annotations, [WATCH_ANNOTATION]: annotation };
  const count = http.filter((route) =>
    insertions.some(({ subset }) => isRouteOfSubset(env.metadata, subset, route)),
  ).length;
  return {
    service: {
      ...service,
      metadata: { ...service.metadata, annotations },
      spec: { ...service.spec, ...(sameRoutes ? {} : { http }) },
    },
    note: count === 0 ? 'routes of the environment removed' : `${count} routes lead to the environment`,
    warnings,
  };
}

function warningEvents({ warnings }: Overall): PlannedEvent[] {
  return warnings.map((note) => ({ type: 'Warning', reason: 'Warning', note }));
}

/** Routes go first; rules and clones follow once nobody is sent there any more. */
function planDeletion(view: View, env: DynamicEnv, settings: Settings): Plan {
  const traffic = planRoutes(view, env, [], settings);
  const leaving = leave(view, env, [], traffic.steps.length > 0, settings);
  const steps = [...traffic.steps, ...leaving.steps];
  return {
    steps,
    finished: steps.length === 0 && leaving.gone,
    events: traffic.events,
    ...(leaving.waitMs !== undefined && { requeueAfterMs: leaving.waitMs }),
  };
}
