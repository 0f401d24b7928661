// A running control plane: tables, controllers, leader election, probes, started and stopped in order.
import type { Client } from '../kube/client/client.ts';
import type { Reachability } from '../kube/client/reachability.ts';
import { systemClock } from '../kube/clock.ts';
import type { Clock } from '../kube/clock.ts';
import { EventRecorder } from '../kube/events.ts';
import { apiVersionOf } from '../kube/objects.ts';
import type { AnyKind } from '../kube/objects.ts';
import type { LeaderElectorOptions } from '../kube/lease.ts';
import { NotSynced, Tables } from '../kube/tables/tables.ts';
import type { AnyTable } from '../kube/tables/tables.ts';
import { Controller } from './controller.ts';
import { untracked } from '../watchable/index.ts';
import type { ControllerDefinition, TableGauge } from './definition.ts';
import { factsOf } from './facts.ts';
import { LedControllers } from './led-controllers.ts';
import { createLogger } from './logger.ts';
import type { Logger } from './logger.ts';
import { createMetrics } from './metrics/metrics.ts';
import { METRICS } from './metrics/catalogue.ts';
import type { Metrics, Series } from './metrics/metrics.ts';
import { serveProbes } from './probes.ts';
import type { Tracer } from './tracing/span.ts';
import type { ProbeServer } from './probes.ts';

export interface Address {
  /** 127.0.0.1 by default. */
  readonly host?: string;
  readonly port: number;
}

export interface ManagerOptions {
  readonly client: Client;
  readonly controllers: readonly ControllerDefinition[];
  /** Only these namespaces are watched; by default the whole cluster. */
  readonly namespaces?: readonly string[];
  /**
   * Controllers work in the process that holds their Lease (the one named here if they name none); without leader
   * election, they work in this process.
   */
  readonly leaderElection?: Pick<LeaderElectorOptions, 'namespace' | 'identity' | 'leasesElsewhere'> & {
    readonly name?: string;
  };
  /** Where /healthz, /readyz and /metrics are served; absent to serve none. */
  readonly probes?: Address;
  /** Serves /metrics here instead of next to the probes. */
  readonly metricsAddress?: Address;
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  /** Knows of every answer of the API server: after an outage, failed keys are retried at once. */
  readonly reachability?: Reachability;
  /** Traces reconciles. */
  readonly tracer?: Tracer;
  /** How long running reconciles may take to finish when the process stops. */
  readonly stopWithinMs?: number;
  /** Called after every acknowledged write; tests end the process here. */
  readonly onWrite?: (count: number) => void;
}

const LEASE = 'offshoot';

