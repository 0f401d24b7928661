// What controllers would do: their ordinary plans, run on a world with changes that nobody has made, each step answered
// as the server would, until nothing is left to do but to wait. Pure: nothing is written, here or there. For `plan`.
import { createHash } from 'node:crypto';
import { identityOf, keyOf, refOf } from '../../kube/objects.ts';
import type { AnyKind, KubeObject, Ref } from '../../kube/objects.ts';
import { timestamp } from '../../kube/times.ts';
import { edit, editStatus, objectOf } from '../../kube/write/steps.ts';
import type { Step } from '../../kube/write/steps.ts';
import { NotSynced } from '../../kube/tables/tables.ts';
import type { Tables } from '../../kube/tables/tables.ts';
import { jsonEqual } from '../../watchable/index.ts';
import { stampStatus, statusOf } from '../conditions.ts';
import type { ControllerDefinition, Failure, Plan } from '../definition.ts';
import { failureOf, PlanThrew, withFailure, withoutFailure } from '../failure.ts';
import type { View } from '../view.ts';
import { WhatIf } from '../what-if.ts';
import type { Facts } from '../facts.ts';
import { changesOf } from './changes.ts';
import type { Change, Planned, Write } from './changes.ts';
import { answerTo, deleted, OUTDATED } from './server.ts';
import type { Answer, Server } from './server.ts';

/** A change that somebody makes: the object as the server would store it, or the name of one that is deleted. */
export type Intent =
  | { readonly kind: AnyKind; readonly put: KubeObject }
  | { readonly kind: AnyKind; readonly delete: Ref };

export interface ForecastOptions {
  readonly controllers: readonly ControllerDefinition[];
  /** The world as it is; synced. */
  readonly tables: Tables;
  readonly now: number;
  /** Done before anything else. */
  readonly intents?: readonly Intent[];
  /** How far to look ahead: what controllers do after a while counts if the while is no longer than this. */
  readonly horizonMs?: number;
  /** Makes up the uids of new objects. Names may follow from them, and differ when this does. */
  readonly seed?: string;
  /** Why the server would refuse a step; undefined if it would not. */
  readonly refuse?: (step: Step) => string | undefined;
  /** Whether to foresee what Kubernetes itself does, too: dependents go with their owners, and with a namespace what is in it. */
  readonly simulatesCluster?: boolean;
}

/** A controller that can't go on with an object, and why. */
export interface Stalled extends Planned, Pick<Failure, 'reason' | 'message'> {
  readonly controller: string;
}

export interface Forecast {
  /** Every write, in order. */
  readonly writes: readonly Write[];
  /** What they come to, object by object. */
  readonly changes: readonly Change[];
  readonly stalled: readonly Stalled[];
  /** What would be there in the end. */
  readonly facts: Facts;
}

/** Whoever makes the intended changes, among those who write. */
export const SOMEBODY = 'you';
/** Kubernetes itself: the garbage collector, and what empties namespaces. */
export const CLUSTER = 'cluster';

const HORIZON_MS = 10_000;
/** More plans of one object than that, while time stands still, are no progress. */
const MOST_PLANS = 100;

/** Tells what the controllers would do, were the intended changes made. */
export function forecast(options: ForecastOptions): Forecast {
  const run = new Run(options);
  try {
    return run.toTheEnd();
  } finally {
    run.close();
  }
}

/** An object of a controller: what a controller's queue holds. */
interface Reader {
  readonly controller: ControllerDefinition;
  readonly key: string;
  plans: number;
}

class Run implements Server {
  readonly #options: ForecastOptions;
  readonly #whatIf: WhatIf;
  readonly #writes: Write[] = [];
  readonly #stalled = new Map<string, Stalled>();
  readonly #readers = new Map<string, Reader>();
  /** Readers to plan for, in order. */
  readonly #due = new Set<string>();
  /** By reader: when to plan again, even if nothing changes. */
  readonly #later = new Map<string, number>();
  /** Namespaces that are being emptied. */
  readonly #ending = new Set<string>();
  /** The uids of objects that are gone. */
  readonly #removed = new Set<string>();
  #now: number;
  #versions = 0;
  #uids = 0;

  constructor(options: ForecastOptions) {
    this.#options = options;
    this.#now = options.now;
    this.#whatIf = new WhatIf({ tables: options.tables, now: () => this.#now });
  }

