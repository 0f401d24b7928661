// Runs the simulated controllers: an event makes keys dirty, a dirty key is planned and its writes are done, one run a
// key at a time. It waits for events and does nothing between them; a timer is set only where a plan asked for one.
import { Fault } from '../rest/fault.ts';
import type { Cluster } from '../rest/context.ts';
import type { StoreEvent } from '../store/types.ts';
import { perform } from './writes.ts';
import type { Plan, Writer } from './writes.ts';
import type { World } from './world.ts';

/** Time, so that tests can move it. */
export interface Clock {
  now(): number;
  setTimeout(run: () => void, ms: number): { cancel(): void };
}

export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (run, ms) => {
    const timer = setTimeout(run, Math.min(ms, 2 ** 31 - 1));
    return { cancel: () => clearTimeout(timer) };
  },
};

/** Keys that an event concerns. */
export type Wake = (event: StoreEvent, world: World) => Iterable<string>;

export interface Controller {
  readonly name: string;
  readonly writer: Writer;
  /** By collection, or `*` for every one. At the start each object that exists arrives as an addition. */
  readonly on: Readonly<Record<string, Wake>>;
  /** What to write now for one key. Pure: it reads the world and nothing else. */
  readonly plan: (world: World, key: string) => Plan;
  /** What to write when the server refused a write of the plan. */
  readonly refused?: (world: World, key: string, message: string) => Plan;
}

interface Task {
  readonly controller: Controller;
  readonly key: string;
  /** Asked for again while it ran. */
  again: boolean;
  failures: number;
  timer?: { cancel(): void } | undefined;
  state: 'resting' | 'queued' | 'running';
}

/** How many keys may be in the middle of their writes; those that wait for the disk share one commit. */
const concurrency = 128;
/** How many keys start in one turn of the event loop: in memory, all of their writes happen in that turn. */
const perTurn = 16;
/** And for how long more of them start: plans of large objects take long. */
const turnMs = 20;
const firstRetryMs = 5;
const longestRetryMs = 60_000;

export class Loop {
  readonly #cluster: Cluster;
  readonly #world: World;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #tasks = new Map<string, Task>();
  readonly #wakes = new Map<string, (readonly [Controller, Wake])[]>();
  readonly #waiting: (() => void)[] = [];
  #queue: Task[] = [];
  #running = 0;
  #scheduled = false;
  #stopped = false;

  constructor(
    cluster: Cluster,
    world: World,
    controllers: readonly Controller[],
    clock: Clock,
    onError: (error: unknown) => void,
  ) {
    this.#cluster = cluster;
    this.#world = world;
    this.#clock = clock;
    this.#onError = onError;
    for (const controller of controllers) {
      for (const [collection, wake] of Object.entries(controller.on)) {
        this.#wakes.set(collection, [...(this.#wakes.get(collection) ?? []), [controller, wake]]);
      }
    }
  }

  /** Tells the controllers of a change. */
  notice(event: StoreEvent): void {
    if (this.#stopped) return;
    for (const name of [event.stored.collection, '*']) {
      for (const [controller, wake] of this.#wakes.get(name) ?? []) {
        for (const key of wake(event, this.#world)) this.#wake(controller, key);
      }
    }
  }

  /** Resolves when nothing is left to do but to wait for a time or an event. */
  async idle(): Promise<void> {
    while (this.#queue.length > 0 || this.#running > 0) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Starts nothing more, and resolves when what runs has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#queue = [];
    for (const task of this.#tasks.values()) task.timer?.cancel();
    await this.idle();
  }

  #wake(controller: Controller, key: string): void {
    const id = `${controller.name} ${key}`;
    let task = this.#tasks.get(id);
    if (task === undefined) {
      task = { controller, key, again: false, failures: 0, state: 'resting' };
      this.#tasks.set(id, task);
    }
    this.#queueUp(task);
  }

  #queueUp(task: Task): void {
    if (this.#stopped || task.state === 'queued') return;
    if (task.state === 'running') {
      task.again = true;
      return;
    }
    task.timer?.cancel();
    task.timer = undefined;
    task.state = 'queued';
    this.#queue.push(task);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // A turn of the event loop between rounds leaves requests their share.
    setImmediate(() => {
      this.#scheduled = false;
      const room = Math.min(perTurn, concurrency - this.#running);
      const end = performance.now() + turnMs;
      for (let count = 0; count < room && this.#queue.length > 0 && performance.now() < end; count++) {
        void this.#run(this.#queue.shift()!);
      }
      // Without room, the next round comes when one of those that run has ended.
      if (this.#queue.length > 0 && room > 0) this.#schedule();
      this.#tellIfIdle();
    });
  }

  async #run(task: Task): Promise<void> {
    task.state = 'running';
    task.again = false;
    this.#running++;
    const delay = await this.#attempt(task);
    this.#running--;
    task.state = 'resting';
    if (task.again) this.#queueUp(task);
    else if (delay !== undefined) this.#later(task, delay);
    else this.#tasks.delete(`${task.controller.name} ${task.key}`);
    if (this.#queue.length > 0) this.#schedule();
    this.#tellIfIdle();
  }

  /** Plans and writes; answers when to try or to look again. */
  async #attempt(task: Task): Promise<number | undefined> {
    const { controller, key } = task;
    try {
      const { writes, againInMs } = controller.plan(this.#world, key);
      await perform(this.#cluster, writes, controller.writer);
      task.failures = 0;
      return againInMs;
    } catch (error) {
      if (this.#stopped) return undefined;
      const retryMs = Math.min(firstRetryMs * 2 ** task.failures, longestRetryMs);
      task.failures++;
      if (isOutdated(error)) {
        task.again ||= task.failures === 1;
        return retryMs;
      }
      await this.#tellRefusal(task, error);
      return retryMs;
    }
  }

  async #tellRefusal(task: Task, error: unknown): Promise<void> {
    const { controller, key } = task;
    this.#report(error);
    if (controller.refused === undefined || !(error instanceof Error)) return;
    try {
      const { writes } = controller.refused(this.#world, key, error.message);
      await perform(this.#cluster, writes, controller.writer);
    } catch (second) {
      this.#report(second);
    }
  }

  /** A refusal, by a webhook or a quota, is meant, and told to the caller only. */
  #report(error: unknown): void {
    if (!(error instanceof Fault) || error.code >= 500) this.#onError(error);
  }

  #later(task: Task, ms: number): void {
    if (this.#stopped) return;
    task.timer = this.#clock.setTimeout(() => this.#queueUp(task), ms);
  }

  #tellIfIdle(): void {
    if (this.#queue.length > 0 || this.#running > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** The plan was made from a state that is not current any more: a new one is due, and nobody need know. */
function isOutdated(error: unknown): boolean {
  if (!(error instanceof Fault)) return false;
  // In a namespace on its way out nothing can be created, and what wanted to is deleted next.
  const terminating = error.status.details?.causes?.some((cause) => cause.reason === 'NamespaceTerminating') === true;
  return error.code === 404 || error.code === 409 || terminating;
}
