// How many replicas each replica set of a deployment should have: the next step of a rollout, or proportional scaling.
import { desiredReplicas, limitsOf, maxReplicas, replicasOf } from './revision.ts';
import type { Deployment, ReplicaSet } from '../../../kinds/types.ts';
import { byAge } from '../../values.ts';

/** New replica counts; unchanged replica sets are left out. */
export type Sizes = ReadonlyMap<ReplicaSet, number>;

function total(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, set) => sum + replicasOf(set), 0);
}

function available(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, set) => sum + (set.status?.availableReplicas ?? 0), 0);
}

/** How many replicas the new replica set may have now. `current` is how many it has. */
export function sizeOfNew(deployment: Deployment, all: readonly ReplicaSet[], current: number): number {
  const desired = replicasOf(deployment);
  if (deployment.spec.strategy?.type === 'Recreate') return desired;
  const room = desired + limitsOf(deployment).surge - total(all);
  return room <= 0 ? current : current + Math.min(room, desired - current);
}

export function growNew(deployment: Deployment, current: ReplicaSet, all: readonly ReplicaSet[]): Sizes {
  const size = replicasOf(current);
  const desired = replicasOf(deployment);
  const next = size > desired ? desired : size === desired ? size : sizeOfNew(deployment, all, size);
  return next === size ? new Map() : new Map([[current, next]]);
}

/** Scales down the old replica sets: first their unhealthy pods, then as many pods as the new ones replace. */
export function shrinkOld(deployment: Deployment, current: ReplicaSet, old: readonly ReplicaSet[]): Sizes {
  const sizes = new Map<ReplicaSet, number>();
  const all = [...old, current];
  const needed = replicasOf(deployment) - limitsOf(deployment).unavailable;
  const newUnavailable = replicasOf(current) - (current.status?.availableReplicas ?? 0);
  const removable = total(all) - needed - newUnavailable;
  if (total(old) === 0 || removable <= 0) return sizes;
  const sorted = old.filter((set) => replicasOf(set) > 0).toSorted(byAge);
  let removed = 0;
  for (const set of sorted) {
    const unhealthy = Math.min(removable - removed, replicasOf(set) - (set.status?.availableReplicas ?? 0));
    if (unhealthy <= 0) continue;
    removed += unhealthy;
    sizes.set(set, replicasOf(set) - unhealthy);
  }
  let surplus = available(all) - needed;
  for (const set of sorted) {
    const size = sizes.get(set) ?? replicasOf(set);
    const less = Math.min(size, surplus);
    if (less <= 0) continue;
    surplus -= less;
    sizes.set(set, size - less);
  }
  return sizes;
}

/** True when the deployment's replica count has changed since its replica sets were scaled. */
export function isScaling(deployment: Deployment, all: readonly ReplicaSet[]): boolean {
  return all.some((set) => {
    const desired = desiredReplicas(set);
    return replicasOf(set) > 0 && desired !== undefined && desired !== replicasOf(deployment);
  });
}

/** Scales after a change of the deployment's replica count: the only active replica set, or all in proportion. */
export function rescale(deployment: Deployment, current: ReplicaSet | undefined, old: readonly ReplicaSet[]): Sizes {
  const desired = replicasOf(deployment);
  const all = current === undefined ? old : [...old, current];
  const active = all.filter((set) => replicasOf(set) > 0);
  const only = active.length > 1 ? undefined : (active[0] ?? current ?? old.toSorted(byAge).at(-1));
  if (active.length <= 1) {
    return only === undefined || replicasOf(only) === desired ? new Map() : new Map([[only, desired]]);
  }
  if (current !== undefined && isSaturated(deployment, current)) {
    return new Map(active.filter((set) => set !== current).map((set) => [set, 0]));
  }
  return deployment.spec.strategy?.type === 'Recreate' ? new Map() : shares(deployment, active);
}

function isSaturated(deployment: Deployment, current: ReplicaSet): boolean {
  const desired = replicasOf(deployment);
  return (
    replicasOf(current) === desired &&
    desiredReplicas(current) === desired &&
    (current.status?.availableReplicas ?? 0) === desired
  );
}

/** Proportional scaling. The largest replica set takes what rounding leaves over. */
function shares(deployment: Deployment, active: readonly ReplicaSet[]): Sizes {
  const desired = replicasOf(deployment);
  const allowed = desired > 0 ? desired + limitsOf(deployment).surge : 0;
  const toAdd = allowed - total(active);
  const newerFirst = toAdd > 0 ? -1 : 1;
  const sorted = active.toSorted(
    (left, right) => replicasOf(right) - replicasOf(left) || newerFirst * byAge(left, right),
  );
  const sizes = new Map<ReplicaSet, number>();
  let added = 0;
  for (const set of sorted) {
    const size = replicasOf(set);
    const most = maxReplicas(set) ?? deployment.status?.replicas ?? 0;
    const fraction = allowed === 0 ? -size : most === 0 ? 0 : Math.round((size * allowed) / most) - size;
    const left = toAdd - added;
    const share = left === 0 ? 0 : toAdd > 0 ? Math.min(fraction, left) : Math.max(fraction, left);
    sizes.set(set, size + share);
    added += share;
  }
  const [largest] = sorted;
  sizes.set(largest!, Math.max(0, sizes.get(largest!)! + toAdd - added));
  return sizes;
}
