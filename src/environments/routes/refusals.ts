// Wishes for routes that the server refused: the controller of VirtualServices writes them down, the plans of the
// environments concerned read them.
import { jsonEqual, WatchableMap } from '../../watchable/index.ts';
import { isInserted } from '../../traffic/istio/inserted-routes.ts';
import type { HttpRoute, VirtualService } from '../../traffic/istio/objects.ts';
import type { DueWish } from './due.ts';

/** A wish that was refused. */
export interface RouteRefusal {
  readonly wish: DueWish;
  /** The routes of others that it was tried with. */
  readonly base: readonly HttpRoute[];
  /** What the server said. */
  readonly message: string;
  /** How often in a row. */
  readonly times: number;
  /** When it is tried again, for what the server asks for may change unseen. */
  readonly retryAt: number;
}

export type RouteRefusals = WatchableMap<string, RouteRefusal>;

/** Refusals of nothing yet. */
export function routeRefusals(): RouteRefusals {
  return new WatchableMap({ name: 'route refusals' });
}

/** Where the refusal of an environment's wish for a VirtualService is. */
export function refusalKey(service: string, environment: string): string {
  return `${service} ${environment}`;
}

/** Whether it is of no use to try a wish now: it is the same that was refused, and not the time to try again. */
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

/** The next refusal of a wish after those that there were. */
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
