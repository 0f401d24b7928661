// The time to live of an environment: when it expires, the notice an hour before, and its deletion. Uses the clock of
// the controllers; recorded times are whole seconds.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { conditionsOf } from '../../controller/index.ts';
import type { Plan, PlannedCondition, PlannedEvent, View } from '../../controller/index.ts';
import { parseDuration, removeUnchanged } from '../../kube/index.ts';
import { timestamp } from '../../kube/times.ts';
import type { ReasonOf } from '../reasons.ts';

/** A time before which an environment does not expire, whatever its ttl: `offshoot env extend` writes it. */
export const EXTENDED_UNTIL = 'offshoot.dev/extended-until';

/** The longest time to live. */
export const MAX_TTL_MS = 365 * 86_400_000;

/** How long before its expiry an environment gives notice. */
const NOTICE_MS = 3_600_000;

/** The condition of an environment that expires soon: later plans see by it that notice was given. */
const EXPIRING = 'Expiring';

export interface Lifetime {
  /** In milliseconds. */
  readonly expiresAt: number;
  /** When the spec was last changed, where the time to live counts from that. */
  readonly specUpdatedAt?: number;
}

/** The lifetime of an environment; undefined for one that does not expire. */
export function lifetimeOf(env: DynamicEnv, now: number): Lifetime | undefined {
  const { ttl } = env.spec ?? {};
  const ms = ttl && ttlMs(ttl.duration);
  // An invalid ttl that got past admission must not delete anything.
  if (ms === undefined || ms <= 0 || ms > MAX_TTL_MS) return undefined;
  const created = Date.parse(env.metadata.creationTimestamp ?? '') || now;
  const specUpdatedAt = ttl?.from === 'Updated' ? updateTime(env, created, now) : undefined;
  const expiresAt = Math.max((specUpdatedAt ?? created) + ms, extensionOf(env) ?? 0);
  return { expiresAt, ...(specUpdatedAt !== undefined && { specUpdatedAt }) };
}

function ttlMs(duration: string | undefined): number | undefined {
  return parseDuration(duration ?? '');
}

/** When the spec was last changed: from the status, if that is about the current spec. */
function updateTime({ metadata, status }: DynamicEnv, created: number, now: number): number {
  const known = Date.parse(status?.specUpdatedAt ?? '');
  if (status?.observedGeneration === metadata.generation && !Number.isNaN(known)) return known;
  // The first generation is that of the creation. For others, the time is not known: now is not earlier.
  return metadata.generation === 1 ? created : Math.floor(now / 1_000) * 1_000;
}

/** Until when an environment is extended, in milliseconds; undefined if it is not. */
function extensionOf({ metadata }: DynamicEnv): number | undefined {
  const until = metadata.annotations?.[EXTENDED_UNTIL];
  return until === undefined || !isTime(until) ? undefined : Date.parse(until);
}

function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[-+]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text));
}

/** Deletes an expired environment, unless it has changed: an extension at the same moment is not lost. */
export function planExpiry(env: DynamicEnv): Plan {
  const { duration, from = 'Created' } = env.spec.ttl!;
  const note = `its time to live is over: spec.ttl is ${duration} from ${from}`;
  return {
    steps: [removeUnchanged(DynamicEnv, env)],
    events: [{ type: 'Normal', reason: 'Expired', note, action: 'Delete' }],
  };
}

/** Adds the lifetime of an environment to its plan: in the status, and as a notice in time. */
export function withLifetime(
  plan: Plan,
  env: DynamicEnv,
  { expiresAt, specUpdatedAt }: Lifetime,
  time: Pick<View, 'untilExpiry'>,
  undeletable: string | undefined,
): Plan {
  const untilNotice = time.untilExpiry(expiresAt - NOTICE_MS);
  const isExpiring = untilNotice <= 0;
  const next = isExpiring ? time.untilExpiry(expiresAt) : untilNotice;
  const waits = [plan.requeueAfterMs, next].map(Number).filter((ms) => Number.isFinite(ms) && ms > 0);
  const { status } = plan;
  const condition = isExpiring ? expiring(env, expiresAt, undeletable) : undefined;
  return {
    ...plan,
    ...(status && {
      status: {
        ...status,
        expiresAt: timestamp(expiresAt),
        ...(specUpdatedAt !== undefined && { specUpdatedAt: timestamp(specUpdatedAt) }),
        conditions: [...(status.conditions ?? []), ...(condition ? [condition] : [])],
      },
    }),
    events: [...(plan.events ?? []), ...(status && condition ? noticeEvents(env, condition) : [])],
    ...(waits.length > 0 && { requeueAfterMs: Math.min(...waits) }),
  };
}

function expiring({ metadata }: DynamicEnv, expiresAt: number, undeletable: string | undefined): PlannedCondition {
  const { name, namespace } = metadata;
  const [reason, message]: [ReasonOf<'Expiring'>, string] =
    undeletable === undefined
      ? ['ExpiresSoon', `expires at ${timestamp(expiresAt)}: "offshoot env extend ${name} -n ${namespace}" extends it`]
      : ['NotDeleted', `expired at ${timestamp(expiresAt)}, and can't be deleted: ${undeletable}`];
  return { type: EXPIRING, status: 'True', reason, message };
}

/** One Event for each expiry, even after a restart of the controller. */
function noticeEvents(env: DynamicEnv, { reason, message }: PlannedCondition): readonly PlannedEvent[] {
  const isReported = conditionsOf(env).some((each) => each.type === EXPIRING && each.message === message);
  return isReported ? [] : [{ type: 'Warning', reason, note: message }];
}

/** A field with an invalid lifetime. */
export interface LifetimeProblem {
  readonly at: readonly string[];
  readonly path: string;
  readonly value: unknown;
  readonly detail: string;
}

/** The problem with the lifetime of an environment. */
export function lifetimeProblem({ metadata, spec }: DynamicEnv): LifetimeProblem | undefined {
  const detail = spec?.ttl && durationProblem(spec.ttl.duration);
  if (detail !== undefined) {
    return { at: ['spec', 'ttl', 'duration'], path: 'spec.ttl.duration', value: spec?.ttl?.duration, detail };
  }
  const until = metadata.annotations?.[EXTENDED_UNTIL];
  if (until === undefined || isTime(until)) return undefined;
  return {
    at: ['metadata', 'annotations', EXTENDED_UNTIL],
    path: `metadata.annotations[${EXTENDED_UNTIL}]`,
    value: until,
    detail: 'it must be a time, such as 2026-01-31T18:00:00Z',
  };
}

function durationProblem(duration: string): string | undefined {
  const ms = ttlMs(duration);
  if (ms === undefined) return 'it must be a duration, such as 90m, 8h, 1h30m or 2d';
  if (ms <= 0) return 'it is too short: the environment would be deleted at once';
  return ms > MAX_TTL_MS ? 'it must be at most 365d: omit spec.ttl for an environment that does not expire' : undefined;
}

/** Warns if an environment would have expired with its new lifetime. */
export function lifetimeWarnings(env: DynamicEnv, now: number): readonly string[] {
  const lifetime = lifetimeOf(env, now);
  // A change of the spec is an update: a lifetime that counts from that starts over.
  if (lifetime === undefined || lifetime.expiresAt > now || env.spec?.ttl?.from === 'Updated') return [];
  return [`spec.ttl: the environment expired at ${timestamp(lifetime.expiresAt)} with this value and is deleted now`];
}
