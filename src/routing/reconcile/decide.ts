// Desired and found resources → what to write and what to remove. Pure, and the same for every back end: ownership,
// which resources are kept although they are no longer desired, and when nothing may be removed at all.
import { problems } from '../errors.ts';
import type { Problem } from '../errors.ts';
import { RESOURCE_TYPES, titleOf } from './resources.ts';
import type { Found, Resource, ResourceType } from './resources.ts';

export interface Guards {
  /** Virtual nodes that pods name but that could not be resolved: their existing resources are kept. */
  readonly unresolved: readonly string[];
  /** Hosts with rules that lead to such virtual nodes: their existing routers are left unchanged. */
  readonly unresolvedHosts: readonly string[];
  /** Adopt resources of other owners under the same name. */
  readonly adopt: boolean;
  /** Remove even the last virtual nodes. */
  readonly allowEmpty: boolean;
  /** The maximum fraction of virtual nodes and services that may be removed at once. */
  readonly maxDeleteFraction: number;
  /** The mesh itself is being deleted, with all its resources. */
  readonly isDeleting: boolean;
  /** The desired state has just changed and may change again: nothing is removed yet. */
  readonly isUnsettled?: boolean;
}

/** The desired state must have been stable this long before removals, so that pods deleted in a row count together. */
export const SETTLE_MS = 2_000;

export interface Decision<W extends Resource, F extends Resource> {
  /** The resources to create or update, in this order. */
  readonly writes: readonly W[];
  /** The resources to remove, in groups: each only after the previous group is gone. */
  readonly removals: readonly (readonly Found<F>[])[];
  /** Resources that are no longer desired, but kept. */
  readonly kept: readonly Found<F>[];
  /** Removals wait until the desired state has settled. */
  readonly isWaiting: boolean;
  /** Why nothing is removed. */
  readonly blocked?: Problem;
  /** Resources of other owners under names that we need. */
  readonly foreign: readonly Problem[];
}

export function decide<W extends Resource, F extends Resource>(
  desired: readonly W[],
  found: readonly Found<F>[],
  guards: Guards,
): Decision<W, F> {
  const foundById = new Map(found.map((each) => [keyOf(each), each]));
  const isForeign = (each: Resource): boolean => foundById.get(keyOf(each))?.isOurs === false && !guards.adopt;
  // A mesh of another owner is used without changes.
  const clashing = desired.filter((each) => each.type !== 'mesh' && isForeign(each));
  const foreignRouters = new Set(clashing.filter(({ type }) => type === 'virtualRouter').map(({ id }) => id));
  // Requests must not be sent to a router whose routes are not ours.
  const isHeldBack = ({ router }: Resource): boolean => router !== undefined && foreignRouters.has(router);
  const routesKept = guards.isDeleting ? new Set<string>() : routesOfHosts(found, guards.unresolvedHosts);
  const isKept = (each: Resource): boolean =>
    routesKept.has(keyOf(each)) || (each.type === 'route' && routesKept.has(`virtualRouter ${each.router}`));
  const isStaleThere = (each: Resource): boolean => {
    const there = foundById.get(keyOf(each));
    return there !== undefined && isStale(there);
  };
  const writes = desired.filter(
    (each) => !isForeign(each) && !isHeldBack(each) && !isKept(each) && !isStaleThere(each),
  );

  const desiredIds = new Set(desired.map(keyOf));
  // A mesh with resources of other owners cannot be removed.
  const isShared = found.some(({ type, isOurs }) => type !== 'mesh' && !isOurs);
  // A desired mesh under another name replaces it.
  const isReplaced = desired.some(({ type }) => type === 'mesh');
  const obsolete = found.filter(
    (each) =>
      each.isOurs &&
      (!desiredIds.has(keyOf(each)) || isStale(each)) &&
      (each.type !== 'mesh' || isReplaced || (guards.isDeleting && !isShared)),
  );
  const needed = guards.isDeleting ? new Set<Found<F>>() : neededByPods(obsolete, guards.unresolved);
  for (const each of obsolete) if (routesKept.has(keyOf(each))) needed.add(each);
  const removable = obsolete.filter((each) => !needed.has(each));
  const blocked = guards.isDeleting ? undefined : whyBlocked(desired, found, removable, guards);
  const isWaiting = guards.isUnsettled === true && !guards.isDeleting && removable.length > 0;
  const removed = blocked === undefined && !isWaiting ? removable : [];
  return {
    writes: ordered(writes).flat(),
    removals: ordered(removed).reverse(),
    kept: blocked === undefined && !isWaiting ? [...needed] : obsolete,
    isWaiting,
    ...(blocked && { blocked }),
    foreign: clashing.map((each) => problems.resourceForeign(titleOf(each), foundById.get(keyOf(each))?.owner)),
  };
}