/** Leadership was lost: the process must end, because writes in flight can't be undone. */
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
  /** By Lease. */
  readonly #led = new Map<string, LedControllers>();
  readonly #caches = new AbortController();
  readonly #ended = Promise.withResolvers<void>();
  #reflectors: Promise<void> = Promise.resolve();
  #standingDown: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;
  #probes: ProbeServer | undefined;
  #metricsServer: ProbeServer | undefined;
  #state: 'new' | 'starting' | 'running' | 'stopping' | 'stopped' = 'new';
  #synced = false;
  #writes = 0;

  constructor(options: ManagerOptions) {
    this.#options = options;
    this.tables = new Tables([], options.namespaces);
    this.#clock = options.clock ?? systemClock;
    this.#logger = options.logger ?? createLogger();
    this.metrics = options.metrics ?? createMetrics();
    const { controllers, client } = options;
    const ofTables = (valueOf: (table: AnyTable) => number): readonly Series[] =>
      [...this.tables].map((table) => {
        const { group, kind } = table.kind;
        return { labels: { group, kind }, value: valueOf(table) };
      });
    this.metrics.computed(METRICS.objects, () => ofTables(({ size }) => size));
    this.metrics.computed(METRICS.synced, () => ofTables(({ synced }) => Number(synced)));
    this.#events = new EventRecorder({
      client: client.flow('events'),
      clock: this.#clock,
      controller: 'offshoot',
      onError: (error) => this.#logger.debug({ err: error }, 'an Event could not be recorded'),
    });
    for (const definition of controllers) {
      const led = this.#ledOf(definition);
      const reports = this.metrics.controller(definition.name);
      const counters = (definition.counters ?? []).map((each) => [each, this.metrics.counter(each)] as const);
      const timings = (definition.timings ?? []).map((each) => [each, this.metrics.histogram(each)] as const);
      const controller = new Controller({
        definition,
        client,
        tables: this.tables,
        clock: this.#clock,
        logger: this.#logger.child({ controller: definition.name }),
        metrics: reports,
        events: this.#events,
        ...(options.tracer && { tracer: options.tracer }),
        mayWrite: () => led.mayWrite(),
        onWrite: (_count, outcome) => {
          reports.wrote(outcome.step.kind, outcome.did);
          for (const [counter, count] of counters) {
            const labels = counter.labelsOf(outcome);
            if (labels !== undefined) count(labels);
          }
          options.onWrite?.(++this.#writes);
        },
        onStatus: (before, after) => {
          for (const [timing, observe] of timings) {
            const measured = timing.measure(before, after, this.#clock.now());
            if (measured !== undefined) observe(measured);
          }
        },
      });
      led.add(controller);
      options.reachability?.onReturn(() => controller.retryNow(), this.#caches.signal);
      for (const gauge of definition.gauges ?? []) {
        this.metrics.computed(gauge, () => (led.working ? this.#seriesOf(gauge) : []));
      }
    }
  }

  /** Settles when the manager has stopped: rejects with `LeadershipLost` if the lease was lost. */
  get done(): Promise<void> {
    return this.#ended.promise;
  }

  /** Where the probes are served. */
  get probesUrl(): string | undefined {
    return this.#probes?.url;
  }

  /** Where the metrics are served, if not next to the probes. */
  get metricsUrl(): string | undefined {
    return this.#metricsServer?.url;
  }

  /** True when all controllers work in this process and nothing is left to do at the moment. */
  get idle(): boolean {
    if (this.#state !== 'running' || [...this.tables].some((table) => !table.synced)) return false;
    return [...this.#led.values()].every((led) => led.idle);
  }

  /**
   * Resolves when the kinds of the controllers, and what their first plans read, are synced and the controllers run,
   * except those whose Lease another process holds. Everything else is listed when a plan first reads it.
   */
  async start(): Promise<void> {
    if (this.#state !== 'new') throw new Error(`the manager can be started once; it is ${this.#state}`);
    this.#state = 'starting';
    this.#ended.promise.catch(() => {});
    await this.#serveProbes();
    this.#reflectors = this.tables.run({
      client: this.#options.client,
      clock: this.#clock,
      signal: this.#caches.signal,
      ...(this.#options.reachability && { reachability: this.#options.reachability }),
      onError: ({ kind }, error) => {
        this.metrics.watchFailed(kind);
        this.#logger.warn({ kind: kind.kind, err: error }, 'watch failed, retrying');
      },
    });
    const { signal } = this.#caches;
    const isReady = { path: '/readyz', timeoutMs: 5_000, signal };
    void this.#options.reachability?.keepAsking(() => this.#options.client.raw(isReady), this.#clock, signal);
    await Promise.all([...this.#led.values()].map((led) => led.warmUp(signal))).catch(() => {});
    if (this.#state !== 'starting') return;
    this.#synced = true;
    this.#state = 'running';
    this.#logUnserved();
    for (const led of this.#led.values()) led.start();
  }

  /**
   * Stops the controllers and releases their Leases, so that others can take over at once. The tables stay current, for
   * webhooks that still answer, and the probes are served: /readyz fails from now on.
   */
  standDown(): Promise<void> {
    return (this.#standingDown ??= this.#standDown());
  }

  /** Stops everything in order: controllers, Leases, Events, the tables, the probes. Safe to call twice. */
  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop());
  }

  async #standDown(): Promise<void> {
    this.#state = 'stopping';
    const all = [...this.#led.values()];
    const overdue = this.#clock.setTimeout(() => {
      this.#logger.warn('running reconciles took too long to finish, abandoning them');
      for (const led of all) led.abort();
    }, this.#options.stopWithinMs ?? 25_000);
    await Promise.all(all.map((led) => led.stop()));
    overdue.cancel();
    await this.#events.flush();
  }

  async #stop(): Promise<void> {
    await this.standDown();
    this.#caches.abort();
    await this.#reflectors;
    await Promise.all([this.#probes?.close(), this.#metricsServer?.close()]);
    this.#state = 'stopped';
    this.#ended.resolve();
  }

  /** Controllers of a kind that the cluster does not know do nothing, which users should be told. */
  #logUnserved(): void {
    const kinds = new Set<AnyKind>(this.#options.controllers.map(({ kind }) => kind));
    for (const { kind, served } of this.tables) {
      if (served || !kinds.has(kind)) continue;
      const of = { kind: kind.kind, apiVersion: apiVersionOf(kind) };
      this.#logger.info(of, 'the cluster does not serve this kind: waiting for its definition');
    }
  }

  /** The controllers that share a Lease with this one. */
  #ledOf(definition: ControllerDefinition): LedControllers {
    const { client, leaderElection: election } = this.#options;
    const lease = (election && definition.lease) ?? election?.name ?? LEASE;
    let led = this.#led.get(lease);
    if (led === undefined) {
      led = new LedControllers({
        lease,
        ...(election && { election: { ...election, client: client.flow('lease') } }),
        clock: this.#clock,
        logger: this.#logger,
        metrics: this.metrics,
        onLost: (name) => this.#lost(name),
      });
      this.#led.set(lease, led);
    }
    return led;
  }

  #seriesOf(gauge: TableGauge): Iterable<Series> {
    try {
      return gauge.series(factsOf(this.tables, untracked));
    } catch (error) {
      if (error instanceof NotSynced) return [];
      throw error;
    }
  }

  #lost(lease: string): void {
    if (this.#state !== 'running') return;
    this.#ended.reject(new LeadershipLost(`the lease ${lease} is lost: another process may have it now`));
    void this.stop();
  }

  async #serveProbes(): Promise<void> {
    const { probes, metricsAddress } = this.#options;
    const metrics = (): Promise<string> => this.metrics.text();
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
    return [...this.tables].flatMap((table) => (table.synced ? [] : [table.kind.kind]));
  }
}
