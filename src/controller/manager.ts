// A running control plane: tables, controllers, leader election, probes, started and stopped in order.
import type { Client } from '../kube/client.ts';
import { systemClock } from '../kube/clock.ts';
import type { Clock } from '../kube/clock.ts';
import { EventRecorder } from '../kube/events.ts';
import { LeaderElector } from '../kube/lease.ts';
import { reading, Tables } from '../kube/tables.ts';
import { Controller } from './controller.ts';
import type { ControllerDefinition } from './definition.ts';
import { createLogger } from './logger.ts';
import type { Logger } from './logger.ts';
import { createMetrics } from './metrics.ts';
import type { Metrics } from './metrics.ts';
import { serveProbes } from './probes.ts';
import type { ProbeServer } from './probes.ts';

export interface Address {
  /** 127.0.0.1 unless told. */
  readonly host?: string;
  readonly port: number;
}

export interface ManagerOptions {
  readonly client: Client;
  readonly controllers: readonly ControllerDefinition[];
  /** Only the process that holds this Lease plans and writes; without it, this one does. */
  readonly leaderElection?: { readonly namespace: string; readonly name: string; readonly identity?: string };
  /** Where /healthz, /readyz and /metrics are served; nowhere when absent. */
  readonly probes?: Address;
  /** Serves /metrics here, and not beside the probes. */
  readonly metricsAddress?: Address;
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  /** How long running passes may take to end when the process stops. */
  readonly stopWithinMs?: number;
  /** Called after every acknowledged write; tests end the process here. */
  readonly onWrite?: (count: number) => void;
}

/** Leadership was lost: the process must end, for what it has under way can't be called back. */
export class LeadershipLost extends Error {
  override readonly name = 'LeadershipLost';
}

export class Manager {
  readonly tables: Tables;
  readonly metrics: Metrics;
  readonly #options: ManagerOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #events: EventRecorder;
  readonly #controllers: readonly Controller[];
  readonly #elector: LeaderElector | undefined;
  readonly #caches = new AbortController();
  readonly #election = new AbortController();
  readonly #ended = Promise.withResolvers<void>();
  #reflectors: Promise<void> = Promise.resolve();
  #electing: Promise<void> = Promise.resolve();
  #probes: ProbeServer | undefined;
  #metricsServer: ProbeServer | undefined;
  #state: 'new' | 'starting' | 'running' | 'stopping' | 'stopped' = 'new';
  #synced = false;
  #working = false;
  #writes = 0;

  constructor(options: ManagerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#logger = options.logger ?? createLogger();
    this.metrics = options.metrics ?? createMetrics();
    const { controllers, client, leaderElection } = options;
    this.tables = new Tables(controllers.flatMap(({ kind, reads = [] }) => [reading(kind), ...reads]));
    for (const gauge of controllers.flatMap(({ gauges = [] }) => gauges)) {
      this.metrics.computed(gauge, () => (this.#working ? gauge.series(this.tables) : []));
    }
    this.#events = new EventRecorder({
      client: client.flow('events'),
      clock: this.#clock,
      controller: 'offshoot',
      onError: (error) => this.#logger.debug({ err: error }, 'an Event could not be recorded'),
    });
    this.#elector =
      leaderElection &&
      new LeaderElector({
        ...leaderElection,
        client: client.flow('lease'),
        clock: this.#clock,
        onElected: () => this.#elected(),
        onLost: () => this.#lost(),
      });
    this.#controllers = controllers.map(
      (definition) =>
        new Controller({
          definition,
          client,
          tables: this.tables,
          clock: this.#clock,
          logger: this.#logger.child({ controller: definition.name }),
          metrics: this.metrics.controller(definition.name),
          events: this.#events,
          mayWrite: () => this.#working && (this.#elector?.leading() ?? true),
          onWrite: () => options.onWrite?.(++this.#writes),
        }),
    );
  }

  /** Settles when the manager has stopped: rejects with `LeadershipLost` if it had to. */
  get done(): Promise<void> {
    return this.#ended.promise;
  }

