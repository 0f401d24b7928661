// What of an environment's routes is due at a moment, and what still waits: for its clone to run, or for proxies to know
// its rule.
import type { Decision, Entrance } from '../decision.ts';
import { messages } from '../messages.ts';
import type { Settings } from '../settings.ts';

/** Clocks of two machines may differ by this much. */
const MOST_SKEW_MS = 5_000;

/** The routes of a decision at a moment. */
export interface DueRoutes {
  /** Whether none of them is due. */
  readonly wait: boolean;
  /** Until the next of them is. */
  readonly waitMs?: number;
  /** By VirtualService: the hosts whose routes are due. */
  readonly hosts: ReadonlyMap<string, readonly string[]>;
}

/** A decision with what of it is due now. */
export type DueDecision = Decision & { readonly due: DueRoutes };

const NOTHING: ReadonlyMap<string, readonly string[]> = new Map();

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

/** What is due of a decision. */
export function dueRoutes(decision: Decision, now: number, settings: Settings): DueRoutes {
  if (decision.action !== 'route') return { wait: true, hosts: NOTHING };
  const { entrances, startsAt } = decision;
  const starting = startsAt === undefined ? undefined : left(startsAt, settings.routeAfterMs, now, Infinity);
  // A time to come is that of a clock that goes wrong: nobody waits for hours.
  const longest = settings.settleMs + 1_000;
  const settling = ({ settledAt }: Entrance['hosts'][number]): number | undefined =>
    settledAt === undefined ? undefined : left(settledAt, longest, now, longest + MOST_SKEW_MS);
  const hosts = new Map<string, readonly string[]>();
  const waits: number[] = [];
  for (const [key, entrance] of entrances) {
    const due = entrance.hosts.filter((each) => settling(each) === undefined);
    waits.push(...entrance.hosts.map(settling).filter((ms) => ms !== undefined));
    hosts.set(
      key,
      due.map(({ host }) => host),
    );
  }
  const waitMs = starting ?? (waits.length > 0 ? Math.min(...waits) : undefined);
  const allSettle = waits.length > 0 && [...hosts.values()].every((each) => each.length === 0);
  const wait = starting !== undefined || allSettle;
  return { wait, ...(waitMs !== undefined && { waitMs }), hosts: wait ? NOTHING : hosts };
}

/** The time until a moment, from the beginning if that has not come; undefined when it is over or can't be right. */
function left(at: number, whole: number, now: number, most: number): number | undefined {
  const ms = at === Infinity ? whole : at - now;
  return ms > 0 && ms <= most ? ms : undefined;
}