/** The virtual services that a virtual node may still call, because they are kept. */
export function keptBackends(
  { backends = [] }: Resource,
  kept: readonly Resource[],
  desired: Resource,
): readonly string[] {
  const services = new Set(kept.filter(({ type }) => type === 'virtualService').map(({ id }) => id));
  return backends.filter((id) => services.has(id) && !desired.backends?.includes(id));
}

/** Whether it must be recreated, because it cannot be updated to the desired state. */
const isStale = ({ isOurs, isStale: is = false }: Found<Resource>): boolean => isOurs && is;

const keyOf = ({ type, id }: Resource): string => `${type} ${id}`;

/** Resources by type, in the order in which they are created. */
function ordered<R extends Resource>(resources: readonly R[]): R[][] {
  const byType = Map.groupBy(resources, ({ type }) => type);
  return RESOURCE_TYPES.flatMap((type) => (byType.has(type) ? [byType.get(type)!] : []));
}

/** Virtual nodes that pods still name, with the services, routers and routes that lead to them. */
function neededByPods<F extends Resource>(obsolete: readonly Found<F>[], unresolved: readonly string[]): Set<Found<F>> {
  const names = new Set(unresolved);
  const ofType = (type: ResourceType): readonly Found<F>[] => obsolete.filter((each) => each.type === type);
  const nodes = ofType('virtualNode').filter(({ name }) => names.has(name));
  const hosts = new Set(nodes.map(({ host }) => host));
  const services = ofType('virtualService').filter(({ host }) => hosts.has(host));
  const routers = new Set(services.flatMap(({ router }) => router ?? []));
  return new Set([
    ...nodes,
    ...services,
    ...ofType('virtualRouter').filter(({ id }) => routers.has(id)),
    ...ofType('route').filter(({ router }) => router !== undefined && routers.has(router)),
  ]);
}

/** The virtual services of hosts that have a router, with the router and its routes. */
function routesOfHosts(found: readonly Found<Resource>[], hosts: readonly string[]): ReadonlySet<string> {
  const ours = found.filter(({ isOurs }) => isOurs);
  const services = ours.filter(
    ({ type, host, router }) => type === 'virtualService' && router !== undefined && hosts.includes(host!),
  );
  const routers = new Set(services.map(({ router }) => router));
  const lead = ours.filter(
    ({ type, id, router }) =>
      (type === 'virtualRouter' && routers.has(id)) || (type === 'route' && routers.has(router)),
  );
  return new Set([...services, ...lead].map(keyOf));
}

/** The desired resources that follow pods, as one text to compare. */
export function desiredText(desired: readonly Resource[]): string {
  return desired
    .filter(({ type }) => FOLLOWS_PODS.has(type))
    .map(keyOf)
    .join();
}

/** Virtual nodes and services come and go with pods; routers and routes only with rules, which people delete. */
const FOLLOWS_PODS: ReadonlySet<ResourceType> = new Set(['virtualNode', 'virtualService']);

function whyBlocked(
  desired: readonly Resource[],
  found: readonly Found<Resource>[],
  removable: readonly Resource[],
  { allowEmpty, maxDeleteFraction }: Guards,
): Problem | undefined {
  if (removable.length === 0) return undefined;
  const isNode = ({ type }: Resource): boolean => type === 'virtualNode';
  if (!desired.some(isNode)) {
    const nodes = found.filter((each) => each.isOurs && isNode(each));
    return nodes.length > 0 && !allowEmpty ? problems.deletionOfAll(nodes.length) : undefined;
  }
  const followsPods = ({ type }: Resource): boolean => FOLLOWS_PODS.has(type);
  const ours = new Set([...desired, ...found.filter(({ isOurs }) => isOurs)].filter(followsPods).map(keyOf));
  const going = removable.filter(followsPods).length;
  return going > ours.size * maxDeleteFraction
    ? problems.deletionOfMany(going, ours.size, maxDeleteFraction)
    : undefined;
}
