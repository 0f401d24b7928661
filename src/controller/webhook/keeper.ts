// Keeps one thing as it should be: looks at it when it may have changed, when its time comes, and again after a failure.
// For what is not an object with a plan: certificates and the registration of webhooks.
import type { Clock } from '../../kube/clock.ts';
import { StepFailed } from '../../kube/write/apply.ts';
import type { ReadonlyWatchable } from '../../watchable/index.ts';
import { isForbidden, isInvalid } from '../../kube/errors.ts';
import { Queue } from '../queue.ts';

export interface KeeperOptions {
  readonly clock: Clock;
  /** Looks and puts right. Says in how many milliseconds to look again even if nothing wakes it. */
  readonly look: () => Promise<number | undefined>;
  /** Told of every failure; the next try follows by itself. */
  readonly onError: (error: unknown, retryInMs: number) => void;
}

const THING = 'it';

export class Keeper {
  readonly #options: KeeperOptions;
  readonly #queue: Queue;
  readonly #first = Promise.withResolvers<void>();
  #working: Promise<void> = Promise.resolve();

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#queue = new Queue({ clock: options.clock, baseDelayMs: 100, maxDelayMs: 30_000 });
    this.#first.promise.catch(() => {});
  }

  /** Resolves when all is well for the first time; rejects when the server says that it never will be. */
  start(): Promise<void> {
    this.#queue.add(THING);
    this.#working = this.#work();
    return this.#first.promise;
  }

  /** Looks again soon. */
  wake(): void {
    this.#queue.add(THING);
  }

  /** Looks again whenever a map changes, until the signal. */
  async follow(map: ReadonlyWatchable<string, unknown>, signal: AbortSignal): Promise<void> {
    for await (const { initial } of map.subscribe({ signal, state: false })) if (!initial) this.wake();
  }

  /** Waits for the present look, and makes no further one. */
  async stop(): Promise<void> {
    this.#queue.close();
    await this.#working;
  }

  async #work(): Promise<void> {
    for (let thing = await this.#queue.take(); thing !== undefined; thing = await this.#queue.take()) {
      try {
        const again = await this.#options.look();
        this.#queue.forget(THING);
        this.#first.resolve();
        if (again !== undefined) this.#queue.addAfter(THING, again);
      } catch (error) {
        const cause = error instanceof StepFailed ? error.cause : error;
        if (isForbidden(cause) || isInvalid(cause)) this.#first.reject(error);
        this.#options.onError(error, this.#queue.retry(THING));
      } finally {
        this.#queue.done(THING);
      }
    }
    this.#first.resolve();
  }
}
