// The Ready condition of space requests and spaces. It has two times: of the last change of its status, and of any
// change.
import { timestamp } from '../../kube/index.ts';
import type { Space, SpaceRequest } from '../../api/spaces.ts';
import type { Condition, Plan, PlannedEvent, Status, View } from '../../controller/index.ts';
import type { SpaceReason } from '../reasons.ts';

type SpaceObject = SpaceRequest | Space;
type ToolchainCondition = NonNullable<NonNullable<SpaceObject['status']>['conditions']>[number];

/** The readiness of a space, or of a request that passes it on. Only `Provisioned` is ready. */
export interface Readiness {
  readonly reason: SpaceReason;
  readonly message?: string;
}

export function readyOf({ status }: SpaceObject): ToolchainCondition | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready');
}

export function hasReadyCondition(object: SpaceObject): boolean {
  return readyOf(object)?.status === 'True';
}

/** A plan that reports readiness in the status and, when it is new, in an Event. */
export function report(
  view: Pick<View, 'now'>,
  object: SpaceObject,
  readiness: Readiness,
  status: SpaceObject['status'] = object.status,
): Plan {
  const { conditions: _before, ...rest } = status ?? {};
  const conditions = withReadiness(object, readiness, view.now());
  return { status: { ...rest, conditions }, events: eventsOf(object, readiness) };
}

function eventsOf(object: SpaceObject, { reason, message }: Readiness): PlannedEvent[] {
  const before = readyOf(object);
  if (before?.reason === reason && (before.message ?? '') === (message ?? '')) return [];
  const type = reason.startsWith('UnableTo') ? 'Warning' : 'Normal';
  return [{ type, reason, note: message ?? `the space is ${reason.toLowerCase()}` }];
}

/** The conditions of an object with its readiness. Conditions of others are kept, and all keep their order. */
function withReadiness(
  object: SpaceObject,
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
