// How long a claim lives once it is bound: what it says itself or, if it says nothing, its class.
import type { DeploymentTargetClaim } from '../api/targets.ts';
import type { View } from '../controller/index.ts';
import { parseDuration } from '../kube/index.ts';
import { BIND_COMPLETE, EXPIRES_AT, TTL } from './names.ts';
import { classParameters } from './parameters.ts';
import { timeText } from './status.ts';
import { classOf } from './world.ts';

/** No date is far enough for more. */
const LONGEST_MS = 36_500 * 86_400_000;

export interface Life {
  /** As it was written; undefined for a claim that lives for ever. */
  readonly ttl?: string;
  /** Until the end; undefined while it has not begun. Not above zero: the claim is over. */
  readonly leftMs?: number;
  /** What the annotation that tells of the end shall say. */
  readonly expiresAt?: string;
  readonly problem?: string;
}

/** The life of a claim. It begins when the claim is bound, and goes on when its target is lost. */
export function lifeOf(view: View, claim: DeploymentTargetClaim): Life {
  const told = claim.metadata.annotations?.[EXPIRES_AT];
  const ttl = ttlOf(view, claim);
  if (ttl === undefined) return {};
  const lengthMs = parseDuration(ttl) ?? 0;
  if (lengthMs <= 0 || lengthMs > LONGEST_MS) {
    const problem = `the time to live "${ttl}" is no length of time, such as 90m or 2d: the claim lives for ever`;
    return { ttl, problem };
  }
  const ready = claim.status?.conditions?.find(({ type }) => type === 'Ready');
  const wasBound = claim.metadata.annotations?.[BIND_COMPLETE] !== undefined;
  const end = ready?.status === 'True' ? Date.parse(ready.lastTransitionTime) + lengthMs : Date.parse(told ?? '');
  if (!wasBound || Number.isNaN(end)) return { ttl };
  return { ttl, leftMs: end - view.now(), expiresAt: timeText(end) };
}

function ttlOf(view: View, { metadata, spec }: DeploymentTargetClaim): string | undefined {
  const ofClass = classOf(view, spec.deploymentTargetClassName);
  return spec.ttl ?? metadata.annotations?.[TTL] ?? (ofClass && classParameters(ofClass).value?.ttl);
}
