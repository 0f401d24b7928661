// Which routes of an environment are due now, and which still wait: for the clone to run, or for proxies to know its
// rule.
import type { RouteWish } from '../../traffic/istio/insert-routes.ts';
import type { Decision, RoutedHost } from '../decision.ts';
import { messages } from '../status/messages.ts';
import type { Settings } from '../settings.ts';
import type { EnvironmentWishes } from './wishes.ts';

/** The maximum clock skew between two machines. */
const MAX_SKEW_MS = 5_000;

/** The routes that an environment wants in a VirtualService now. */
export interface DueWish extends RouteWish {
  /** `namespace/name`. */
  readonly environment: string;
  /** Whether it wants routes and none of them is due yet. */
  readonly isWaiting?: boolean;
}

/** The wish of an environment for a VirtualService that is due now, and how long other routes still wait. */
export function dueWish(
  { environment, owner, matches, virtualServices }: EnvironmentWishes,
  service: string,
  now: number,
  settings: Settings,
): { readonly wish: DueWish; readonly waits: readonly number[] } {
  const { insertions, ...rest } = virtualServices[service] ?? { insertions: [], untouched: [] };
  const waits: number[] = [];
  const due = insertions.flatMap(({ hosts, startsAt, ...insertion }) => {
    const waiting = hosts.map((host) => waitOf(host, startsAt, now, settings));
    waits.push(...waiting.filter((ms) => ms !== undefined && ms < Infinity).map(Number));
    const dueHosts = hosts.filter((_host, i) => waiting[i] === undefined).map(({ host }) => host);
    return dueHosts.length === 0 ? [] : [{ ...insertion, hosts: dueHosts }];
  });
  const isWaiting = insertions.length > 0 && due.length === 0;
  return { wish: { ...rest, environment, owner, matches, insertions: due, isWaiting }, waits };
}

/** Which routes of a subset are due now. */
export interface DueRoutes {
  /** Whether none of them is due. */
  readonly wait: boolean;
  /** Time until the next one is due, if only time is missing. */
  readonly waitMs?: number;
}

/** A decision with the routes that are due now. */
export type DueDecision = Decision & { readonly due: DueRoutes };

/** A decision at this time: until a crash loop is over, it is the problem of the clone. */
export function atTime(decision: Decision, now: number): Decision {
  const { loop, cloneStatus } = decision;
  if (loop === undefined || loop.until <= now) return decision;
  const { problem } = loop;
  return {
    ...decision,
    problem,
    cloneStatus: { ...cloneStatus, message: problem.message },
    unanswered: decision.unanswered ?? (loop.isEverywhere ? messages.noPod(problem) : undefined),
  };
}

/** Which routes of a decision are due. */
export function dueRoutes(decision: Decision, now: number, settings: Settings): DueRoutes {
  if (decision.action !== 'route') return { wait: true };
  const { entrances, startsAt } = decision;
  const hosts = [...entrances.values()].flatMap((entrance) => entrance.hosts);
  const waits = hosts.map((host) => waitOf(host, startsAt, now, settings));
  const next = Math.min(...waits.filter((ms) => ms !== undefined));
  const wait = waits.length > 0 && !waits.includes(undefined);
  return { wait, ...(next < Infinity && { waitMs: next }) };
}

/** How long a route still waits; Infinity if it waits for an object; undefined if it is due. */
export function waitOf(
  { settledAt }: RoutedHost,
  startsAt: number | undefined,
  now: number,
  { settleMs }: Settings,
): number | undefined {
  const starting = timeLeft(startsAt, now, Infinity);
  if (starting !== undefined) return starting;
  // A time far in the future comes from a wrong clock: do not wait for it.
  return timeLeft(settledAt, now, settleMs + 1_000 + MAX_SKEW_MS);
}

/** The time left until `at`; undefined when it has passed, or is too far away to be right. */
function timeLeft(at: number | undefined, now: number, maxMs: number): number | undefined {
  if (at === undefined || at === Infinity) return at;
  const ms = at - now;
  return ms > 0 && ms <= maxMs ? ms : undefined;
}
