// Writes the routes of many environments to one VirtualService at once. Where the server refuses that, removals go
// through on their own, and additions by halves, until those are found that it refuses: only these are told so.
import type { Attempt, Notes, RefusedAttempt } from '../../controller/index.ts';
import { edit, keyOf } from '../../kube/index.ts';
import type { Step } from '../../kube/index.ts';
import { VirtualService } from '../../traffic/istio/objects.ts';
import type { DueWish } from './due.ts';
import { editService, isRemoval } from './edit.ts';
import type { JointEdit } from './plan.ts';
import { refusalKey, refusedAgain } from './refusals.ts';
import type { RouteRefusals } from './refusals.ts';

/** The least time between two writes to a VirtualService: every proxy hears of each. */
export const PACE_MS = 100;

type Attempts<R = void> = Generator<Step, R, Attempt>;

/** Carries out the plan of a VirtualService, and notes which wishes were refused. */
export function* writeRoutes(steps: readonly Step[], notes: Notes, refusals: RouteRefusals): Attempts {
  for (const step of steps as readonly JointEdit[]) {
    const writing = new Writing(step.from);
    const key = keyOf(step.from.metadata);
    const isSuspect = ({ environment }: DueWish): boolean => notes.read.has(refusals, refusalKey(key, environment));
    // Those that were refused before must not keep the others waiting again.
    yield* writing.all(step.wishes.filter((wish) => !isSuspect(wish)));
    for (const wish of step.wishes.filter(isSuspect)) yield* writing.all([wish]);
    noteRefusals(refusals, key, step, writing.refused, notes);
  }
}

/** The attempts to bring wishes into a VirtualService, one after the other. */
class Writing {
  /** By environment: what the server said. */
  readonly refused = new Map<string, string>();
  #service: VirtualService;

  constructor(service: VirtualService) {
    this.#service = service;
  }

  /** Writes wishes at once, or as many of them as the server takes. */
  *all(wishes: readonly DueWish[]): Attempts {
    const refusal = yield* this.#try(wishes);
    if (refusal === undefined) return;
    const changing = wishes.filter((wish) => editService(this.#service, [wish]).service !== this.#service);
    if (changing.length <= 1 || concernsAll(refusal)) {
      for (const { environment } of changing) this.refused.set(environment, refusal.message);
      return;
    }
    const removals = changing.filter((wish) => isRemoval(this.#service, wish));
    const additions = changing.filter((wish) => !removals.includes(wish));
    if (removals.length === 0 || additions.length === 0) return yield* this.#halves(changing);
    yield* this.all(removals);
    yield* this.all(additions);
  }

  *#halves(wishes: readonly DueWish[]): Attempts {
    const half = Math.ceil(wishes.length / 2);
    yield* this.all(wishes.slice(0, half));
    yield* this.all(wishes.slice(half));
  }

  /** Why the server refuses a write; undefined if it is written, or nothing has to be. */
  *#try(wishes: readonly DueWish[]): Attempts<RefusedAttempt | undefined> {
    const { service: to } = editService(this.#service, wishes);
    if (to === this.#service) return undefined;
    const attempt = yield edit(VirtualService, this.#service, to);
    if (attempt.did === 'refused') return attempt;
    this.#service = attempt.object as VirtualService;
    return undefined;
  }
}

/** Whether it is no part of the write that is refused: we may not write there at all. */
function concernsAll({ isForbidden, message }: RefusedAttempt): boolean {
  return isForbidden && !/admission|denied the request/.test(message);
}

/** Keeps what is refused, and forgets what is not any more. */
function noteRefusals(
  refusals: RouteRefusals,
  key: string,
  { from, wishes }: JointEdit,
  refused: ReadonlyMap<string, string>,
  notes: Notes,
): void {
  for (const wish of wishes) {
    const id = refusalKey(key, wish.environment);
    const message = refused.get(wish.environment);
    const before = notes.read.get(refusals, id);
    if (message !== undefined) notes.store(refusals, id, refusedAgain(before, wish, from, message, notes.now()));
    else if (before !== undefined) notes.delete(refusals, id);
  }
}
