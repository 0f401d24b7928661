// Writes the routes of many environments to one VirtualService at once. If the server refuses that, removals are
// written first, and additions by bisection, until the refused wishes are found: only their environments report it.
import type { Attempt, Notes, RefusedAttempt } from '../../controller/index.ts';
import { edit, keyOf } from '../../kube/index.ts';
import type { Step } from '../../kube/index.ts';
import { VirtualService } from '../../traffic/istio/objects.ts';
import type { DueWish } from './due.ts';
import { editService, isRemoval } from './edit.ts';
import type { JointEdit } from './plan.ts';
import { refusalKey, refusedAgain } from './refusals.ts';
import type { RouteRefusals } from './refusals.ts';

/** The minimum time between two writes to a VirtualService: each is pushed to every proxy. */
export const PACE_MS = 100;

type Attempts<R = void> = Generator<Step, R, Attempt>;

/** Carries out the plan of a VirtualService, and records which wishes were refused. */
export function* writeRoutes(steps: readonly Step[], notes: Notes, refusals: RouteRefusals): Attempts {
  for (const step of steps as readonly JointEdit[]) {
    const writing = new Writing(step.from);
    const key = keyOf(step.from.metadata);
    const isSuspect = ({ environment }: DueWish): boolean => notes.read.has(refusals, refusalKey(key, environment));
    // Wishes that were refused before must not delay the others again.
    yield* writing.all(step.wishes.filter((wish) => !isSuspect(wish)));
    for (const wish of step.wishes.filter(isSuspect)) yield* writing.all([wish]);
    noteRefusals(refusals, key, step, writing.refused, notes);
  }
}

/** Tries to write wishes to a VirtualService, one attempt after the other. */
class Writing {
  /** By environment: the error of the server. */
  readonly refused = new Map<string, string>();
  #service: VirtualService;

  constructor(service: VirtualService) {
    this.#service = service;
  }

  /** Writes wishes at once, or as many of them as the server accepts. */
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

  /** Tries one write; returns the refusal, or undefined if it succeeds or there is nothing to write. */
  *#try(wishes: readonly DueWish[]): Attempts<RefusedAttempt | undefined> {
    const { service: to } = editService(this.#service, wishes);
    if (to === this.#service) return undefined;
    const attempt = yield edit(VirtualService, this.#service, to);
    if (attempt.did === 'refused') return attempt;
    this.#service = attempt.object as VirtualService;
    return undefined;
  }
}

/** Whether the whole write is forbidden, whatever its content. */
function concernsAll({ isForbidden, message }: RefusedAttempt): boolean {
  return isForbidden && !/admission|denied the request/.test(message);
}

/** Records refused wishes, and forgets those that are accepted now. */
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
