// The definition of a controller: a kind and one pure function.
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
  /** Carried out in this order. After a step that the server refuses, the plan is made again and knows about it. */
  readonly steps?: readonly Step[];
  /** The whole status of the object; not changed if absent. */
  readonly status?: Status;
  /** For an object that is being deleted: cleanup is complete, and the finalizer can be removed. */
  readonly finished?: boolean;
  /** Recorded after a reconcile that changed something, so that repeating the same plan records nothing. */
  readonly events?: readonly PlannedEvent[];
  /** Log lines; written like events, for what is too long for them. */
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

/** A log line with its fields. */
interface PlannedLine {
  readonly message: string;
  readonly [field: string]: unknown;
}

/** The result of an attempted write. */
export type Attempt = Pick<Outcome, 'did' | 'object'> | RefusedAttempt;

export interface RefusedAttempt {
  readonly did: 'refused';
  /** The message of the server. */
  readonly message: string;
  /** Whether we have no permission for the write, whatever its content. */
  readonly isForbidden: boolean;
}

/** In-memory state of a controller, in maps that plans can read. A forecast has its own copy. */
export interface Notes {
  readonly read: Read;
  store<K, V>(map: WatchableMap<K, V>, key: K, value: V): void;
  delete<K, V>(map: WatchableMap<K, V>, key: K): void;
  now(): number;
}

/** A failed reconcile. */
export interface Failure {
  /** `ApplyFailed` or `PlanFailed`. */
  readonly reason: string;
  /** What failed and why. */
  readonly message: string;
  /** Only why: the message of the server. */
  readonly cause: string;
  /** The write that was refused. */
  readonly step?: Step;
}

export interface ControllerDefinition<T extends KubeObject = KubeObject> {
  /** Names the field manager (`offshoot-<name>`), metrics and logs. */
  readonly name: string;
  /** The kind that it plans for; a `defineTable` with a selector excludes objects that are not its own. */
  readonly kind: Kind<T>;
  /**
   * The Lease for leader election among processes that run this controller, if the manager elects leaders; by default
   * the Lease of the manager.
   */
  readonly lease?: string;
  /** Pure: reads only through the view, does no I/O, returns at once. A deleted object has a `deletionTimestamp`. */
  plan(view: View, object: T): Plan;
  /** Added to every object before its first plan; removed when a plan of its deletion is `finished`. */
  readonly finalizers?: readonly string[];
  /**
   * What to write after a failure, in the terms of the kind: its status, to which the condition `Stalled` is added, and
   * edits. It must return the same for the same failure.
   */
  failed?(object: T, failure: Failure, now: number): Pick<Plan, 'steps' | 'status'>;
  /** False if another controller owns the status of the kind: this one then reports failures only by Events. */
  readonly ownsStatus?: boolean;
  /** The status to write, given the live one: keeps fields that a newer version of the controller has written. */
  keepStatus?(
    live: Readonly<Record<string, unknown>>,
    planned: Readonly<Record<string, unknown>>,
  ): Readonly<Record<string, unknown>>;
  /** How many keys are reconciled concurrently. */
  readonly workers?: number;
  /** The minimum time between two writes, or reconciles that write, to an object: changes in between are combined. */
  readonly paceMs?: number;
  /** The field manager, if several controllers share one; `offshoot-<name>` by default. */
  readonly fieldManager?: string;
  /**
   * Carries out the steps of a plan, if writing them in order is not enough: yields each write and receives its result.
   * Pure except for its notes: a forecast runs it, too.
   */
  write?(steps: readonly Step[], notes: Notes): Generator<Step, void, Attempt>;
  /** The first backoff of a failing key, which doubles each time, and the longest. */
  readonly baseBackoffMs?: number;
  readonly maxBackoffMs?: number;
  /** Limits the retries of all keys together. */
  readonly retryLimit?: RetryLimit;
  /** Periodic work besides plans, in the process that leads. */
  readonly chores?: readonly Chore[];
  /** Metrics of what is observed; reported by the process that leads. */
  readonly gauges?: readonly TableGauge[];
  /** Metrics of what it writes. */
  readonly counters?: readonly WriteCounter[];
  /** Metrics of how long it takes until a status is reached. */
  readonly timings?: readonly StatusTiming<T>[];
}

/** A metric computed from what is observed at each scrape, once the tables are synced. */
export interface TableGauge extends ComputedGauge {
  series(facts: Facts): Iterable<Series>;
}

/** Counts acknowledged writes. */
export interface WriteCounter extends ComputedGauge {
  /** Series that start at 0: for others, the first count is not seen as an increase. */
  readonly initial?: readonly Labels[];
  /** Undefined for a write that is not counted. */
  labelsOf(outcome: Outcome): Labels | undefined;
}

/** Measures a change of status when it is written. */
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
