// The controller loop: takes keys from the queue, reconciles their objects, and decides when a key runs again. It is
// the same for every controller.
import { setImmediate } from 'node:timers/promises';
import { PlanOutdated, StepFailed, WriteForbidden } from '../kube/write/apply.ts';
import type { Outcome } from '../kube/write/apply.ts';
import type { Client } from '../kube/client/client.ts';
import type { Clock } from '../kube/clock.ts';
import { ApiError, isTransient } from '../kube/errors.ts';
import type { EventRecorder } from '../kube/events.ts';
import { keyOf, refOf } from '../kube/objects.ts';
import type { KubeObject } from '../kube/objects.ts';
import { NotSynced } from '../kube/tables/tables.ts';
import type { Tables } from '../kube/tables/tables.ts';
import type { Subscription } from '../watchable/index.ts';
import { choreContext, runChore } from './chore.ts';
import type { ControllerDefinition } from './definition.ts';
import { Echoes } from './echoes.ts';
import { failureOf, PlanThrew } from './failure.ts';
import { addFinalizers, isReleased } from './finalizers.ts';
import type { Logger } from './logger.ts';
import type { ControllerMetrics } from './metrics/metrics.ts';
import { PRIORITY, Queue } from './queue.ts';
import { Reconciler } from './reconciler.ts';
import { noSpan } from './tracing/span.ts';
import type { Span, Tracer } from './tracing/span.ts';
import { Reads } from './view.ts';
import { syncReads } from './warm-up.ts';

/** Reconciling without a pause must not keep timers and sockets from running for longer than this. */
const YIELD_AFTER_MS = 10;

/** A paced key pauses this many times as long as its reconcile took: expensive work is done less often. */
const PAUSE_FACTOR = 4;

/** This many conflicts in a row are expected; more of them, after about 5 s, are reported. */
const EXPECTED_CONFLICTS = 10;

export interface ControllerOptions {
  readonly definition: ControllerDefinition;
  readonly client: Client;
  readonly tables: Tables;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: ControllerMetrics;
  readonly events: EventRecorder;
  readonly tracer?: Tracer;
  readonly mayWrite?: () => boolean;
  /** Called after every acknowledged write. */
  readonly onWrite?: (count: number, outcome: Outcome) => void;
  /** Called after every write that changed a status. */
  readonly onStatus?: (before: KubeObject, after: KubeObject) => void;
}

/** The fields of every log line about an object. */
export interface ObjectFields {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly traceId?: string;
}

type Result = 'success' | 'error' | 'requeue' | 'requeue_after';

export class Controller {
  readonly name: string;
  readonly #options: ControllerOptions;
  readonly #definition: ControllerDefinition;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #metrics: ControllerMetrics;
  readonly #queue: Queue;
  readonly #reads: Reads;
  readonly #echoes = new Echoes(() => this.#reads.deliver());
  readonly #reconciler: Reconciler;
  /** The last refused writes, by key. */
  readonly #refusals = new Map<string, string>();
  /** Aborts running requests. */
  readonly #stopping = new AbortController();
  /** Stops chores. */
  readonly #stoppingChores = new AbortController();
  #running: Promise<void>[] = [];
  #subscription: Subscription<string, KubeObject> | undefined;
  #yieldedAt = 0;

