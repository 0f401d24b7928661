// The condition for a reconcile that failed as a whole: set by the reconciler, and removed by it again.
import { PlanOutdated, StepFailed } from '../kube/write/apply.ts';
import { ApiError, serverMessage } from '../kube/errors.ts';
import type { KubeObject } from '../kube/objects.ts';
import { statusOf, withCondition } from './conditions.ts';
import type { Condition, Status } from './conditions.ts';
import type { Failure } from './definition.ts';
import type { FAILURE_REASONS } from './reasons.ts';

/** The condition that says why there is no progress. kstatus and `kubectl wait` know it. */
const STALLED = 'Stalled';
type FailureReason = keyof (typeof FAILURE_REASONS)['Stalled'];
const PLAN_FAILED: FailureReason = 'PlanFailed';
const APPLY_FAILED: FailureReason = 'ApplyFailed';

/** Wraps an error that a plan threw, to tell it from a failed write. */
export class PlanThrew extends Error {
  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
  }
}

/** The failure to report for an error. */
export function failureOf(error: unknown): Failure {
  const cause = error instanceof PlanThrew ? error.cause : error;
  const apiError = error instanceof StepFailed ? error.cause : error;
  return {
    reason: error instanceof PlanThrew ? PLAN_FAILED : APPLY_FAILED,
    message: messageOf(cause),
    cause: apiError instanceof ApiError ? serverMessage(apiError) : messageOf(cause),
    ...(error instanceof StepFailed && { step: error.step }),
  };
}

/** A status with a failure added. */
export function withFailure(status: Status, { reason, message }: Failure): Status {
  const others = ((status.conditions ?? []) as Condition[]).filter(({ type }) => type !== STALLED);
  return { ...status, conditions: [...others, { type: STALLED, status: 'True', reason, message }] };
}

/** The status without an earlier failure; undefined if it has none. */
export function withoutFailure(object: KubeObject): Status | undefined {
  const conditions = withCondition(object, STALLED, undefined);
  const before = statusOf(object)['conditions'];
  if (!Array.isArray(before) || before.length === conditions.length) return undefined;
  const stalled = before.find((condition: { type?: string }) => condition.type === STALLED) as { reason?: string };
  if (stalled.reason !== PLAN_FAILED && stalled.reason !== APPLY_FAILED) return undefined;
  return { ...statusOf(object), conditions };
}

function messageOf(error: unknown): string {
  if (error instanceof PlanOutdated) return `${error.message}, every time: another program keeps writing to it`;
  return error instanceof Error ? error.message : String(error);
}
