// Reconciles a single thing when it may have changed, at a given time, and again after a failure.
// For what is not an object with a plan: certificates and the registration of webhooks.
import type { Clock } from '../../kube/clock.ts';
import { StepFailed } from '../../kube/write/apply.ts';
import type { ReadonlyWatchable } from '../../watchable/index.ts';
import { isForbidden, isInvalid } from '../../kube/errors.ts';
import { Queue } from '../queue.ts';

export interface ReconcilerOptions {
  readonly clock: Clock;
  /** Checks and corrects. Returns after how many milliseconds to run again even if nothing wakes it. */
  readonly reconcile: () => Promise<number | undefined>;
  /** Called for every failure; a retry follows by itself. */
  readonly onError: (error: unknown, retryInMs: number) => void;
}

/** There is only one thing to queue. */
const KEY = 'it';

export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #queue: Queue;
  readonly #reconciled = Promise.withResolvers<void>();
  #working: Promise<void> = Promise.resolve();

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#queue = new Queue({ clock: options.clock, baseDelayMs: 100, maxDelayMs: 30_000 });
    this.#reconciled.promise.catch(() => {});
  }

  /** Resolves after the first success; rejects if the server forbids it or rejects it as invalid. */
  start(): Promise<void> {
    this.#queue.add(KEY);
    this.#working = this.#work();
    return this.#reconciled.promise;
  }

  /** Reconciles again soon. */
  wake(): void {
    this.#queue.add(KEY);
  }

  /** Reconciles again whenever a map changes, until the signal aborts. */
  async follow(map: ReadonlyWatchable<string, unknown>, signal: AbortSignal): Promise<void> {
    for await (const { initial } of map.subscribe({ signal, state: false })) if (!initial) this.wake();
  }

  /** Waits for the running reconcile, and starts no further one. */
  async stop(): Promise<void> {
    this.#queue.close();
    await this.#working;
  }

  async #work(): Promise<void> {
    for (let key = await this.#queue.take(); key !== undefined; key = await this.#queue.take()) {
      try {
        const again = await this.#options.reconcile();
        this.#queue.forget(KEY);
        this.#reconciled.resolve();
        if (again !== undefined) this.#queue.addAfter(KEY, again);
      } catch (error) {
        const cause = error instanceof StepFailed ? error.cause : error;
        if (isForbidden(cause) || isInvalid(cause)) this.#reconciled.reject(error);
        this.#options.onError(error, this.#queue.retry(KEY));
      } finally {
        this.#queue.done(KEY);
      }
    }
    this.#reconciled.resolve();
  }
}