  constructor(options: ControllerOptions) {
    const { definition, clock, metrics, tables } = options;
    const client = options.client.flow(definition.name);
    this.name = definition.name;
    this.#options = { ...options, client };
    this.#definition = definition;
    this.#clock = clock;
    this.#logger = options.logger;
    this.#metrics = metrics;
    this.#queue = new Queue({
      clock,
      metrics: metrics.queue,
      ...(definition.baseBackoffMs !== undefined && { baseDelayMs: definition.baseBackoffMs }),
      ...(definition.maxBackoffMs !== undefined && { maxDelayMs: definition.maxBackoffMs }),
      ...(definition.retryLimit && { retryLimit: definition.retryLimit }),
    });
    this.#reads = new Reads({
      tables,
      now: () => clock.now(),
      wake: (key) => this.#wake(key),
      onChange: (key, value) => this.#echoes.note(key, value),
    });
    this.#reconciler = new Reconciler({
      ...this.#options,
      reads: this.#reads,
      echoes: this.#echoes,
      wake: (key) => this.#queue.add(key),
      signal: this.#stopping.signal,
    });
  }

  /** True when no key is ready or running. */
  get idle(): boolean {
    this.#reads.deliver();
    return this.#queue.idle && (this.#subscription?.lag ?? 0) === 0;
  }

  /** Lists what plans read, without writing, so that a process that takes over does not have to wait. */
  async warmUp(signal: AbortSignal): Promise<void> {
    const { tables } = this.#options;
    const table = tables.of(this.#definition.kind);
    await table.whenSynced(signal);
    await syncReads({
      tables,
      objects: table.list(),
      plan: (view, object) => this.#reconciler.plan(view, keyOf(object.metadata), object),
      now: () => this.#clock.now(),
      signal,
    });
  }

  /** Starts the workers. The table of the kind must be synced. */
  start(): void {
    const { tables } = this.#options;
    const { kind, workers = 4, chores = [] } = this.#definition;
    const table = tables.of(kind);
    this.#subscription = table.map.subscribe({ state: false });
    for (const key of table.keys()) this.#queue.add(key, PRIORITY.resync);
    this.#metrics.workers(workers);
    const context = choreContext(this.#options, this.#reconciler);
    this.#running = [
      this.#follow(this.#subscription),
      ...Array.from({ length: workers }, () => this.#work()),
      ...chores.map((chore) => runChore(chore, context, this.#stoppingChores.signal)),
    ];
  }

  /** Starts no further reconcile, and waits for the running ones. */
  async stop(): Promise<void> {
    void this.#subscription?.return?.();
    this.#queue.close();
    this.#stoppingChores.abort();
    await Promise.all(this.#running);
    this.#reads.close();
  }

  /** Retries failed keys at once: the API server answers again. */
  retryNow(): void {
    this.#queue.retryNow();
  }

  /** Aborts running requests, for a stop that takes too long. */
  abort(): void {
    this.#stopping.abort(new Error('the controller is stopping'));
  }

  /** Queues new objects. A change of a known object wakes its key because its plan has read it. */
  async #follow(subscription: Subscription<string, KubeObject>): Promise<void> {
    for await (const { updates } of subscription) {
      for (const update of updates) {
        // A new object of the same name starts without backoff.
        if (update.delete) this.#queue.forget(update.key);
        else if (!this.#reads.has(update.key)) this.#wake(update.key);
      }
    }
  }

  #wake(key: string): void {
    if (!this.#echoes.holds(key)) this.#queue.add(key);
  }

  async #work(): Promise<void> {
    for (let key = await this.#queue.take(); key !== undefined; key = await this.#queue.take()) {
      const before = this.#clock.monotonic();
      this.#metrics.started();
      let result: Result = 'error';
      const span = this.#startSpan(key);
      try {
        result = await this.#reconcile(key, span);
      } catch (error) {
        span.end(error);
        this.#logger.error({ ...this.#about(key, span), err: error }, 'unexpected error while reconciling');
        this.#queue.retry(key);
      } finally {
        this.#queue.done(key);
        span.set({ result });
        span.end();
        this.#metrics.finished(result, (this.#clock.monotonic() - before) / 1000);
      }
      await this.#letOthersRun();
    }
  }

  #startSpan(key: string): Span {
    const { tracer } = this.#options;
    if (tracer === undefined) return noSpan;
    const { kind, namespace = '', name } = this.#about(key);
    return tracer.start(`reconcile ${this.name}`, {
      controller: this.name,
      'k8s.object.kind': kind,
      'k8s.object.name': name,
      'k8s.namespace.name': namespace,
    });
  }

  /** Describes the object in a log line. */
  #about(key: string, span?: Span): ObjectFields {
    const { namespace, name } = refOf(key);
    const { kind } = this.#definition.kind;
    return {
      kind,
      ...(namespace !== undefined && { namespace }),
      name,
      ...(span?.traceId && { traceId: span.traceId }),
    };
  }

  async #reconcile(key: string, span: Span): Promise<Result> {
    const started = this.#clock.monotonic();
    const { kind } = this.#definition;
    const object = this.#options.tables.of(kind).get(key);
    if (object === undefined || isReleased(this.#definition, object)) {
      this.#reads.forget(key);
      this.#queue.forget(key);
      this.#refusals.delete(key);
      return 'success';
    }
    try {
      const finalizing = addFinalizers(this.#definition, object);
      if (finalizing !== undefined) {
        this.#reads.track(key, (view) => view.get(kind, object.metadata));
        await this.#reconciler.apply([finalizing]);
        this.#queue.add(key);
        return 'success';
      }
      const { wrote, refused, requeueAfterMs } = await this.#reconciler.reconcile(
        object,
        () => this.#about(key, span),
        span,
      );
      if (wrote) this.#pace(key, this.#clock.monotonic() - started);
      if (requeueAfterMs !== undefined) this.#queue.addAfter(key, requeueAfterMs);
      if (refused.length > 0) return this.#retryRefused(key, refused, span);
      this.#queue.forget(key);
      this.#refusals.delete(key);
      return requeueAfterMs === undefined ? 'success' : 'requeue_after';
    } catch (error) {
      return this.#failed(key, object, error, span);
    }
  }

  /** Pauses a key after a reconcile that wrote something; the longer that took, the longer. */
  #pace(key: string, tookMs: number): void {
    const { paceMs } = this.#definition;
    if (paceMs !== undefined) this.#queue.pause(key, Math.max(paceMs, PAUSE_FACTOR * tookMs));
  }

  /** Refused steps are retried with backoff: the reason for the refusal may change without an event. */
  #retryRefused(key: string, refused: readonly StepFailed[], span: Span): Result {
    const retryInMs = this.#queue.retry(key);
    const about = this.#about(key, span);
    const refusal = refused.map(({ message }) => message).join('\n');
    // The same refusal is logged as a warning only once.
    const level = this.#refusals.get(key) === refusal ? 'debug' : 'warn';
    this.#refusals.set(key, refusal);
    for (const err of refused)
      this.#logger[level]({ ...about, err, retryInMs }, 'write refused, continuing with the rest');
    return 'error';
  }

  async #failed(key: string, object: KubeObject, error: unknown, span: Span): Promise<Result> {
    if (this.#stopping.signal.aborted) return 'error';
    const about = this.#about(key, span);
    if (error instanceof NotSynced) {
      this.#logger.debug({ ...about, reason: error.message }, 'waiting for a table to sync');
      return 'requeue';
    }
    const isConflict = error instanceof PlanOutdated && this.#queue.failures(key) < EXPECTED_CONFLICTS;
    // A process that has lost the lease is about to end; but the renewal may only have been late.
    if (error instanceof WriteForbidden || isConflict) {
      this.#logger.debug({ ...about, reason: error.message }, 'planning again');
      this.#queue.retry(key);
      return 'requeue';
    }
    const retryInMs = this.#queue.retry(key);
    if (error instanceof PlanThrew) this.#metrics.panicked();
    const cause = error instanceof PlanThrew ? error.cause : error;
    span.end(cause);
    this.#logger.warn({ ...about, err: cause, retryInMs }, 'reconcile failed');
    const apiError = error instanceof StepFailed ? error.cause : error;
    if (apiError instanceof ApiError && isTransient(apiError)) return 'error';
    await this.#reconciler.report(object, about, failureOf(error));
    return 'error';
  }

  async #letOthersRun(): Promise<void> {
    const now = this.#clock.monotonic();
    if (now - this.#yieldedAt < YIELD_AFTER_MS) return;
    await setImmediate();
    this.#yieldedAt = this.#clock.monotonic();
  }
}
