// Wishes for routes that the server refused: the controller of VirtualServices records them, and the plans of the
// environments read them.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import type { Chore } from '../../controller/index.ts';
import { refOf } from '../../kube/index.ts';
import { jsonEqual, WatchableMap } from '../../watchable/index.ts';
import { isInserted } from '../../traffic/istio/inserted-routes.ts';
import { VirtualService } from '../../traffic/istio/objects.ts';
import type { HttpRoute } from '../../traffic/istio/objects.ts';
import type { DueWish } from './due.ts';

/** A refused wish. */
export interface RouteRefusal {
  readonly wish: DueWish;
  /** The base routes at the time of the attempt. */
  readonly base: readonly HttpRoute[];
  /** The error of the server. */
  readonly message: string;
  /** The number of refusals in a row. */
  readonly times: number;
  /** When it is retried: the cause may disappear without an event. */
  readonly retryAt: number;
}

export type RouteRefusals = WatchableMap<string, RouteRefusal>;

/** A new, empty map of refusals. */
export function routeRefusals(): RouteRefusals {
  return new WatchableMap({ name: 'route refusals' });
}

/** The key of the refusal of an environment's wish for a VirtualService. */
export function refusalKey(service: string, environment: string): string {
  return `${service} ${environment}`;
}

const FORGET_EVERY_MS = 60_000;

/** Forgets the refusals of environments and VirtualServices that are gone. */
export function forgetRefusals(refusals: RouteRefusals): Chore {
  return {
    name: 'route-refusals',
    everyMs: FORGET_EVERY_MS,
    run({ facts }) {
      for (const id of refusals.keys()) {
        const [service, environment] = id.split(' ') as [string, string];
        const isThere = facts.get(VirtualService, refOf(service)) && facts.get(DynamicEnv, refOf(environment));
        if (isThere === undefined) refusals.delete(id);
      }
      return Promise.resolve();
    },
  };
}

/** Whether not to try a wish now: it is the same that was refused, and the retry is not due. */
export function isHeldBack(
  refusal: RouteRefusal | undefined,
  wish: DueWish,
  service: VirtualService,
  now: number,
): refusal is RouteRefusal {
  return (
    refusal !== undefined &&
    now < refusal.retryAt &&
    jsonEqual(refusal.wish, wish) &&
    jsonEqual(refusal.base, baseRoutes(service))
  );
}

const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 15_000;

/** The next refusal of a wish, with backoff. */
export function refusedAgain(
  before: RouteRefusal | undefined,
  wish: DueWish,
  service: VirtualService,
  message: string,
  now: number,
): RouteRefusal {
  const times = (before?.times ?? 0) + 1;
  const retryAt = now + Math.min(FIRST_RETRY_MS * 2 ** Math.min(times - 1, 10), LAST_RETRY_MS);
  return { wish, base: baseRoutes(service), message, times, retryAt };
}

function baseRoutes({ spec }: VirtualService): readonly HttpRoute[] {
  return (spec?.http ?? []).filter((route) => !isInserted(route));
}
