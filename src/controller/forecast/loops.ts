// The loops of the controllers in a forecast: each object of each controller is planned for, and again whenever
// something that its plan read has changed or its requeue time has come.
import { identityOf, keyOf, refOf } from '../../kube/objects.ts';
import type { AnyKind, KubeObject, Ref } from '../../kube/objects.ts';
import { editStatus, objectOf } from '../../kube/write/steps.ts';
import type { Step } from '../../kube/write/steps.ts';
import { NotSynced } from '../../kube/tables/tables.ts';
import { jsonEqual } from '../../watchable/index.ts';
import { stampStatus, statusOf } from '../conditions.ts';
import type { ControllerDefinition, Failure, Plan } from '../definition.ts';
import { failureOf, PlanThrew, withFailure, withoutFailure } from '../failure.ts';
import { addFinalizers, isReleased, removeFinalizers } from '../finalizers.ts';
import type { View } from '../view.ts';
import { changesOf, SOMEBODY } from './changes.ts';
import type { Author } from './changes.ts';
import { ForecastCluster } from './cluster.ts';
import type { Forecast, ForecastOptions, Intent, Stalled } from './forecast.ts';
import { OUTDATED } from './server.ts';

const HORIZON_MS = 10_000;
/** More plans of one object at the same time mean that there is no progress. */
const MAX_PLANS = 100;

/** An object of a controller, like a key in its queue. */
interface Reader {
  readonly controller: ControllerDefinition;
  readonly key: string;
  plans: number;
}

export class ControllerLoops {
  readonly #options: ForecastOptions;
  readonly #cluster: ForecastCluster;
  readonly #stalled = new Map<string, Stalled>();
  readonly #readers = new Map<string, Reader>();
  /** Readers to plan for, in order. */
  readonly #due = new Set<string>();
  /** By reader: when to plan again, even if nothing changes. */
  readonly #later = new Map<string, number>();

  constructor(options: ForecastOptions) {
    const { seed = '', simulatesCluster = true } = options;
    this.#options = options;
    const onWrite = (kind: AnyKind, key: string): void => this.#wakeOwners(kind, key);
    this.#cluster = new ForecastCluster({ ...options, seed, simulatesCluster, onWrite });
  }

  /** Runs the controllers until nothing is left to do before the horizon. */
  run(): Forecast {
    const { controllers, intents = [], now, horizonMs = HORIZON_MS } = this.#options;
    const { facts, writes } = this.#cluster;
    for (const intent of intents) this.#intend(intent);
    for (const controller of controllers) {
      for (const key of facts.keys(controller.kind)) this.#wake(controller, key);
    }
    do {
      do this.#planAll();
      while (this.#cluster.collectGarbage());
    } while (this.#advance(now + horizonMs));
    return { writes, changes: changesOf(writes), stalled: [...this.#stalled.values()], facts };
  }

  close(): void {
    this.#cluster.close();
  }

  #intend(intent: Intent): void {
    const { kind } = intent;
    if ('put' in intent) {
      return this.#cluster.put(kind, intent.put, { by: SOMEBODY, for: { kind, object: intent.put } });
    }
    const object = this.#cluster.get(kind, intent.delete);
    if (object !== undefined) this.#cluster.delete(kind, object, { by: SOMEBODY, for: { kind, object } });
  }

  #planAll(): void {
    const { whatIf } = this.#cluster;
    for (const id of this.#due) {
      this.#due.delete(id);
      this.#later.delete(id);
      const reader = this.#readers.get(id)!;
      if (++reader.plans > MAX_PLANS) {
        whatIf.forget(id);
        this.#stall(reader, {
          reason: 'NoProgress',
          message: 'the controller does not settle: it keeps writing',
          cause: '',
        });
      } else {
        this.#reconcile(id, reader);
      }
      for (const outdated of whatIf.takeOutdated()) this.#due.add(outdated);
    }
  }

  /** Advances the time to the next requeue; false if there is none before the end. */
  #advance(until: number): boolean {
    const next = this.#later.values().reduce((one, other) => Math.min(one, other), Infinity);
    if (next > until) return false;
    this.#cluster.advanceTo(next);
    for (const [id, at] of this.#later) if (at <= next) this.#due.add(id);
    for (const reader of this.#readers.values()) reader.plans = 0;
    return true;
  }

  #wake(controller: ControllerDefinition, key: string): void {
    const id = `${controller.name} ${key}`;
    if (!this.#readers.has(id)) this.#readers.set(id, { controller, key, plans: 0 });
    this.#due.add(id);
  }

  #wakeOwners({ kind, group }: AnyKind, key: string): void {
    for (const controller of this.#options.controllers) {
      if (controller.kind.kind === kind && controller.kind.group === group) this.#wake(controller, key);
    }
  }

