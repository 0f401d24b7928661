// What of an environment's routes is due at a moment, and what still waits: for its clone to run, or for proxies to know
// its rule.
import type { RouteWish } from '../../traffic/istio/insert-routes.ts';
import type { Decision, RoutedHost } from '../decision.ts';
import { messages } from '../messages.ts';
import type { Settings } from '../settings.ts';
import type { EnvironmentWishes } from './wishes.ts';

/** Clocks of two machines may differ by this much. */
const MOST_SKEW_MS = 5_000;

/** What an environment wants of a VirtualService now. */
export interface DueWish extends RouteWish {
  /** `namespace/name`. */
  readonly environment: string;
}

/** What is due of the wishes of an environment for a VirtualService, and after what time there is more. */
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
  return { wish: { ...rest, environment, owner, matches, insertions: due }, waits };
}

/** How far the routes of a subset are at a moment. */
export interface DueRoutes {
  /** Whether none of them is due. */
  readonly wait: boolean;
  /** Until the next of them is, as far as that is a matter of time. */
  readonly waitMs?: number;
}

/** A decision with what of it is due now. */
export type DueDecision = Decision & { readonly due: DueRoutes };

/** A decision at a moment: while a crash loop may not be over, it is the problem of the clone. */
export function atMoment(decision: Decision, now: number): Decision {
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

/** How far the routes of a decision are. */
export function dueRoutes(decision: Decision, now: number, settings: Settings): DueRoutes {
  if (decision.action !== 'route') return { wait: true };
  const { entrances, startsAt } = decision;
  const hosts = [...entrances.values()].flatMap((entrance) => entrance.hosts);
  const waits = hosts.map((host) => waitOf(host, startsAt, now, settings));
  const next = Math.min(...waits.filter((ms) => ms !== undefined));
  const wait = waits.length > 0 && !waits.includes(undefined);
  return { wait, ...(next < Infinity && { waitMs: next }) };
}

/** How long a route still waits; Infinity where something has to come first; undefined if it is due. */
export function waitOf(
  { settledAt }: RoutedHost,
  startsAt: number | undefined,
  now: number,
  { settleMs }: Settings,
): number | undefined {
  const starting = left(startsAt, now, Infinity);
  if (starting !== undefined) return starting;
  // A time to come is that of a clock that goes wrong: nobody waits for hours.
  return left(settledAt, now, settleMs + 1_000 + MOST_SKEW_MS);
}

/** The time until a moment; undefined when it is over, or so far off that it can't be right. */
function left(at: number | undefined, now: number, most: number): number | undefined {
  if (at === undefined || at === Infinity) return at;
  const ms = at - now;
  return ms > 0 && ms <= most ? ms : undefined;
}
