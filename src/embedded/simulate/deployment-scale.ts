// The sizes that the replica sets of a deployment should have now: the next step of a rollout, or a share of a new size.
import { desiredReplicas, limitsOf, maxReplicas, replicasOf } from './deployment-revision.ts';
import type { Deployment, ReplicaSet } from '../kinds/types.ts';
import { byAge } from './values.ts';

/** New sizes by replica set; those that keep theirs are not in it. */
export type Sizes = ReadonlyMap<ReplicaSet, number>;

function total(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, set) => sum + replicasOf(set), 0);
}

function available(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, set) => sum + (set.status?.availableReplicas ?? 0), 0);
}

/** How many pods the new replica set may have at this point. `current` is how many it has. */
export function sizeOfNew(deployment: Deployment, all: readonly ReplicaSet[], current: number): number {
  const wanted = replicasOf(deployment);
  if (deployment.spec.strategy?.type === 'Recreate') return wanted;
  const room = wanted + limitsOf(deployment).surge - total(all);
  return room <= 0 ? current : current + Math.min(room, wanted - current);
}

/** The new replica set's next size. */
export function growNew(deployment: Deployment, current: ReplicaSet, all: readonly ReplicaSet[]): Sizes {
  const size = replicasOf(current);
  const wanted = replicasOf(deployment);
  const next = size > wanted ? wanted : size === wanted ? size : sizeOfNew(deployment, all, size);
  return next === size ? new Map() : new Map([[current, next]]);
}

/** The old replica sets' next sizes: first pods that serve nobody go, then as many others as the new ones replace. */
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
  let spare = available(all) - needed;
  for (const set of sorted) {
    const size = sizes.get(set) ?? replicasOf(set);
    const less = Math.min(size, spare);
    if (less <= 0) continue;
    spare -= less;
    sizes.set(set, size - less);
  }
  return sizes;
}

/** True when the deployment's size changed since its replica sets were scaled. */
export function isScaling(deployment: Deployment, all: readonly ReplicaSet[]): boolean {
  return all.some((set) => {
    const desired = desiredReplicas(set);
    return replicasOf(set) > 0 && desired !== undefined && desired !== replicasOf(deployment);
  });
}

/** Sizes after the deployment's own size changed: all of it to the only set in use, else each gets its share. */
export function rescale(deployment: Deployment, current: ReplicaSet | undefined, old: readonly ReplicaSet[]): Sizes {
  const wanted = replicasOf(deployment);
  const all = current === undefined ? old : [...old, current];
  const active = all.filter((set) => replicasOf(set) > 0);
  const only = active.length > 1 ? undefined : (active[0] ?? current ?? old.toSorted(byAge).at(-1));
  if (active.length <= 1) {
    return only === undefined || replicasOf(only) === wanted ? new Map() : new Map([[only, wanted]]);
  }
  if (current !== undefined && isSaturated(deployment, current)) {
    return new Map(active.filter((set) => set !== current).map((set) => [set, 0]));
  }
  return deployment.spec.strategy?.type === 'Recreate' ? new Map() : shares(deployment, active);
}

function isSaturated(deployment: Deployment, current: ReplicaSet): boolean {
  const wanted = replicasOf(deployment);
  return (
    replicasOf(current) === wanted &&
    desiredReplicas(current) === wanted &&
    (current.status?.availableReplicas ?? 0) === wanted
  );
}

/** Divides the change of size in proportion to the sizes; what rounding leaves over goes to the largest. */
function shares(deployment: Deployment, active: readonly ReplicaSet[]): Sizes {
  const wanted = replicasOf(deployment);
  const allowed = wanted > 0 ? wanted + limitsOf(deployment).surge : 0;
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
