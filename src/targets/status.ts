// The status of claims and targets: a phase, and conditions that begin with `ErrorOccurred`.
import { timestamp } from '../kube/index.ts';
import type { Condition, PlannedCondition } from '../controller/index.ts';
import type { ClaimReason, TargetReason } from './reasons.ts';

type Conditions = readonly Condition[] | undefined;

/**
 * The condition `ErrorOccurred`; without a message, there is no error. It is older than the API conventions: its time
 * changes with anything in it.
 */
export function errorCondition(before: Conditions, message: string | undefined, now: number): Condition {
  const next =
    message === undefined
      ? ({ type: 'ErrorOccurred', status: 'False', reason: 'Success', message: '' } as const)
      : ({ type: 'ErrorOccurred', status: 'True', reason: 'ErrorOccurred', message } as const);
  const old = before?.find(({ type }) => type === next.type);
  const isSame = old?.status === next.status && old.message === next.message && old.reason === next.reason;
  return { ...next, lastTransitionTime: isSame ? old.lastTransitionTime : timestamp(now) };
}

export function condition(
  type: string,
  is: boolean,
  reason: ClaimReason | TargetReason,
  message: string,
): PlannedCondition {
  return { type, status: is ? 'True' : 'False', reason, message };
}

/** Conditions with one of them set; by the API conventions, its time is that of the last change of its status. */
export function withPlanned(before: Conditions, next: PlannedCondition, now: number): Condition[] {
  const old = before?.find(({ type }) => type === next.type);
  const lastTransitionTime = old?.status === next.status ? old.lastTransitionTime : timestamp(now);
  return [...without(before, next.type), { ...next, lastTransitionTime }];
}

/** Conditions with the error first, where clients look for it. */
export function withError(before: Conditions, message: string, now: number): Condition[] {
  return [errorCondition(before, message, now), ...without(before, 'ErrorOccurred')];
}

/** The types of conditions that our controllers write on claims and targets. */
const OURS: ReadonlySet<string> = new Set([
  'ErrorOccurred',
  'Ready',
  'Provisioned',
  'ClassMatches',
  'Expires',
  'SecretFound',
  'Reserved',
  'Stalled',
]);

/** Our conditions, and those of others unchanged. */
export function besideOthers(
  before: Conditions,
  ours: readonly (PlannedCondition | Condition)[],
): readonly (PlannedCondition | Condition)[] {
  return [...ours, ...(before ?? []).filter(({ type }) => !OURS.has(type))];
}

function without(conditions: Conditions, not: string): Condition[] {
  return (conditions ?? []).filter(({ type }) => type !== not);
}
