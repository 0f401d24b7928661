// Controllers that work while this process holds their Lease, or from the start without leader election. The manager
// has one of these for each Lease, so that a part whose Lease another process holds waits while the others work.
import type { Clock } from '../kube/clock.ts';
import { LeaderElector } from '../kube/lease.ts';
import type { LeaderElectorOptions } from '../kube/lease.ts';
import type { Controller } from './controller.ts';
import type { Logger } from './logger.ts';
import type { Metrics } from './metrics/metrics.ts';

export interface LedControllersOptions {
  /** Name of the Lease; without leader election, only a label for metrics. */
  readonly lease: string;
  /** Where the Lease is; absent without leader election. */
  readonly election?: Pick<LeaderElectorOptions, 'client' | 'namespace' | 'identity' | 'leasesElsewhere'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** The Lease was lost: see `LeaderElectorOptions`. */
  readonly onLost: (lease: string) => void;
}

export class LedControllers {
  readonly lease: string;
  readonly #options: LedControllersOptions;
  readonly #elector: LeaderElector | undefined;
  readonly #controllers: Controller[] = [];
  readonly #campaign = new AbortController();
  #electing: Promise<void> = Promise.resolve();
  #state: 'waiting' | 'working' | 'stopping' | 'stopped' = 'waiting';

  constructor(options: LedControllersOptions) {
    const { lease, election, clock, logger } = options;
    this.lease = lease;
    this.#options = options;
    this.#elector =
      election &&
      new LeaderElector({
        ...election,
        name: lease,
        clock,
        onElected: () => this.#work(),
        onLost: () => this.#lost(),
        onWaiting: (holder) => logger.info({ ...this.#about, holder }, 'another process holds the lease: waiting'),
        onError: (err) => logger.warn({ ...this.#about, err }, 'the lease could not be acquired or renewed, retrying'),
      });
  }

  /** Adds a controller, before the start. */
  add(controller: Controller): void {
    this.#controllers.push(controller);
  }

  /** Whether these controllers plan and write in this process. */
  get working(): boolean {
    return this.#state === 'working';
  }

  /** Whether they work and have nothing left to do at the moment. */
  get idle(): boolean {
    return this.working && this.#controllers.every((controller) => controller.idle);
  }

  /** Must be checked before each write. */
  mayWrite(): boolean {
    return (this.working || this.#state === 'stopping') && (this.#elector?.leading() ?? true);
  }

  /** Lists what the first plans read. */
  async warmUp(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#controllers.map((controller) => controller.warmUp(signal)));
  }

  /** Starts to work, at once or when it has acquired the Lease. */
  start(): void {
    this.#options.metrics.leading(this.lease, false);
    if (this.#elector === undefined) this.#work();
    else this.#electing = this.#elector.run(this.#campaign.signal);
  }

  /** Lets running reconciles finish, starts no further ones, and releases the Lease. */
  async stop(): Promise<void> {
    if (this.#state === 'waiting') this.#state = 'stopped';
    else if (this.#state === 'working') this.#state = 'stopping';
    await Promise.all(this.#controllers.map((controller) => controller.stop()));
    this.#state = 'stopped';
    this.#campaign.abort();
    await this.#electing;
    this.#options.metrics.leading(this.lease, false);
  }

  /** Aborts running reconciles. */
  abort(): void {
    for (const controller of this.#controllers) controller.abort();
  }

  #work(): void {
    if (this.#state !== 'waiting') return;
    this.#state = 'working';
    this.#options.metrics.leading(this.lease, true);
    if (this.#elector !== undefined) this.#options.logger.info(this.#about, 'leading');
    for (const controller of this.#controllers) controller.start();
  }

  /** No write may follow, so running reconciles are aborted. */
  #lost(): void {
    if (this.#state === 'stopped') return;
    this.#state = 'stopped';
    this.#options.metrics.leading(this.lease, false);
    this.abort();
    this.#options.onLost(this.lease);
  }

  get #about(): { readonly lease: string; readonly controllers: readonly string[] } {
    return { lease: this.lease, controllers: this.#controllers.map(({ name }) => name) };
  }
}
