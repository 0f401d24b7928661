// Status conditions by the Kubernetes API conventions: those of a plan, to which we add times and the generation.
import { timestamp } from '../kube/times.ts';
import type { KubeObject } from '../kube/objects.ts';

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
}

/** A condition of a plan, without the time of its last transition. */
export type PlannedCondition = Omit<Condition, 'lastTransitionTime' | 'observedGeneration'>;

/** The part of a status that the controller loop knows about; the rest is the kind's own. */
export interface Status {
  /** A condition that already has a time, because it is copied, is not changed. */
  readonly conditions?: readonly (PlannedCondition | Condition)[];
  readonly [field: string]: unknown;
}

/** The conditions that an object has now. */
export function conditionsOf(object: KubeObject): readonly Condition[] {
  const { conditions } = statusOf(object);
  return Array.isArray(conditions) ? (conditions as Condition[]) : [];
}

/** The status that an object has now. */
export function statusOf(object: KubeObject): Readonly<Record<string, unknown>> {
  return (object as KubeObject & { status?: Record<string, unknown> }).status ?? {};
}

/** A planned status as it is written: a condition keeps its time while its status stays the same. */
export function stampStatus(object: KubeObject, planned: Status, now: number): Readonly<Record<string, unknown>> {
  if (planned.conditions === undefined) return planned;
  return { ...planned, conditions: planned.conditions.map((condition) => stamp(object, condition, now)) };
}

/** The conditions of an object with one set or, if `undefined`, removed. */
export function withCondition(
  object: KubeObject,
  type: string,
  condition: PlannedCondition | undefined,
): readonly (PlannedCondition | Condition)[] {
  const others: (PlannedCondition | Condition)[] = conditionsOf(object).filter((other) => other.type !== type);
  return condition === undefined ? others : [...others, condition];
}

function stamp(object: KubeObject, condition: PlannedCondition | Condition, now: number): Condition {
  if ('lastTransitionTime' in condition) return condition;
  const before = conditionsOf(object).find((other) => other.type === condition.type);
  const { generation } = object.metadata;
  return {
    ...condition,
    ...(generation !== undefined && { observedGeneration: generation }),
    lastTransitionTime:
      before?.status === condition.status && before.lastTransitionTime !== undefined
        ? before.lastTransitionTime
        : timestamp(now),
  };
}