  /** Where the probes are served. */
  get probesUrl(): string | undefined {
    return this.#probes?.url;
  }

  /** Where the metrics are served, if not beside the probes. */
  get metricsUrl(): string | undefined {
    return this.#metricsServer?.url;
  }

  /** True when this process plans and writes and nothing is left to do at the moment. */
  get idle(): boolean {
    return this.#working && this.#controllers.every((controller) => controller.idle);
  }

  /** Resolves when the tables are synced and, unless another process leads, the controllers run. */
  async start(): Promise<void> {
    if (this.#state !== 'new') throw new Error(`the manager can be started once; it is ${this.#state}`);
    this.#state = 'starting';
    this.#ended.promise.catch(() => {});
    await this.#serveProbes();
    this.#reflectors = this.tables.run({
      client: this.#options.client,
      clock: this.#clock,
      signal: this.#caches.signal,
      onError: (table, error) => this.#logger.warn({ kind: table.kind.kind, err: error }, 'watching failed, going on'),
    });
    await this.tables.whenSynced(this.#caches.signal).catch(() => {});
    if (this.#state !== 'starting') return;
    this.#synced = true;
    this.#state = 'running';
    if (this.#elector === undefined) this.#elected();
    else this.#electing = this.#elector.run(this.#election.signal);
  }

  /** Ends everything in order: workers, Events, the lease, the tables, the probes. Safe to call twice. */
  async stop(): Promise<void> {
    if (this.#state === 'stopping' || this.#state === 'stopped') return this.#stopped();
    this.#state = 'stopping';
    const overdue = this.#clock.setTimeout(() => {
      this.#logger.warn('running passes took too long to end and are given up');
      for (const controller of this.#controllers) controller.abort();
    }, this.#options.stopWithinMs ?? 25_000);
    await Promise.all(this.#controllers.map((controller) => controller.stop()));
    overdue.cancel();
    this.#working = false;
    await this.#events.flush();
    this.#election.abort();
    await this.#electing;
    this.#caches.abort();
    await this.#reflectors;
    await Promise.all([this.#probes?.close(), this.#metricsServer?.close()]);
    this.#state = 'stopped';
    this.#ended.resolve();
  }

  async #stopped(): Promise<void> {
    await this.#ended.promise.catch(() => {});
  }

  #elected(): void {
    if (this.#state !== 'running' || this.#working) return;
    this.#working = true;
    this.metrics.leading(this.#options.leaderElection?.name ?? 'offshoot', true);
    for (const controller of this.#controllers) controller.start();
  }

  /** No write may follow, and running passes can't be called back: give them up and end. */
  #lost(): void {
    if (this.#state !== 'running') return;
    this.#working = false;
    this.metrics.leading(this.#options.leaderElection?.name ?? 'offshoot', false);
    this.#ended.reject(new LeadershipLost('another process leads now'));
    for (const controller of this.#controllers) controller.abort();
    void this.stop();
  }

  async #serveProbes(): Promise<void> {
    const { probes, metricsAddress } = this.#options;
    const metrics = (): Promise<string> => {
      for (const table of this.tables) this.metrics.table(table.kind.kind, table.size, table.synced);
      return this.metrics.text();
    };
    const checks = {
      tables: () => (this.#synced ? undefined : `waiting for ${this.#unsynced().join(', ')}`),
      stopping: () => (this.#state === 'stopping' ? 'the process is stopping' : undefined),
    };
    if (probes !== undefined) {
      this.#probes = await serveProbes({
        ...probes,
        healthz: {},
        readyz: checks,
        ...(metricsAddress === undefined && { metrics }),
      });
    }
    if (metricsAddress !== undefined) this.#metricsServer = await serveProbes({ ...metricsAddress, metrics });
  }

  #unsynced(): string[] {
    return [...this.tables].filter((table) => !table.synced).map((table) => table.kind.kind);
  }
}
