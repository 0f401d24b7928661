// Runs the simulated controllers: an event enqueues keys, and each key is planned and written, one run at a time. It
// does not poll; a timer is set only when a plan asks for one.
import { Fault } from '../rest/fault.ts';
import type { Cluster } from '../rest/context.ts';
import type { StoreEvent } from '../store/types.ts';
import { perform } from './writes.ts';
import type { Plan, Writer } from './writes.ts';
import type { World } from './world.ts';

/** Tests replace the clock. */
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

/** The keys to enqueue for an event. */
export type EventMapper = (event: StoreEvent, world: World) => Iterable<string>;

export interface Controller {
  readonly name: string;
  readonly writer: Writer;
  /** By collection, or `*` for all. At the start, every existing object arrives as ADDED. */
  readonly on: Readonly<Record<string, EventMapper>>;
  /** What to write for a key. Pure: it reads nothing but the world. */
  readonly plan: (world: World, key: string) => Plan;
  /** What to write after a write of the plan was refused. */
  readonly refused?: (world: World, key: string, message: string) => Plan;
}

interface Task {
  readonly controller: Controller;
  readonly key: string;
  /** Enqueued again while it was running. */
  dirty: boolean;
  failures: number;
  timer?: { cancel(): void } | undefined;
  state: 'idle' | 'queued' | 'running';
}

/** How many keys may be writing at a time; writes that wait for the disk share one commit. */
const concurrency = 128;
/** How many keys start in one turn of the event loop; without a disk, all their writes happen in that turn. */
const perTurn = 16;
/** For how long keys start in one turn; plans of large objects take long. */
const turnMs = 20;
const firstRetryMs = 5;
const longestRetryMs = 60_000;

export class Loop {
  readonly #cluster: Cluster;
  readonly #world: World;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #tasks = new Map<string, Task>();
  readonly #mappers = new Map<string, (readonly [Controller, EventMapper])[]>();
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
      for (const [collection, mapper] of Object.entries(controller.on)) {
        this.#mappers.set(collection, [...(this.#mappers.get(collection) ?? []), [controller, mapper]]);
      }
    }
  }

  /** Enqueues the keys that a change concerns. */
  handle(event: StoreEvent): void {
    if (this.#stopped) return;
    for (const name of [event.stored.collection, '*']) {
      for (const [controller, keysFor] of this.#mappers.get(name) ?? []) {
        for (const key of keysFor(event, this.#world)) this.#add(controller, key);
      }
    }
  }

  /** Resolves when the queue is empty; timers and events may still add work later. */
  async idle(): Promise<void> {
    while (this.#queue.length > 0 || this.#running > 0) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Starts no more keys, and resolves when the running ones have finished. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#queue = [];
    for (const task of this.#tasks.values()) task.timer?.cancel();
    await this.idle();
  }

  #add(controller: Controller, key: string): void {
    const id = `${controller.name} ${key}`;
    let task = this.#tasks.get(id);
    if (task === undefined) {
      task = { controller, key, dirty: false, failures: 0, state: 'idle' };
      this.#tasks.set(id, task);
    }
    this.#enqueue(task);
  }

  #enqueue(task: Task): void {
    if (this.#stopped || task.state === 'queued') return;
    if (task.state === 'running') {
      task.dirty = true;
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
    // Requests are served between two rounds.
    setImmediate(() => {
      this.#scheduled = false;
      const room = Math.min(perTurn, concurrency - this.#running);
      const end = performance.now() + turnMs;
      for (let count = 0; count < room && this.#queue.length > 0 && performance.now() < end; count++) {
        void this.#run(this.#queue.shift()!);
      }
      // At the limit of concurrency, a key that finishes starts the next round.
      if (this.#queue.length > 0 && room > 0) this.#schedule();
      this.#resolveIfIdle();
    });
  }

  async #run(task: Task): Promise<void> {
    task.state = 'running';
    task.dirty = false;
    this.#running++;
    const delay = await this.#attempt(task);
    this.#running--;
    task.state = 'idle';
    if (task.dirty) this.#enqueue(task);
    else if (delay !== undefined) this.#enqueueAfter(task, delay);
    else this.#tasks.delete(`${task.controller.name} ${task.key}`);
    if (this.#queue.length > 0) this.#schedule();
    this.#resolveIfIdle();
  }

  /** Plans and writes; returns when to requeue the key. */
  async #attempt(task: Task): Promise<number | undefined> {
    const { controller, key } = task;
    try {
      const { writes, requeueAfterMs } = controller.plan(this.#world, key);
      await perform(this.#cluster, writes, controller.writer);
      task.failures = 0;
      return requeueAfterMs;
    } catch (error) {
      if (this.#stopped) return undefined;
      const retryMs = Math.min(firstRetryMs * 2 ** task.failures, longestRetryMs);
      task.failures++;
      if (isOutdated(error)) {
        task.dirty ||= task.failures === 1;
        return retryMs;
      }
      await this.#handleRefusal(task, error);
      return retryMs;
    }
  }

  async #handleRefusal(task: Task, error: unknown): Promise<void> {
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

  /** Refusals, such as by a webhook or a quota, are not errors of the simulation. */
  #report(error: unknown): void {
    if (!(error instanceof Fault) || error.code >= 500) this.#onError(error);
  }

  #enqueueAfter(task: Task, ms: number): void {
    if (this.#stopped) return;
    task.timer = this.#clock.setTimeout(() => this.#enqueue(task), ms);
  }

  #resolveIfIdle(): void {
    if (this.#queue.length > 0 || this.#running > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** The plan was based on outdated objects: it is made again, without reporting the error. */
function isOutdated(error: unknown): boolean {
  if (!(error instanceof Fault)) return false;
  // Nothing can be created in a terminating namespace, and the object that asked for it is deleted next.
  const terminating = error.status.details?.causes?.some((cause) => cause.reason === 'NamespaceTerminating') === true;
  return error.code === 404 || error.code === 409 || terminating;
}
