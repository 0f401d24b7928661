// Writes the routes of many environments to one VirtualService at once. Where the server refuses that, removals go
// through on their own, and additions by halves, until those are found that it refuses: only these are told so.
import { isRefusal, refusalText } from '../../controller/index.ts';
import type { StepWriter } from '../../controller/index.ts';
import { delay, edit, isForbidden, keyOf } from '../../kube/index.ts';
import type { Outcome, Step, StepFailed } from '../../kube/index.ts';
import { VirtualService } from '../../traffic/istio/objects.ts';
import type { DueWish } from './due.ts';
import { editService, isRemoval } from './edit.ts';
import type { JointEdit } from './plan.ts';
import { refusalKey, refusedAgain } from './refusals.ts';
import type { RouteRefusals } from './refusals.ts';

/** The least time between two writes to a VirtualService: every proxy hears of each. */
export const PACE_MS = 100;

/** Carries out the plan of a VirtualService, and writes down which wishes were refused. */
export async function writeRoutes(
  steps: readonly Step[],
  writer: StepWriter,
  refusals: RouteRefusals,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const step of steps as readonly JointEdit[]) {
    const attempts = new Attempts(step.from, writer);
    const key = keyOf(step.from.metadata);
    const isSuspect = ({ environment }: DueWish): boolean => refusals.has(refusalKey(key, environment));
    // Those that were refused before must not keep the others waiting again.
    await attempts.writeAll(step.wishes.filter((wish) => !isSuspect(wish)));
    await attempts.writeEach(step.wishes.filter(isSuspect));
    remember(refusals, key, step, attempts, writer.clock.now());
    outcomes.push(...attempts.outcomes);
  }
  return outcomes;
}

/** The attempts to bring wishes into a VirtualService, one after the other. */
class Attempts {
  /** By environment: what the server said. */
  readonly refused = new Map<string, string>();
  readonly outcomes: Outcome[] = [];
  readonly #writer: StepWriter;
  #service: VirtualService;

  constructor(service: VirtualService, writer: StepWriter) {
    this.#service = service;
    this.#writer = writer;
  }

  /** Writes wishes at once, or as many of them as the server takes. */
  async writeAll(wishes: readonly DueWish[]): Promise<void> {
    const refusal = await this.#try(wishes);
    if (refusal === undefined) return;
    const changing = wishes.filter((wish) => editService(this.#service, [wish]).service !== this.#service);
    if (changing.length <= 1 || concernsAll(refusal)) return this.#refuse(changing, refusal);
    const removals = changing.filter((wish) => isRemoval(this.#service, wish));
    const additions = changing.filter((wish) => !removals.includes(wish));
    if (removals.length === 0 || additions.length === 0) return this.#writeHalves(changing);
    await this.writeAll(removals);
    await this.writeAll(additions);
  }

  async writeEach(wishes: readonly DueWish[]): Promise<void> {
    for (const wish of wishes) await this.writeAll([wish]);
  }

  async #writeHalves(wishes: readonly DueWish[]): Promise<void> {
    const half = Math.ceil(wishes.length / 2);
    await this.writeAll(wishes.slice(0, half));
    await this.writeAll(wishes.slice(half));
  }

  #refuse(wishes: readonly DueWish[], refusal: StepFailed): void {
    for (const { environment } of wishes) this.refused.set(environment, refusalText(refusal));
  }

  /** Why the server refuses a write; undefined if it is written, or nothing has to be. */
  async #try(wishes: readonly DueWish[]): Promise<StepFailed | undefined> {
    const { service: to } = editService(this.#service, wishes);
    if (to === this.#service) return undefined;
    const { clock, signal } = this.#writer;
    if (this.outcomes.length > 0) await delay(clock, PACE_MS, signal);
    try {
      const [outcome] = await this.#writer.apply([edit(VirtualService, this.#service, to)]);
      this.outcomes.push(outcome!);
      this.#service = outcome!.object as VirtualService;
      return undefined;
    } catch (error) {
      if (isRefusal(error)) return error;
      throw error;
    }
  }
}

/** Whether it is no part of the write that is refused: we may not write there at all. */
function concernsAll({ cause }: StepFailed): boolean {
  return isForbidden(cause) && !/admission|denied the request/.test(cause.message);
}

/** Keeps what is refused, and forgets what is not any more. */
function remember(
  refusals: RouteRefusals,
  key: string,
  { from, wishes }: JointEdit,
  { refused }: Attempts,
  now: number,
): void {
  for (const wish of wishes) {
    const id = refusalKey(key, wish.environment);
    const message = refused.get(wish.environment);
    if (message === undefined) refusals.delete(id);
    else refusals.store(id, refusedAgain(refusals.load(id), wish, from, message, now));
  }
}
