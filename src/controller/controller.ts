// The controller loop: takes keys from the queue, plans, applies, writes status. The same for every controller.
import { setImmediate } from 'node:timers/promises';
import { Applier, PlanOutdated, StepFailed, WriteForbidden } from '../kube/write/apply.ts';
import type { Outcome } from '../kube/write/apply.ts';
import type { Client } from '../kube/client/client.ts';
import type { Clock } from '../kube/clock.ts';
import { ApiError, isTransient } from '../kube/errors.ts';
import type { EventRecorder } from '../kube/events.ts';
import { keyOf } from '../kube/objects.ts';
import type { KubeObject } from '../kube/objects.ts';
import { edit, editStatus } from '../kube/write/steps.ts';
import type { Step } from '../kube/write/steps.ts';
import { NotSynced } from '../kube/tables/tables.ts';
import type { AnyTable, Tables } from '../kube/tables/tables.ts';
import { jsonEqual, untracked } from '../watchable/index.ts';
import type { Subscription } from '../watchable/index.ts';
import { readNow, runChore } from './chore.ts';
import type { ChoreSite } from './chore.ts';
import { stampStatus, statusOf } from './conditions.ts';
import type { Status } from './conditions.ts';
import type { ControllerDefinition, Failure, Plan, PlannedEvent } from './definition.ts';
import { Echoes } from './echoes.ts';
import type { Wrote } from './echoes.ts';
import { factsOf, readTargets } from './facts.ts';
import { failureOf, PlanThrew, withFailure, withoutFailure } from './failure.ts';
import type { Logger } from './logger.ts';
import type { ControllerMetrics } from './metrics.ts';
import { carryOut } from './pass.ts';
import { PRIORITY, Queue } from './queue.ts';
import { Reads } from './view.ts';
import type { View } from './view.ts';

/** Reconciling without a pause must not keep timers and sockets from running for longer than this. */
const YIELD_AFTER_MS = 10;

/** So many objects in a row whose plans read nothing new show that the others' will not either. */
const ENOUGH_PLANS = 100;
/** No key of an object. */
const WARM_UP = '';

/** A paced key rests so much longer than its pass took: what costs much is done less often. */
const REST_FACTOR = 4;

/** So many conflicts in a row are part of life; more of them, after about 5 s, and somebody must be told. */
const ORDINARY_CONFLICTS = 10;

export interface ControllerOptions {
  readonly definition: ControllerDefinition;
  readonly client: Client;
  readonly tables: Tables;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: ControllerMetrics;
  readonly events: EventRecorder;
  readonly mayWrite?: () => boolean;
  readonly onWrite?: (count: number) => void;
}

/** What writing the status did, and the object after it. */
interface StatusOutcome {
  readonly did: Outcome['did'];
  readonly object: KubeObject;
}

type Result = 'success' | 'error' | 'requeue' | 'requeue_after';

export class Controller {
  readonly name: string;
  readonly #definition: ControllerDefinition;
  readonly #tables: Tables;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #metrics: ControllerMetrics;
  readonly #events: EventRecorder;
  readonly #applier: Applier;
  readonly #queue: Queue;
  readonly #reads: Reads;
  readonly #stopping = new AbortController();
  readonly #echoes = new Echoes(() => this.#reads.deliver());
  readonly #client: Client;
  /** Ends chores. */
  readonly #resting = new AbortController();
  readonly #chores: Promise<void>[] = [];
  #workers: Promise<void>[] = [];
  #subscription: Subscription<string, KubeObject> | undefined;
  #yieldedAt = 0;

