// The Ready condition of space requests and spaces. It moves its time when the status changes, and has a second time for
// any change.
import { timestamp } from '../../kube/index.ts';
import type { Space, SpaceRequest } from '../../api/spaces.ts';
import type { Condition, Plan, PlannedEvent, Status, View } from '../../controller/index.ts';
import type { SpaceReason } from '../reasons.ts';

type Of = SpaceRequest | Space;
type ToolchainCondition = NonNullable<NonNullable<Of['status']>['conditions']>[number];

/** What a space says about itself or a request passes on. Only `Provisioned` is ready. */
export interface Readiness {
  readonly reason: SpaceReason;
  readonly message?: string;
}

export function readyOf({ status }: Of): ToolchainCondition | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready');
}

export function hasReadyCondition(object: Of): boolean {
  return readyOf(object)?.status === 'True';
}

/** A plan that says how ready an object is, in its status and, when that is news, in an Event. */
export function report(
  view: Pick<View, 'now'>,
  object: Of,
  readiness: Readiness,
  status: Of['status'] = object.status,
): Plan {
  const { conditions: _before, ...rest } = status ?? {};
  const conditions = withReadiness(object, readiness, view.now());
  return { status: { ...rest, conditions }, events: eventsOf(object, readiness) };
}

function eventsOf(object: Of, { reason, message }: Readiness): PlannedEvent[] {
  const before = readyOf(object);
  if (before?.reason === reason && (before.message ?? '') === (message ?? '')) return [];
  const type = reason.startsWith('UnableTo') ? 'Warning' : 'Normal';
  return [{ type, reason, note: message ?? `the space is ${reason.toLowerCase()}` }];
}

/** The conditions of an object with its readiness. Conditions of others stay, and all keep their order. */
function withReadiness(
  object: Of,
  { reason, message = '' }: Readiness,
  now: number,
): NonNullable<Status['conditions']> {
  const status = reason === 'Provisioned' ? 'True' : 'False';
  const before = readyOf(object);
  const all = (object.status?.conditions ?? []).filter(({ type }) => type !== 'Stalled') as Condition[];
  const isSame = before?.status === status && before.reason === reason && (before.message ?? '') === message;
  const time = timestamp(now);
  const ready = {
    type: 'Ready',
    status,
    reason,
    message,
    lastTransitionTime: before?.status === status ? (before.lastTransitionTime ?? time) : time,
    lastUpdatedTime: isSame ? (before.lastUpdatedTime ?? time) : time,
  } as const;
  const isKept = isSame && before.lastTransitionTime !== undefined;
  const next = isKept ? (before as Condition) : ready;
  const at = all.findIndex(({ type }) => type === 'Ready');
  return at < 0 ? [...all, next] : all.with(at, next);
}
