// One reconcile of one object: plan, write, then status, Events and finalizers. The controller decides when that
// happens, and what follows for the queue.
import { Applier } from '../kube/write/apply.ts';
import type { Outcome, StepFailed } from '../kube/write/apply.ts';
import type { EventRecorder } from '../kube/events.ts';
import { keyOf } from '../kube/objects.ts';
import type { KubeObject } from '../kube/objects.ts';
import { describe, editStatus } from '../kube/write/steps.ts';
import type { Step } from '../kube/write/steps.ts';
import { NotSynced } from '../kube/tables/tables.ts';
import { jsonEqual } from '../watchable/index.ts';
import { carryOutAttempts, sharedNotes } from './attempts.ts';
import { stampStatus, statusOf } from './conditions.ts';
import type { Status } from './conditions.ts';
import type { ControllerOptions, ObjectFields } from './controller.ts';
import type { Failure, Plan, PlannedEvent } from './definition.ts';
import type { Echoes, Wrote } from './echoes.ts';
import { readTargets } from './facts.ts';
import { PlanThrew, withFailure, withoutFailure } from './failure.ts';
import { removeFinalizers } from './finalizers.ts';
import { planAndApply } from './plan-and-apply.ts';
import type { Span } from './tracing/span.ts';
import type { Reads, View } from './view.ts';

export interface ReconcilerOptions extends Pick<
  ControllerOptions,
  'definition' | 'client' | 'tables' | 'clock' | 'logger' | 'mayWrite' | 'onWrite' | 'onStatus'
> {
  readonly events: EventRecorder;
  readonly reads: Reads;
  readonly echoes: Echoes;
  /** Makes a key run again: something changed while its failure was written. */
  readonly wake: (key: string) => void;
  /** Aborts running requests. */
  readonly signal: AbortSignal;
}

/** The result of one reconcile. */
export interface Reconciled {
  /** Whether a step of the plan changed anything. */
  readonly wrote: boolean;
  /** Steps that the server refused and that the last plan left out. */
  readonly refused: readonly StepFailed[];
  readonly requeueAfterMs: number | undefined;
}

/** The result of writing the status, and the object after it. */
interface StatusOutcome {
  readonly did: Outcome['did'];
  readonly object: KubeObject;
}

