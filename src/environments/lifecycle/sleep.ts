// Sleeping environments: their routes are taken out, then their clones are scaled to zero, until somebody wakes them. What
// is asleep is told by an annotation: on an environment by people, on a clone by us.
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import { annotate, edit, withAnnotations } from '../../kube/index.ts';
import type { KubeObject, Step } from '../../kube/index.ts';
import type { Decision } from '../decision.ts';
import { Deployment } from '../objects.ts';

/** `"true"` on an environment that should sleep, and on a clone that does. */
export const ASLEEP = 'offshoot.dev/asleep';

const isMarked = ({ metadata }: KubeObject): boolean => metadata.annotations?.[ASLEEP] === 'true';

/** Whether an environment should sleep. */
export function isAsleep(env: DynamicEnv): boolean {
  return isMarked(env) && env.metadata.deletionTimestamp === undefined;
}

/** What ends its sleep. */
export function wakeText({ metadata: { name, namespace } }: DynamicEnv): string {
  return `"offshoot env wake ${name} -n ${namespace}" wakes it`;
}

/** Whether we have scaled a clone to zero: an autoscaler leaves it alone then, and it is ours to scale it up again. */
export function isScaledDown(clone: Deployment): boolean {
  return isMarked(clone);
}

/** Whether a clone still has to be scaled to zero. */
export function isFallingAsleep({ isAsleep: shall, live }: Pick<Decision, 'isAsleep' | 'live'>): boolean {
  return shall && live !== undefined && live.spec.replicas !== 0;
}

/** A clone that has no pods. */
export function scaledDown(clone: Deployment): Deployment {
  return { ...withAnnotations(clone, { [ASLEEP]: 'true' }), spec: { ...clone.spec, replicas: 0 } };
}

/**
 * What puts a clone to sleep or wakes it of which nothing else can be told: its base is gone, say. `isDrained`: no request
 * is on its way to it any more.
 */
export function sleepSteps({ live, subset, isAsleep: shall }: Decision, isDrained: boolean): readonly Step[] {
  if (live === undefined) return [];
  if (shall) return isDrained && live.spec.replicas !== 0 ? [edit(Deployment, live, scaledDown(live))] : [];
  if (!isScaledDown(live)) return [];
  const awake = withAnnotations(live, { [ASLEEP]: undefined });
  return [edit(Deployment, live, { ...awake, spec: { ...live.spec, replicas: subset.replicas ?? 1 } })];
}

/** Takes the mark off a clone that has pods: applying the clone leaves it there if it came by an edit. */
export function wakingSteps({ live, isAsleep: shall }: Decision): readonly Step[] {
  if (shall || live === undefined || !isScaledDown(live) || live.spec.replicas === 0) return [];
  return [annotate(Deployment, live, { [ASLEEP]: undefined })];
}
