// Sleeping environments: their routes are removed, then their clones are scaled to zero, until a user wakes them. An
// annotation marks them: users set it on an environment, and we set it on a clone.
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import { annotate, edit, withAnnotations } from '../../kube/index.ts';
import type { KubeObject, Step } from '../../kube/index.ts';
import type { Decision } from '../decision.ts';
import { Deployment } from '../objects.ts';

/** `"true"` on an environment that should sleep, and on a clone that is asleep. */
export const ASLEEP = 'offshoot.dev/asleep';

const isMarked = ({ metadata }: KubeObject): boolean => metadata.annotations?.[ASLEEP] === 'true';

/** Whether an environment should sleep. */
export function isAsleep(env: DynamicEnv): boolean {
  return isMarked(env) && env.metadata.deletionTimestamp === undefined;
}

/** How to wake an environment. */
export function wakeText({ metadata: { name, namespace } }: DynamicEnv): string {
  return `"offshoot env wake ${name} -n ${namespace}" wakes it`;
}

/** Whether we have scaled a clone to zero: autoscalers leave it alone then, and we have to scale it up again. */
export function isScaledDown(clone: Deployment): boolean {
  return isMarked(clone);
}

/** Whether a clone still has to be scaled to zero. */
export function isFallingAsleep({ isAsleep: shouldSleep, live }: Pick<Decision, 'isAsleep' | 'live'>): boolean {
  return shouldSleep && live !== undefined && live.spec.replicas !== 0;
}

/** The clone scaled to zero. */
export function scaledDown(clone: Deployment): Deployment {
  return { ...withAnnotations(clone, { [ASLEEP]: 'true' }), spec: { ...clone.spec, replicas: 0 } };
}

/**
 * Puts a clone to sleep or wakes it, if nothing else about it can be planned: its base is gone, say. `isDrained`: no
 * request is in flight to it any more.
 */
export function sleepSteps({ live, subset, isAsleep: shouldSleep }: Decision, isDrained: boolean): readonly Step[] {
  if (live === undefined) return [];
  if (shouldSleep) return isDrained && live.spec.replicas !== 0 ? [edit(Deployment, live, scaledDown(live))] : [];
  if (!isScaledDown(live)) return [];
  const awake = withAnnotations(live, { [ASLEEP]: undefined });
  return [edit(Deployment, live, { ...awake, spec: { ...live.spec, replicas: subset.replicas ?? 1 } })];
}

/** Removes the annotation from a clone that has pods: applying the clone keeps it if it was set by an edit. */
export function wakingSteps({ live, isAsleep: shouldSleep }: Decision): readonly Step[] {
  if (shouldSleep || live === undefined || !isScaledDown(live) || live.spec.replicas === 0) return [];
  return [annotate(Deployment, live, { [ASLEEP]: undefined })];
}
