// The plan of a VirtualService: the routes of all environments in one write. It gets no status and no finalizer: an
// environment sees the result in the VirtualService itself or in the refusals.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import type { Plan, PlannedEvent, View } from '../../controller/index.ts';
import { edit, keyOf, refOf } from '../../kube/index.ts';
import type { Edit } from '../../kube/index.ts';
import { VirtualService } from '../../traffic/istio/objects.ts';
import { jsonEqual } from '../../watchable/index.ts';
import { byPrecedence } from '../identity/identity.ts';
import type { Settings } from '../settings.ts';
import { dueWish } from './due.ts';
import type { DueWish } from './due.ts';
import { editService, routesOf } from './edit.ts';
import { routeCount } from './obstacles.ts';
import { isHeldBack, refusalKey } from './refusals.ts';
import type { RouteRefusals } from './refusals.ts';
import type { RouteWishes } from './wishes.ts';

/** The maps that the plan of a VirtualService reads beside the tables. */
export interface RouteMaps {
  readonly wishes: RouteWishes;
  readonly refusals: RouteRefusals;
}

/** One write for all wishes. If the server refuses it, write.ts finds the wish that causes it. */
export interface JointEdit extends Edit {
  readonly from: VirtualService;
  readonly to: VirtualService;
  readonly wishes: readonly DueWish[];
}

/** Plans one VirtualService. */
export function planVirtualService(view: View, service: VirtualService, maps: RouteMaps, settings: Settings): Plan {
  const key = keyOf(service.metadata);
  const now = view.now();
  const waits: number[] = [];
  const wishes: DueWish[] = [];
  for (const each of view.read.index(view.model(maps.wishes), 'virtualService', key).toSorted(byPrecedence)) {
    const due = dueWish(each, key, now, settings);
    waits.push(...due.waits);
    const refusal = view.read.get(maps.refusals, refusalKey(key, each.environment));
    if (isHeldBack(refusal, due.wish, service, now)) waits.push(refusal.retryAt - now);
    else wishes.push(due.wish);
  }
  const { service: to } = editService(service, wishes);
  const step: JointEdit = { ...edit(VirtualService, service, to), from: service, to, wishes };
  return {
    ...(to !== service && { steps: [step], events: routeEvents(view, step) }),
    ...(waits.length > 0 && { requeueAfterMs: Math.min(...waits) }),
  };
}

/** Events for changed routes of environments that are ready; for others, the change of their state is enough. */
function routeEvents(view: View, { from, to, wishes }: JointEdit): readonly PlannedEvent[] {
  return wishes.flatMap(({ owner, environment }): readonly PlannedEvent[] => {
    if (jsonEqual(routesOf(owner, to), routesOf(owner, from))) return [];
    const env = view.get(DynamicEnv, refOf(environment));
    if (env?.status?.state !== 'ready' || env.metadata.deletionTimestamp !== undefined) return [];
    return [{ type: 'Normal', reason: 'RoutesChanged', note: routeCount(to, owner), regarding: env }];
  });
}