  /** One reconcile of an object, as the loop of a controller does it. */
  #reconcile(id: string, reader: Reader): void {
    const { controller } = reader;
    const object = this.#cluster.get(controller.kind, refOf(reader.key));
    this.#stalled.delete(id);
    if (object === undefined || isReleased(controller, object)) return this.#cluster.whatIf.forget(id);
    const finalizing = addFinalizers(controller, object);
    if (finalizing !== undefined) {
      this.#cluster.whatIf.forget(id);
      this.#carryOut(reader, object, [finalizing]);
      return void this.#due.add(id);
    }
    try {
      const plan = this.#planFor(id, reader, object);
      if (plan === OUTDATED) return void this.#due.add(id);
      const status = plan.status ?? (controller.ownsStatus === false ? undefined : withoutFailure(object));
      const current = this.#writeStatus(reader, object, status);
      const isLeaving = object.metadata.deletionTimestamp !== undefined && plan.finished;
      if (isLeaving && current !== undefined) this.#carryOut(reader, object, [removeFinalizers(controller, current)]);
      if (plan.requeueAfterMs !== undefined) {
        this.#later.set(id, this.#cluster.now() + Math.max(1, plan.requeueAfterMs));
      }
    } catch (error) {
      if (!(error instanceof PlanThrew) && !(error instanceof ReconcileFailed)) throw error;
      this.#failed(reader, object, error instanceof ReconcileFailed ? error.failure : failureOf(error));
    }
  }

  /** Plans, and carries the plan out. After a refused step, the plan is made again and knows of the refusal. */
  #planFor(id: string, reader: Reader, object: KubeObject): Plan | typeof OUTDATED {
    const refused = new Map<string, string>();
    for (;;) {
      const refusal = (kind: AnyKind, ref: Ref): string | undefined => refused.get(identityOf(kind, ref));
      const plan = this.#cluster.whatIf.plan(id, (view) => planned(reader.controller, view, object), refusal);
      const { steps = [] } = plan;
      const again = steps.find((step) => refused.has(targetOf(step)));
      if (again !== undefined) throw new ReconcileFailed(again, refused.get(targetOf(again))!);
      const outcome = this.#carryOutPlan(reader, object, steps);
      if (outcome === undefined) return plan;
      if (outcome === OUTDATED) return OUTDATED;
      refused.set(targetOf(outcome.step), outcome.message);
    }
  }

  /** Carries out the steps of a plan as its controller does. */
  #carryOutPlan(reader: Reader, object: KubeObject, steps: readonly Step[]): undefined | typeof OUTDATED | Refusal {
    const attempts = reader.controller.write?.(steps, this.#cluster.notes);
    if (attempts === undefined) return this.#carryOut(reader, object, steps);
    for (let next = attempts.next(); !next.done;) {
      const answer = this.#cluster.apply(next.value, managerOf(reader.controller), authorOf(reader, object));
      if (answer === OUTDATED) return OUTDATED;
      next = attempts.next(answer);
    }
    return undefined;
  }

  /** Carries steps out in order, until the server would refuse one. */
  #carryOut(reader: Reader, object: KubeObject, steps: readonly Step[]): undefined | typeof OUTDATED | Refusal {
    for (const step of steps) {
      const answer = this.#cluster.apply(step, managerOf(reader.controller), authorOf(reader, object));
      if (answer === OUTDATED) return OUTDATED;
      if (answer.did === 'refused') return { step, message: answer.message };
    }
    return undefined;
  }

  /** Writes the status if it differs, and returns the object after that; undefined if the plan must be made again. */
  #writeStatus(reader: Reader, object: KubeObject, status: Plan['status']): KubeObject | undefined {
    const { kind } = reader.controller;
    const latest = this.#cluster.get(kind, object.metadata);
    if (status === undefined || latest === undefined) return latest;
    const isSame = latest.metadata.generation === object.metadata.generation;
    // A plan must not undo what others wrote after it was made: it is made again.
    if (!isSame || !jsonEqual(statusOf(latest), statusOf(object))) {
      this.#wake(reader.controller, reader.key);
      return undefined;
    }
    this.#carryOut(reader, object, [editStatus(kind, latest, stampStatus(object, status, this.#cluster.now()))]);
    return this.#cluster.get(kind, object.metadata);
  }

  /** Reports a failed reconcile as a controller does. */
  #failed(reader: Reader, object: KubeObject, failure: Failure): void {
    const { controller } = reader;
    this.#stall(reader, failure);
    const { steps = [], status = statusOf(object) } = controller.failed?.(object, failure, this.#cluster.now()) ?? {};
    this.#carryOut(reader, object, steps);
    if (controller.ownsStatus !== false) this.#writeStatus(reader, object, withFailure(status, failure));
  }

  #stall({ controller: { kind, name }, key }: Reader, { reason, message }: Failure): void {
    const object = this.#cluster.get(kind, refOf(key));
    if (object !== undefined) this.#stalled.set(`${name} ${key}`, { controller: name, kind, object, reason, message });
  }
}

interface Refusal {
  readonly step: Step;
  readonly message: string;
}

/** A plan repeats a step that was refused: it cannot handle the refusal. */
class ReconcileFailed extends Error {
  readonly failure: Failure;

  constructor(step: Step, cause: string) {
    const message = `${step.do} ${step.kind.kind} ${keyOf(objectOf(step).metadata)}: ${cause}`;
    super(message);
    this.failure = { reason: 'ApplyFailed', message, cause, step };
  }
}

function planned(controller: ControllerDefinition, view: View, object: KubeObject): Plan {
  view.get(controller.kind, object.metadata);
  let plan: Plan;
  try {
    plan = controller.plan(view, object);
  } catch (error) {
    // The caller makes the forecast again once the table is synced.
    throw error instanceof NotSynced ? error : new PlanThrew(error);
  }
  for (const step of plan.steps ?? []) view.get(step.kind, objectOf(step).metadata);
  return plan;
}

function managerOf({ name, fieldManager = `offshoot-${name}` }: ControllerDefinition): string {
  return fieldManager;
}

function authorOf({ controller: { name, kind } }: Reader, object: KubeObject): Author {
  return { by: name, for: { kind, object } };
}

/** The object that a step is about. */
function targetOf(step: Step): string {
  return identityOf(step.kind, objectOf(step).metadata);
}
