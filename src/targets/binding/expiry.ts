// How long a claim lives once it is bound: what it says itself or, if it says nothing, its class.
import type { DeploymentTargetClaim } from '../../api/targets.ts';
import type { View } from '../../controller/index.ts';
import { parseDuration, timestamp } from '../../kube/index.ts';
import { BIND_COMPLETE, BOUND_AT, EXPIRES_AT, TTL } from '../names.ts';
import { classParameters } from '../provisioning/parameters.ts';
import { classOf } from '../world.ts';

/** No date is far enough for more. */
const LONGEST_MS = 36_500 * 86_400_000;

export interface Expiry {
  /** As it was written; undefined for a claim that lives forever. */
  readonly ttl?: string;
  /** Until the end; undefined while it has not begun. Not above zero: the claim is over. */
  readonly leftMs?: number;
  /** What the annotations should say that tell of the beginning and of the end. */
  readonly boundAt?: string;
  readonly expiresAt?: string;
  readonly problem?: string;
}

/** The lifetime of a claim. It begins when the claim is first bound, and goes on whatever becomes of its target. */
export function expiryOf(view: View, claim: DeploymentTargetClaim): Expiry {
  const ttl = ttlOf(view, claim);
  if (ttl === undefined) return {};
  const lengthMs = parseDuration(ttl) ?? 0;
  if (lengthMs <= 0 || lengthMs > LONGEST_MS) {
    const problem = `the time to live "${ttl}" is not a duration such as 90m or 2d: the claim does not expire`;
    return { ttl, problem };
  }
  const begun = beginningOf(claim, lengthMs);
  if (Number.isNaN(begun)) return { ttl };
  const end = begun + lengthMs;
  return { ttl, leftMs: end - view.now(), boundAt: timestamp(begun), expiresAt: timestamp(end) };
}

/** When a claim was first bound; NaN before. Other binders do not write it down: then it is when it last became ready. */
function beginningOf({ metadata, status }: DeploymentTargetClaim, lengthMs: number): number {
  const { [BIND_COMPLETE]: mark, [BOUND_AT]: boundAt, [EXPIRES_AT]: expiresAt } = metadata.annotations ?? {};
  if (mark === undefined) return NaN;
  const told = Date.parse(boundAt ?? '');
  if (!Number.isNaN(told)) return told;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' ? Date.parse(ready.lastTransitionTime) : Date.parse(expiresAt ?? '') - lengthMs;
}

function ttlOf(view: View, { metadata, spec }: DeploymentTargetClaim): string | undefined {
  const ofClass = classOf(view, spec.deploymentTargetClassName);
  return spec.ttl ?? metadata.annotations?.[TTL] ?? (ofClass && classParameters(ofClass).value?.ttl);
}
