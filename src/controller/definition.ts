// What a controller is made of: a kind and one pure function.
import type { Kind, KubeObject } from '../kube/objects.ts';
import type { Outcome } from '../kube/write/apply.ts';
import type { Step } from '../kube/write/steps.ts';
import type { Read, WatchableMap } from '../watchable/index.ts';
import type { Chore } from './chore.ts';
import type { Status } from './conditions.ts';
import type { Facts } from './facts.ts';
import type { ComputedGauge, Labels, Series } from './metrics/metrics.ts';
import type { RetryLimit } from './queue.ts';
import type { View } from './view.ts';

/** What to do now, given what is observed. */
export interface Plan {
  /** Carried out in this order. After a step that the server refuses, the plan is made again and knows of it. */
  readonly steps?: readonly Step[];
  /** The whole status that the object shall have; left as it is when absent. */
  readonly status?: Status;
  /** Of an object that is being deleted: nothing that it stood for is left, the finalizer may go. */
  readonly finished?: boolean;
  /** What to tell people; recorded after a reconcile that changed something, so that the same plan again tells nothing. */
  readonly events?: readonly PlannedEvent[];
  /** What to write to the log: like events, for what is too much for them. */
  readonly log?: readonly PlannedLine[];
  /** Plan again after this time even if nothing changes. */
  readonly requeueAfterMs?: number;
}

export interface PlannedEvent {
  readonly type: 'Normal' | 'Warning';
  /** CamelCase. */
  readonly reason: string;
  readonly note: string;
  readonly action?: string;
  /** The object that it is about, if not the planned one. */
  readonly regarding?: KubeObject;
}

/** A line of the log, with fields beside its words. */
interface PlannedLine {
  readonly message: string;
  readonly [field: string]: unknown;
}

/** What became of a write that was tried. */
export type Attempt = Pick<Outcome, 'did' | 'object'> | RefusedAttempt;

export interface RefusedAttempt {
  readonly did: 'refused';
  /** What the server said. */
  readonly message: string;
  /** Whether the server lets nobody of ours write there, whatever it is. */
  readonly isForbidden: boolean;
}

/** What a controller keeps beside the cluster: in maps, so that plans can read it. A forecast keeps it for itself. */
export interface Notes {
  readonly read: Read;
  store<K, V>(map: WatchableMap<K, V>, key: K, value: V): void;
  delete<K, V>(map: WatchableMap<K, V>, key: K): void;
  now(): number;
}

/** A reconcile that did not get to its end. */
export interface Failure {
  /** `ApplyFailed` or `PlanFailed`. */
  readonly reason: string;
  /** What failed and why. */
  readonly message: string;
  /** Why alone: what the server said. */
  readonly cause: string;
  /** The write that was refused. */
  readonly step?: Step;
}

export interface ControllerDefinition<T extends KubeObject = KubeObject> {
  /** Names the field manager (`offshoot-<name>`), metrics and logs. */
  readonly name: string;
  /** What it plans for; a `defineTable` that selects objects leaves out what is not for it. */
  readonly kind: Kind<T>;
  /**
   * The Lease by which processes that could do the same work exclude each other, where the manager elects leaders;
   * controllers that name none share that of the manager.
   */
  readonly lease?: string;
  /** Pure: reads only through the view, does no I/O, returns at once. Deletion shows as `deletionTimestamp`. */
  plan(view: View, object: T): Plan;
  /** Put on every object before its first plan; taken off when a plan of its deletion says `finished`. */
  readonly finalizers?: readonly string[];
  /**
   * What to write down about a failure in the words of the kind: its status, to which the condition `Stalled` is added,
   * and edits. Of the same failure twice it must say the same.
   */
  failed?(object: T, failure: Failure, now: number): Pick<Plan, 'steps' | 'status'>;
  /** False if another controller owns the status of the kind: this one then tells of its failures by Events alone. */
  readonly ownsStatus?: boolean;
  /** What is written of a planned status, given the live one: with what a newer version has written there. */
  keepStatus?(
    live: Readonly<Record<string, unknown>>,
    planned: Readonly<Record<string, unknown>>,
  ): Readonly<Record<string, unknown>>;
  /** How many keys run at once. */
  readonly workers?: number;
  /** The least time between two writes, or reconciles that write, to an object: changes meanwhile are written together. */
  readonly paceMs?: number;
  /** The field manager of what is written, where several controllers are one writer to others; `offshoot-<name>` if not. */
  readonly fieldManager?: string;
  /**
   * Carries out the steps of a plan, where one after the other is not enough: yields what to write, and is told what
   * became of it. Pure but for what it notes: a forecast runs it, too.
   */
  write?(steps: readonly Step[], notes: Notes): Generator<Step, void, Attempt>;
  /** The first back-off of a failing key, which doubles each time, and the longest. */
  readonly baseBackoffMs?: number;
  readonly maxBackoffMs?: number;
  /** How many retries there may be. */
  readonly retryLimit?: RetryLimit;
  /** What is done now and then beside plans; by the process that leads. */
  readonly chores?: readonly Chore[];
  /** Metrics of what is observed; reported by the process that leads. */
  readonly gauges?: readonly TableGauge[];
  /** Metrics of what it writes. */
  readonly counters?: readonly WriteCounter[];
  /** Metrics of how long it takes until a status says something. */
  readonly timings?: readonly StatusTiming<T>[];
}

/** A metric computed from what is observed when somebody asks for it; not before that is known. */
export interface TableGauge extends ComputedGauge {
  series(facts: Facts): Iterable<Series>;
}

/** Counts acknowledged writes. */
export interface WriteCounter extends ComputedGauge {
  /** Series that start with 0: of others, the first count is no increase. */
  readonly initial?: readonly Labels[];
  /** Undefined for a write that is not counted. */
  labelsOf(outcome: Outcome): Labels | undefined;
}

/** Measures when a status is written that differs from the one before. */
export interface StatusTiming<T extends KubeObject = KubeObject> extends ComputedGauge {
  /** In seconds. */
  readonly buckets: readonly number[];
  /** Undefined for a change that is not measured. */
  measure(before: T, after: T, now: number): Series | undefined;
}

/** Declares a controller; checks at compile time that `plan` fits the kind. */
export function defineController<T extends KubeObject>(definition: ControllerDefinition<T>): ControllerDefinition {
  return definition;
}
