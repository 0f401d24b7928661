// How long a claim lives once it is bound: as the claim says or, if it says nothing, its class.
import type { DeploymentTargetClaim } from '../../api/targets.ts';
import type { Facts } from '../../controller/index.ts';
import { parseDuration, timestamp } from '../../kube/index.ts';
import { BOUND_AT, EXPIRES_AT, TTL } from '../names.ts';
import { classParameters } from '../provisioning/parameters.ts';
import { classOf, wasBound } from '../world.ts';

/** 100 years: much longer durations would overflow a Date. */
const LONGEST_MS = 36_500 * 86_400_000;

export interface Expiry {
  /** As it was written; undefined for a claim that does not expire. */
  readonly ttl?: string;
  /** When it expires; undefined before the claim is bound. */
  readonly endMs?: number;
  /** Values of the annotations that record when the claim was bound and when it expires. */
  readonly boundAt?: string;
  readonly expiresAt?: string;
  readonly problem?: string;
}

/** The lifetime of a claim. It begins when the claim is first bound, whatever happens to its target later. */
export function expiryOf(facts: Facts, claim: DeploymentTargetClaim): Expiry {
  const ttl = ttlOf(facts, claim);
  if (ttl === undefined) return {};
  const lengthMs = parseDuration(ttl) ?? 0;
  if (lengthMs <= 0 || lengthMs > LONGEST_MS) {
    const problem = `the time to live "${ttl}" is not a duration such as 90m or 2d: the claim does not expire`;
    return { ttl, problem };
  }
  const startMs = firstBoundMs(claim, lengthMs);
  if (Number.isNaN(startMs)) return { ttl };
  const endMs = startMs + lengthMs;
  return { ttl, endMs, boundAt: timestamp(startMs), expiresAt: timestamp(endMs) };
}

/** When a claim was first bound; NaN before, or if that is unknown. Other binders do not record it. */
function firstBoundMs(claim: DeploymentTargetClaim, lengthMs: number): number {
  if (!wasBound(claim)) return NaN;
  const { [BOUND_AT]: boundAt, [EXPIRES_AT]: expiresAt } = claim.metadata.annotations ?? {};
  const recorded = Date.parse(boundAt ?? '');
  if (!Number.isNaN(recorded)) return recorded;
  const since = Date.parse(boundSince(claim) ?? '');
  return Number.isNaN(since) ? Date.parse(expiresAt ?? '') - lengthMs : since;
}

/** When a claim without our annotations was bound, as far as its status says: when it last became ready. */
export function boundSince({ status }: DeploymentTargetClaim): string | undefined {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return status?.phase === 'Bound' && ready?.status === 'True' ? ready.lastTransitionTime : undefined;
}

function ttlOf(facts: Facts, { metadata, spec }: DeploymentTargetClaim): string | undefined {
  const ofClass = classOf(facts, spec.deploymentTargetClassName);
  return spec.ttl ?? metadata.annotations?.[TTL] ?? (ofClass && classParameters(ofClass).value?.ttl);
}