export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #applier: Applier;

  constructor(options: ReconcilerOptions) {
    const { definition, client, tables, mayWrite, onWrite } = options;
    this.#options = options;
    this.#applier = new Applier({
      client,
      tables,
      manager: definition.fieldManager ?? `offshoot-${definition.name}`,
      ...(mayWrite && { mayWrite }),
      ...(onWrite && { onWrite }),
    });
  }

  /** Throws `WriteForbidden` unless this process may write. */
  throwUnlessMayWrite(): void {
    this.#applier.throwUnlessMayWrite();
  }

  get #ownsStatus(): boolean {
    return this.#options.definition.ownsStatus !== false;
  }

  /** Plans for an object and carries the plan out. */
  async reconcile(object: KubeObject, about: () => ObjectFields, span: Span): Promise<Reconciled> {
    const { definition, reads, logger } = this.#options;
    const key = keyOf(object.metadata);
    const { plan, outcomes, refused } = await planAndApply(
      (refusal) => span.part('plan', () => reads.track(key, (view) => this.plan(view, key, object), refusal)),
      (steps) => span.part('write', (part) => this.#writeTraced(steps, part)),
    );
    const isLast =
      object.metadata.deletionTimestamp !== undefined && plan.finished === true && !!definition.finalizers?.length;
    // This also removes an earlier failure, unless the finalizers are still to be removed: that may be what failed.
    const planned = plan.status ?? (isLast ? undefined : this.#recovered(object));
    const writeStatus = (wrote?: Wrote): Promise<StatusOutcome> => this.#writeStatus(object, planned, wrote);
    const status = await span.part('status', () =>
      refused.length > 0 ? this.#withoutWaking(key, writeStatus) : writeStatus(),
    );
    const wrote = outcomes.some(({ did }) => did !== 'nothing');
    // A reconcile that changed nothing has nothing new to report.
    if (wrote || status.did !== 'nothing') {
      for (const event of plan.events ?? []) this.record(object, event);
      for (const { message, ...fields } of plan.log ?? []) logger.warn({ ...about(), ...fields }, message);
    }
    if (isLast) {
      const [removal] = await this.apply([removeFinalizers(definition, status.object)]);
      const released = removal!.object;
      if (released?.metadata.finalizers?.length) await this.#writeStatus(released, this.#recovered(released));
    }
    return { wrote, refused, requeueAfterMs: plan.requeueAfterMs };
  }

  /** The status without an earlier failure; undefined if nothing changes. */
  #recovered(object: KubeObject): Status | undefined {
    return this.#ownsStatus ? withoutFailure(object) : undefined;
  }

  /** The plan for an object, which also subscribes to the objects that it writes. */
  plan(view: View, key: string, object: KubeObject): Plan {
    const { definition, tables } = this.#options;
    view.read.get(tables.of(definition.kind).map, key);
    let plan: Plan;
    try {
      plan = definition.plan(view, object);
    } catch (error) {
      throw error instanceof NotSynced ? error : new PlanThrew(error);
    }
    // Even if the plan has not read what it writes: otherwise drift would go unnoticed.
    readTargets(tables, view.read, plan.steps ?? []);
    return plan;
  }

  apply(steps: readonly Step[]): Promise<readonly Outcome[]> {
    return this.#applier.apply(steps, { signal: this.#options.signal });
  }

  record(object: KubeObject, event: PlannedEvent): void {
    const { type, reason, note, action = reason, regarding = object } = event;
    this.#options.events.record({ regarding, type, reason, note, action });
  }

  /** Reports a failure in the status and, if it is new, in an Event. */
  async report(object: KubeObject, about: ObjectFields, failure: Failure): Promise<void> {
    const key = keyOf(object.metadata);
    const { definition, clock, logger } = this.#options;
    const event = { type: 'Warning', reason: failure.reason, note: failure.message } as const;
    // The owner of the status would remove the condition again, which would wake this key despite its backoff.
    if (!this.#ownsStatus) this.record(object, event);
    try {
      await this.#withoutWaking(key, async (wrote) => {
        const { steps = [], status = statusOf(object) } = definition.failed?.(object, failure, clock.now()) ?? {};
        for (const outcome of await this.apply(steps)) wrote(outcome.object);
        if (!this.#ownsStatus) return;
        const { did } = await this.#writeStatus(object, withFailure(status, failure), wrote);
        if (did !== 'nothing') this.record(object, event);
      });
    } catch (error) {
      logger.debug({ ...about, err: error }, 'the failure could not be written to the status');
      if (this.#ownsStatus) this.record(object, event);
    }
  }

  /** Writes, and adds what was done to the span. */
  async #writeTraced(steps: readonly Step[], span: Span): Promise<readonly Outcome[]> {
    const outcomes = await this.#write(steps);
    if (span.traceId === undefined) return outcomes;
    const done = outcomes.filter(({ did }) => did !== 'nothing').map(({ did, step }) => `${did} ${describe(step)}`);
    span.set({ steps: steps.length, writes: done.length, ...(done.length > 0 && { wrote: done.join(', ') }) });
    return outcomes;
  }

  /** Carries out the steps of a plan as the controller defines it. */
  #write(steps: readonly Step[]): Promise<readonly Outcome[]> {
    const { definition, clock, signal } = this.#options;
    const attempts = definition.write?.(steps, sharedNotes(clock));
    if (attempts === undefined) return this.apply(steps);
    const { paceMs = 0 } = definition;
    return carryOutAttempts(attempts, { apply: (some) => this.apply(some), clock, paceMs, signal });
  }

  /** Writes a status if it differs. */
  async #writeStatus(object: KubeObject, status: Status | undefined, wrote?: Wrote): Promise<StatusOutcome> {
    if (status === undefined) return { did: 'nothing', object };
    const { definition, clock } = this.#options;
    const latest = this.#latest(object);
    const stamped = stampStatus(object, status, clock.now());
    const kept = definition.keepStatus?.(statusOf(latest), stamped) ?? stamped;
    const [outcome] = await this.apply([editStatus(definition.kind, latest, kept)]);
    wrote?.(outcome!.object);
    if (outcome!.did !== 'nothing' && outcome!.object) this.#options.onStatus?.(object, outcome!.object);
    return { did: outcome!.did, object: outcome!.object ?? object };
  }

  /**
   * The object after our own writes in this reconcile. If its spec or status has changed since the plan, the planned
   * object, which the server will reject: a plan must not undo what others wrote after it was made.
   */
  #latest(object: KubeObject): KubeObject {
    const { definition, tables } = this.#options;
    const { uid, generation } = object.metadata;
    const latest = tables.of(definition.kind).get(keyOf(object.metadata));
    const isSame = latest?.metadata.uid === uid && latest?.metadata.generation === generation;
    return isSame && jsonEqual(statusOf(latest!), statusOf(object)) ? latest! : object;
  }

  /** Writes a failure without waking the key, which has to wait for its backoff. */
  #withoutWaking<R>(key: string, write: (wrote: Wrote) => Promise<R>): Promise<R> {
    const { echoes, wake } = this.#options;
    return echoes.during(key, write, () => wake(key));
  }
}