  toTheEnd(): Forecast {
    const { controllers, intents = [], now, horizonMs = HORIZON_MS } = this.#options;
    for (const intent of intents) this.#intend(intent);
    for (const controller of controllers) {
      for (const key of this.#whatIf.facts.keys(controller.kind)) this.#wake(controller, key);
    }
    do {
      do this.#planAll();
      while (this.#collectGarbage());
    } while (this.#passTime(now + horizonMs));
    return {
      writes: this.#writes,
      changes: changesOf(this.#writes),
      stalled: [...this.#stalled.values()],
      facts: this.#whatIf.facts,
    };
  }

  close(): void {
    this.#whatIf.close();
  }

  now(): number {
    return this.#now;
  }

  uid(object: KubeObject): string {
    return object.metadata.uid ?? uuidOf(`${this.#options.seed}/${++this.#uids}`);
  }

  token(): string {
    return `a token that the server is yet to issue (${this.#options.seed})`;
  }

  version(): string {
    return `forecast-${++this.#versions}`;
  }

  #intend(intent: Intent): void {
    const { kind } = intent;
    if ('put' in intent) {
      const before = this.#live(kind, intent.put.metadata);
      const metadata = {
        ...intent.put.metadata,
        uid: intent.put.metadata.uid ?? before?.metadata.uid ?? this.uid(intent.put),
        resourceVersion: this.version(),
      };
      const after = { ...intent.put, metadata };
      return this.#write({ kind, before, after, by: SOMEBODY, for: { kind, object: after } });
    }
    const before = this.#live(kind, intent.delete);
    if (before !== undefined) this.#delete(kind, before, SOMEBODY, { kind, object: before });
  }

  #planAll(): void {
    for (const id of this.#due) {
      this.#due.delete(id);
      this.#later.delete(id);
      const reader = this.#readers.get(id)!;
      if (++reader.plans > MOST_PLANS) {
        this.#whatIf.forget(id);
        this.#stall(reader, { reason: 'NoProgress', message: 'the controller writes again and again', cause: '' });
      } else {
        this.#reconcile(id, reader);
      }
      for (const outdated of this.#whatIf.outdated()) this.#due.add(outdated);
    }
  }

  /** Goes on to when somebody wants to plan again; false when nobody does until the end. */
  #passTime(until: number): boolean {
    const next = Math.min(...this.#later.values());
    if (!(next <= until)) return false;
    this.#now = next;
    for (const [id, at] of this.#later) if (at <= next) this.#due.add(id);
    for (const reader of this.#readers.values()) reader.plans = 0;
    return true;
  }

  #wake(controller: ControllerDefinition, key: string): void {
    const id = `${controller.name} ${key}`;
    if (!this.#readers.has(id)) this.#readers.set(id, { controller, key, plans: 0 });
    this.#due.add(id);
  }

  /** One pass over an object, as the loop of a controller does it. */
  #reconcile(id: string, reader: Reader): void {
    const { kind, finalizers: ours = [] } = reader.controller;
    const object = this.#live(kind, refOf(reader.key));
    const isDeleting = object?.metadata.deletionTimestamp !== undefined;
    const missing = ours.filter((name) => !object?.metadata.finalizers?.includes(name));
    this.#stalled.delete(id);
    if (object === undefined || (isDeleting && ours.length > 0 && missing.length === ours.length)) {
      return this.#whatIf.forget(id);
    }
    if (missing.length > 0 && !isDeleting) {
      this.#whatIf.forget(id);
      this.#carryOut(reader, object, [withFinalizers(kind, object, [...finalizersOf(object), ...missing])]);
      return void this.#due.add(id);
    }
    try {
      const plan = this.#planFor(id, reader, object);
      if (plan === OUTDATED) return void this.#due.add(id);
      const status = plan.status ?? (reader.controller.ownsStatus === false ? undefined : withoutFailure(object));
      const current = this.#writeStatus(reader, object, status);
      if (isDeleting && plan.finished && ours.length > 0 && current !== undefined) {
        const others = finalizersOf(current).filter((name) => !ours.includes(name));
        this.#carryOut(reader, object, [withFinalizers(kind, current, others)]);
      }
      if (plan.requeueAfterMs !== undefined) this.#later.set(id, this.#now + Math.max(1, plan.requeueAfterMs));
    } catch (error) {
      if (!(error instanceof PlanThrew) && !(error instanceof Refused)) throw error;
      this.#failed(reader, object, error instanceof Refused ? error.failure : failureOf(error));
    }
  }

  /** Plans, and carries the plan out. After a step that is refused the plan is made again and knows of it. */
  #planFor(id: string, reader: Reader, object: KubeObject): Plan | typeof OUTDATED {
    const refused = new Map<string, string>();
    for (;;) {
      const refusal = (kind: AnyKind, ref: Ref): string | undefined => refused.get(identityOf(kind, ref));
      const plan = this.#whatIf.plan(id, (view) => planned(reader.controller, view, object), refusal);
      const { steps = [] } = plan;
      const again = steps.find((step) => refused.has(identityOf(step.kind, objectOf(step).metadata)));
      if (again !== undefined) throw new Refused(again, refused.get(identityOf(again.kind, objectOf(again).metadata))!);
      const outcome = this.#carryOut(reader, object, steps);
      if (outcome === undefined) return plan;
      if (outcome === OUTDATED) return OUTDATED;
      refused.set(identityOf(outcome.step.kind, objectOf(outcome.step).metadata), outcome.message);
    }
  }

  /** Carries steps out in order, until the server would refuse one. */
  #carryOut(reader: Reader, object: KubeObject, steps: readonly Step[]): undefined | typeof OUTDATED | Refusal {
    const { name, kind } = reader.controller;
    const manager = managerOf(reader.controller);
    for (const step of steps) {
      const message = this.#refusalOf(step);
      if (message !== undefined) return { step, message };
      const before = this.#live(step.kind, objectOf(step).metadata);
      const answer = answerTo(step, before, manager, this);
      if (answer === OUTDATED) return OUTDATED;
      const by = { by: name, for: { kind, object } };
      if (step.do === 'remove' && answer.did === 'removed') this.#delete(step.kind, before!, by.by, by.for);
      else if (answer.did !== 'nothing') this.#write({ kind: step.kind, before, after: answer.object, ...by });
    }
    return undefined;
  }

  #refusalOf(step: Step): string | undefined {
    const { kind } = step.kind;
    if (!this.#whatIf.facts.served(step.kind)) return `the cluster does not serve ${kind}: install its definition`;
    const { namespace } = objectOf(step).metadata;
    const isNew =
      step.do !== 'edit' && step.do !== 'remove' && this.#live(step.kind, objectOf(step).metadata) === undefined;
    if (isNew && namespace !== undefined && this.#ending.has(namespace))
      return `namespace ${namespace} is being deleted`;
    return this.#options.refuse?.(step);
  }

  /** Writes the status if it differs, and returns the object after that; undefined if the plan is to be made again. */
  #writeStatus({ controller }: Reader, object: KubeObject, status: Plan['status']): KubeObject | undefined {
    const { kind, name } = controller;
    const latest = this.#live(kind, object.metadata);
    if (status === undefined || latest === undefined) return latest;
    const isSame = latest.metadata.generation === object.metadata.generation;
    // What others wrote there must not be undone by a plan that did not see it: the plan is made again.
    if (!isSame || !jsonEqual(statusOf(latest), statusOf(object))) {
      this.#wake(controller, keyOf(object.metadata));
      return undefined;
    }
    const step = editStatus(kind, latest, stampStatus(object, status, this.#now));
    const answer = answerTo(step, latest, managerOf(controller), this) as Answer;
    if (answer.did !== 'nothing') {
      this.#write({ kind, before: latest, after: answer.object, by: name, for: { kind, object } });
    }
    return answer.object;
  }

  /** A pass that does not get to its end is told as the loop of a controller tells of it. */
  #failed(reader: Reader, object: KubeObject, failure: Failure): void {
    const { controller } = reader;
    this.#stall(reader, failure);
    const { steps = [], status = statusOf(object) } = controller.failed?.(object, failure, this.#now) ?? {};
    this.#carryOut(reader, object, steps);
    if (controller.ownsStatus !== false) this.#writeStatus(reader, object, withFailure(status, failure));
  }

  #stall({ controller, key }: Reader, { reason, message }: Failure): void {
    const { kind, name } = controller;
    const object = this.#live(kind, refOf(key));
    if (object !== undefined) this.#stalled.set(`${name} ${key}`, { controller: name, kind, object, reason, message });
  }

  /** Deletes an object, or marks it where finalizers hold it; with a namespace goes what is in it. */
  #delete(kind: AnyKind, object: KubeObject, by: string, of: Planned): void {
    const { object: after } = deleted(object, this);
    if (!isNamespace(kind) || !this.#simulatesCluster) return this.#write({ kind, before: object, after, by, for: of });
    const { name } = object.metadata;
    const content = this.#contentOf(name);
    this.#ending.add(name);
    const metadata = { ...object.metadata, deletionTimestamp: timestamp(this.#now) };
    const marked = after ?? (content.length > 0 ? { ...object, metadata } : undefined);
    this.#write({ kind, before: object, after: marked, by, for: of });
    for (const each of content) {
      if (each.object.metadata.deletionTimestamp === undefined) this.#delete(each.kind, each.object, CLUSTER, of);
    }
  }

  /** A namespace that is being deleted is gone when nothing is left in it. */
  #finish(namespace: string): void {
    const kind = [...this.#options.tables].map((table) => table.kind).find(isNamespace);
    const object = kind && this.#live(kind, { name: namespace });
    if (object === undefined || finalizersOf(object).length > 0 || this.#contentOf(namespace).length > 0) return;
    this.#write({ kind: kind!, before: object, after: undefined, by: CLUSTER, for: { kind: kind!, object } });
  }

  #contentOf(namespace: string): readonly Planned[] {
    const kinds = [...this.#options.tables].map(({ kind }) => kind).filter(({ namespaced }) => namespaced);
    return kinds.flatMap((kind) => this.#whatIf.facts.list(kind, { namespace }).map((object) => ({ kind, object })));
  }

  /** Deletes what has lost its last owner by what was done here; false when there is nothing. */
  #collectGarbage(): boolean {
    if (!this.#simulatesCluster || this.#removed.size === 0) return false;
    let isAny = false;
    for (const { kind } of this.#options.tables) {
      for (const object of this.#whatIf.facts.list<KubeObject>(kind)) {
        const { ownerReferences: owners = [], deletionTimestamp } = object.metadata;
        const isOrphan = owners.length > 0 && owners.every(({ uid }) => this.#removed.has(uid));
        if (!isOrphan || deletionTimestamp !== undefined) continue;
        this.#delete(kind, object, CLUSTER, { kind, object });
        isAny = true;
      }
    }
    return isAny;
  }

  #write(write: Write): void {
    const { kind, after, before } = write;
    this.#writes.push(write);
    const { uid } = before?.metadata ?? {};
    if (uid !== undefined && uid !== after?.metadata.uid) this.#removed.add(uid);
    if (after === undefined) this.#whatIf.remove(kind, before!.metadata);
    else this.#whatIf.put(kind, after);
    const { namespace = '' } = (after ?? before)!.metadata;
    if (after === undefined && this.#ending.has(namespace)) this.#finish(namespace);
    const key = keyOf((after ?? before)!.metadata);
    for (const controller of this.#options.controllers) {
      if (controller.kind.kind === kind.kind && controller.kind.group === kind.group) this.#wake(controller, key);
    }
  }

  get #simulatesCluster(): boolean {
    return this.#options.simulatesCluster !== false;
  }

  #live(kind: AnyKind, ref: Ref): KubeObject | undefined {
    return this.#whatIf.facts.get(kind, ref);
  }
}

interface Refusal {
  readonly step: Step;
  readonly message: string;
}

/** A plan asks again for what was refused: it has no answer to it. */
class Refused extends Error {
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
    // Whoever asked makes the forecast again, once it is known.
    throw error instanceof NotSynced ? error : new PlanThrew(error);
  }
  for (const step of plan.steps ?? []) view.get(step.kind, objectOf(step).metadata);
  return plan;
}

function managerOf({ name, fieldManager = `offshoot-${name}` }: ControllerDefinition): string {
  return fieldManager;
}

/** A uid as the server makes it up. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return [8, 4, 4, 4, 12].map((length, i) => hex.slice(i * 12, i * 12 + length)).join('-');
}

function withFinalizers(kind: AnyKind, object: KubeObject, finalizers: readonly string[]): Step {
  return edit(kind, object, { ...object, metadata: { ...object.metadata, finalizers } });
}

function finalizersOf({ metadata }: KubeObject): readonly string[] {
  return metadata.finalizers ?? [];
}

function isNamespace({ kind, group }: AnyKind): boolean {
  return kind === 'Namespace' && group === '';
}