  constructor(options: ControllerOptions) {
    const { definition } = options;
    this.name = definition.name;
    this.#definition = definition;
    this.#tables = options.tables;
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#metrics = options.metrics;
    this.#events = options.events;
    this.#client = options.client.flow(definition.name);
    this.#applier = new Applier({
      client: this.#client,
      tables: options.tables,
      manager: definition.fieldManager ?? `offshoot-${definition.name}`,
      ...(options.mayWrite && { mayWrite: options.mayWrite }),
      ...(options.onWrite && { onWrite: options.onWrite }),
    });
    this.#queue = new Queue({
      clock: options.clock,
      metrics: options.metrics.queue,
      ...(definition.baseBackoffMs !== undefined && { baseDelayMs: definition.baseBackoffMs }),
      ...(definition.maxBackoffMs !== undefined && { maxDelayMs: definition.maxBackoffMs }),
      ...(definition.retryLimit && { retryLimit: definition.retryLimit }),
    });
    this.#reads = new Reads({
      tables: options.tables,
      now: () => options.clock.now(),
      wake: (key) => key !== WARM_UP && this.#wake(key),
      onChange: (key, value) => this.#echoes.note(key, value),
    });
  }

  get #ownsStatus(): boolean {
    return this.#definition.ownsStatus !== false;
  }

  /** True when no key is ready or running. */
  get idle(): boolean {
    this.#reads.deliver();
    return this.#queue.idle && (this.#subscription?.lag ?? 0) === 0;
  }

  /**
   * Plans for what is there, without writing, so that what plans read is listed before it counts: plans are pure. Whoever
   * takes over from another process then has to wait for nothing.
   */
  async warmUp(signal: AbortSignal): Promise<void> {
    const table = this.#tables.of(this.#definition.kind);
    await table.whenSynced(signal);
    let known = 0;
    for (const object of table.list()) {
      if (known++ === ENOUGH_PLANS) break;
      while (!signal.aborted) {
        const unsynced = this.#unsyncedFor(object);
        if (unsynced === undefined) break;
        known = 0;
        await unsynced.whenSynced(signal);
      }
      await this.#letOthersRun();
    }
    this.#reads.forget(WARM_UP);
  }

  /** The first table that a plan would have to wait for. */
  #unsyncedFor(object: KubeObject): AnyTable | undefined {
    try {
      this.#reads.track(WARM_UP, (view) => this.#plan(view, object));
    } catch (error) {
      if (error instanceof NotSynced) return error.table;
    }
    return undefined;
  }

  /** Starts the workers. The table of the kind must be synced. */
  start(): void {
    const table = this.#tables.of(this.#definition.kind);
    this.#subscription = table.map.subscribe({ state: false });
    for (const key of table.keys()) this.#queue.add(key, PRIORITY.resync);
    const workers = this.#definition.workers ?? 4;
    this.#metrics.workers(workers);
    this.#workers = [this.#follow(this.#subscription), ...Array.from({ length: workers }, () => this.#work())];
    for (const chore of this.#definition.chores ?? []) {
      this.#chores.push(runChore(chore, this.#choreSite(), this.#resting.signal));
    }
  }

  /** Takes no new key, and waits for the running ones. */
  async stop(): Promise<void> {
    void this.#subscription?.return?.();
    this.#queue.close();
    this.#resting.abort();
    await Promise.all([...this.#workers, ...this.#chores]);
    this.#reads.close();
  }

  /** Gives up on running requests: for a stop that takes too long. */
  abort(): void {
    this.#stopping.abort(new Error('the controller is stopping'));
  }

  /** Takes up objects that come. Of those that are known, changes wake their key because their plan read them. */
  async #follow(subscription: Subscription<string, KubeObject>): Promise<void> {
    for await (const { updates } of subscription) {
      for (const update of updates) {
        // Another object of the same name has not failed yet.
        if (update.delete) this.#queue.forget(update.key);
        else if (!this.#reads.has(update.key)) this.#wake(update.key);
      }
    }
  }

  async #work(): Promise<void> {
    for (let key = await this.#queue.take(); key !== undefined; key = await this.#queue.take()) {
      const before = this.#clock.monotonic();
      this.#metrics.started();
      let result: Result = 'error';
      try {
        result = await this.#reconcile(key);
      } catch (error) {
        this.#logger.error({ err: error, key }, 'unexpected error while reconciling');
        this.#queue.retry(key);
      } finally {
        this.#queue.done(key);
        this.#metrics.finished(result, (this.#clock.monotonic() - before) / 1000);
      }
      await this.#letOthersRun();
    }
  }

  async #reconcile(key: string): Promise<Result> {
    const { kind, finalizers: ours = [] } = this.#definition;
    const started = this.#clock.monotonic();
    const object = this.#tables.of(kind).get(key);
    const deleting = object?.metadata.deletionTimestamp !== undefined;
    const finalizers = object?.metadata.finalizers ?? [];
    const missing = ours.filter((name) => !finalizers.includes(name));
    if (object === undefined || (deleting && ours.length > 0 && missing.length === ours.length)) {
      this.#reads.forget(key);
      this.#queue.forget(key);
      return 'success';
    }
    try {
      if (missing.length > 0 && !deleting) {
        this.#reads.track(key, (view) => view.get(kind, object.metadata));
        await this.#apply([edit(kind, object, withFinalizers(object, [...finalizers, ...missing]))]);
        this.#queue.add(key);
        return 'success';
      }
      const { plan, outcomes, refused } = await carryOut(
        (refusal) => this.#reads.track(key, (view) => this.#plan(view, object), refusal),
        (steps) => this.#carryOut(steps),
      );
      // A failure that was written down earlier goes, too.
      const wanted = plan.status ?? (this.#ownsStatus ? withoutFailure(object) : undefined);
      const write = (wrote?: Wrote): Promise<StatusOutcome> => this.#writeStatus(object, wanted, wrote);
      const status = await (refused.length > 0 ? this.#quietly(key, write) : write());
      // A pass that changed nothing has nothing new to tell, whatever its plan says again.
      if ([...outcomes, status].some(({ did }) => did !== 'nothing')) {
        for (const event of plan.events ?? []) this.#record(object, event);
        for (const { message, ...fields } of plan.log ?? []) this.#logger.warn({ key, ...fields }, message);
      }
      if (deleting && plan.finished && ours.length > 0) {
        const current = status.object;
        const others = (current.metadata.finalizers ?? []).filter((name) => !ours.includes(name));
        await this.#apply([edit(kind, current, withFinalizers(current, others))]);
      }
      if (outcomes.some(({ did }) => did !== 'nothing')) this.#pace(key, this.#clock.monotonic() - started);
      if (plan.requeueAfterMs !== undefined) this.#queue.addAfter(key, plan.requeueAfterMs);
      if (refused.length > 0) return this.#retryRefused(key, refused);
      this.#queue.forget(key);
      return plan.requeueAfterMs === undefined ? 'success' : 'requeue_after';
    } catch (error) {
      return this.#failed(key, object, error);
    }
  }

  /** Lets a key rest after a pass that wrote something; the longer that took, the longer. */
  #pace(key: string, tookMs: number): void {
    const { paceMs } = this.#definition;
    if (paceMs !== undefined) this.#queue.pause(key, Math.max(paceMs, REST_FACTOR * tookMs));
  }

  #plan(view: View, object: KubeObject): Plan {
    view.get(this.#definition.kind, object.metadata);
    let plan: Plan;
    try {
      plan = this.#definition.plan(view, object);
    } catch (error) {
      throw error instanceof NotSynced ? error : new PlanThrew(error);
    }
    // What a plan writes it also depends on, whether it looked at it or not: else drift of it would go unnoticed.
    readTargets(this.#tables, view.read, plan.steps ?? []);
    return plan;
  }

  /** Carries out the steps of a plan in the way of this controller. */
  #carryOut(steps: readonly Step[]): Promise<readonly Outcome[]> {
    if (this.#definition.write === undefined) return this.#apply(steps);
    const apply = (some: readonly Step[]): Promise<readonly Outcome[]> => this.#apply(some);
    return this.#definition.write(steps, { apply, clock: this.#clock, signal: this.#stopping.signal });
  }

  #apply(steps: readonly Step[]): ReturnType<Applier['apply']> {
    return this.#applier.apply(steps, { signal: this.#stopping.signal });
  }

  /** Writes a status if it differs. */
  async #writeStatus(object: KubeObject, status: Status | undefined, wrote?: Wrote): Promise<StatusOutcome> {
    if (status === undefined) return { did: 'nothing', object };
    const { kind } = this.#definition;
    const stamped = stampStatus(object, status, this.#clock.now());
    const [outcome] = await this.#apply([editStatus(kind, this.#latest(object), stamped)]);
    wrote?.(outcome!.object);
    return { did: outcome!.did, object: outcome!.object ?? object };
  }

  /**
   * The object after our own writes to it in this pass; the planned one, which the server will refuse, if its spec has
   * changed since, or its status: what others wrote there must not be undone by a plan that did not see it.
   */
  #latest(object: KubeObject): KubeObject {
    const { uid, generation } = object.metadata;
    const latest = this.#tables.of(this.#definition.kind).get(keyOf(object.metadata));
    const isSame = latest?.metadata.uid === uid && latest?.metadata.generation === generation;
    return isSame && jsonEqual(statusOf(latest!), statusOf(object)) ? latest! : object;
  }

  async #failed(key: string, object: KubeObject, error: unknown): Promise<Result> {
    if (this.#stopping.signal.aborted) return 'error';
    if (error instanceof NotSynced) {
      this.#logger.debug({ key, reason: error.message }, 'planning again once it is known');
      return 'requeue';
    }
    const isConflict = error instanceof PlanOutdated && this.#queue.failures(key) < ORDINARY_CONFLICTS;
    // Whoever loses the lease is about to end; but its renewal may only have come late.
    if (error instanceof WriteForbidden || isConflict) {
      this.#logger.debug({ key, reason: error.message }, 'planning again');
      this.#queue.retry(key);
      return 'requeue';
    }
    const delayMs = this.#queue.retry(key);
    if (error instanceof PlanThrew) this.#metrics.panicked();
    const cause = error instanceof PlanThrew ? error.cause : error;
    this.#logger.warn({ key, err: cause, retryInMs: delayMs }, 'reconcile failed');
    const apiError = error instanceof StepFailed ? error.cause : error;
    if (apiError instanceof ApiError && isTransient(apiError)) return 'error';
    await this.#report(key, object, failureOf(error));
    return 'error';
  }

  /** Steps that were refused are tried again, later and later: what the server asks for may change unseen. */
  #retryRefused(key: string, refused: readonly StepFailed[]): Result {
    const retryInMs = this.#queue.retry(key);
    for (const err of refused)
      this.#logger.warn({ key, err, retryInMs }, 'a write was refused, going on with the rest');
    return 'error';
  }

  #wake(key: string): void {
    if (!this.#echoes.holds(key)) this.#queue.add(key);
  }

  /** Writes down a failure: that must not wake the key past its back-off. */
  #quietly<R>(key: string, write: (wrote: Wrote) => Promise<R>): Promise<R> {
    return this.#echoes.during(key, write, () => this.#queue.add(key));
  }

  /** Tells people of a failure: in the status and, when it is news, in an Event. */
  async #report(key: string, object: KubeObject, failure: Failure): Promise<void> {
    const { reason, message } = failure;
    // The owner of the status would take a condition of others away again, which would wake this key past its back-off.
    if (!this.#ownsStatus) this.#record(object, { type: 'Warning', reason, note: message });
    try {
      await this.#quietly(key, async (wrote) => {
        const { steps = [], status = statusOf(object) } =
          this.#definition.failed?.(object, failure, this.#clock.now()) ?? {};
        for (const outcome of await this.#apply(steps)) wrote(outcome.object);
        if (!this.#ownsStatus) return;
        const { did } = await this.#writeStatus(object, withFailure(status, failure), wrote);
        if (did !== 'nothing') this.#record(object, { type: 'Warning', reason, note: message });
      });
    } catch (error) {
      this.#logger.debug({ key, err: error }, 'the failure could not be written to the status');
      if (this.#ownsStatus) this.#record(object, { type: 'Warning', reason, note: message });
    }
  }

  #choreSite(): ChoreSite {
    return {
      facts: factsOf(this.#tables, untracked),
      tables: this.#tables,
      clock: this.#clock,
      logger: this.#logger,
      apply: (steps) => this.#apply(steps),
      record: (object, event) => this.#record(object, event),
      read: async (kind, ref) => {
        const found = await readNow(this.#client, kind, ref);
        if (found !== undefined) for (const table of this.#tables.holding(kind)) table.observe(found);
        return found;
      },
    };
  }

  #record(object: KubeObject, event: PlannedEvent): void {
    const { type, reason, note, action = reason, regarding = object } = event;
    this.#events.record({ regarding, type, reason, note, action });
  }

  async #letOthersRun(): Promise<void> {
    const now = this.#clock.monotonic();
    if (now - this.#yieldedAt < YIELD_AFTER_MS) return;
    await setImmediate();
    this.#yieldedAt = this.#clock.monotonic();
  }
}

function withFinalizers(object: KubeObject, finalizers: readonly string[]): KubeObject {
  return { ...object, metadata: { ...object.metadata, finalizers } };
}
