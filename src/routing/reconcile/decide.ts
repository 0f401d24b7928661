// What should be and what was found → what to write and what to remove. Pure, and the same for every dialect: whose a
// resource is, what is kept although nobody asks for it any more, and when nothing may be removed at all.
import { problems } from '../errors.ts';
import type { Problem } from '../errors.ts';
import { RESOURCE_TYPES, titleOf } from './resources.ts';
import type { Found, Resource, ResourceType } from './resources.ts';

export interface Guards {
  /** Virtual nodes that pods name and that could not be made: what there is of them stays. */
  readonly unresolved: readonly string[];
  /** Hosts with rules that lead to such virtual nodes: a router that such a host has stays as it is. */
  readonly unresolvedHosts: readonly string[];
  /** Take over what others made under the same name. */
  readonly adopt: boolean;
  /** Remove the last virtual nodes, too. */
  readonly allowEmpty: boolean;
  /** Remove no more than this share of the virtual nodes and services at once. */
  readonly maxDeleteFraction: number;
  /** The mesh itself is being deleted: everything of it goes. */
  readonly isEnding: boolean;
  /** What is wanted has just changed and may go on to change: nothing is removed yet. */
  readonly isUnsettled?: boolean;
}

/** Pods that go one after the other count together: nothing is removed before what is wanted has been the same so long. */
export const SETTLE_MS = 2_000;

export interface Decision<W extends Resource, F extends Resource> {
  /** To be made or brought up to date, in this order. */
  readonly writes: readonly W[];
  /** To be removed, group after group: the next one only when the one before it is gone. */
  readonly removals: readonly (readonly Found<F>[])[];
  /** No longer asked for, and left where it is. */
  readonly kept: readonly Found<F>[];
  /** Something would be removed, and waits until it is certain what is wanted. */
  readonly isWaiting: boolean;
  /** Why nothing is removed. */
  readonly blocked?: Problem;
  /** What others have made under names that we want. */
  readonly foreign: readonly Problem[];
}

export function decide<W extends Resource, F extends Resource>(
  wanted: readonly W[],
  found: readonly Found<F>[],
  guards: Guards,
): Decision<W, F> {
  const foundById = new Map(found.map((each) => [keyOf(each), each]));
  const isForeign = (each: Resource): boolean => foundById.get(keyOf(each))?.isOurs === false && !guards.adopt;
  // A mesh that others made is used as it is.
  const clashing = wanted.filter((each) => each.type !== 'mesh' && isForeign(each));
  const foreignRouters = new Set(clashing.filter(({ type }) => type === 'virtualRouter').map(({ id }) => id));
  // Requests must not be led to a router whose routes are not ours.
  const isHeldBack = ({ router }: Resource): boolean => router !== undefined && foreignRouters.has(router);
  const routesKept = guards.isEnding ? new Set<string>() : routesOfHosts(found, guards.unresolvedHosts);
  const isKept = (each: Resource): boolean =>
    routesKept.has(keyOf(each)) || (each.type === 'route' && routesKept.has(`virtualRouter ${each.router}`));
  const isStaleThere = (each: Resource): boolean => {
    const there = foundById.get(keyOf(each));
    return there !== undefined && isStale(there);
  };
  const writes = wanted.filter((each) => !isForeign(each) && !isHeldBack(each) && !isKept(each) && !isStaleThere(each));

  const wantedIds = new Set(wanted.map(keyOf));
  // A mesh in which others have something cannot go.
  const isShared = found.some(({ type, isOurs }) => type !== 'mesh' && !isOurs);
  // One of another name is in place of it.
  const isReplaced = wanted.some(({ type }) => type === 'mesh');
  const obsolete = found.filter(
    (each) =>
      each.isOurs &&
      (!wantedIds.has(keyOf(each)) || isStale(each)) &&
      (each.type !== 'mesh' || isReplaced || (guards.isEnding && !isShared)),
  );
  const needed = guards.isEnding ? new Set<Found<F>>() : neededByPods(obsolete, guards.unresolved);
  for (const each of obsolete) if (routesKept.has(keyOf(each))) needed.add(each);
  const removable = obsolete.filter((each) => !needed.has(each));
  const blocked = guards.isEnding ? undefined : whyBlocked(wanted, found, removable, guards);
  const isWaiting = guards.isUnsettled === true && !guards.isEnding && removable.length > 0;
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

/** The virtual services that a virtual node called so far and may go on to call, because they stay. */
export function keptBackends(
  { backends = [] }: Resource,
  kept: readonly Resource[],
  wanted: Resource,
): readonly string[] {
  const services = new Set(kept.filter(({ type }) => type === 'virtualService').map(({ id }) => id));
  return backends.filter((id) => services.has(id) && !wanted.backends?.includes(id));
}

/** Whether it must be recreated, because it cannot become what is wanted. */
const isStale = ({ isOurs, isStale: is = false }: Found<Resource>): boolean => isOurs && is;

const keyOf = ({ type, id }: Resource): string => `${type} ${id}`;

/** By type, in the order in which they are made. */
function ordered<R extends Resource>(resources: readonly R[]): R[][] {
  const byType = Map.groupBy(resources, ({ type }) => type);
  return RESOURCE_TYPES.flatMap((type) => (byType.has(type) ? [byType.get(type)!] : []));
}

/** Virtual nodes that pods still name, with the services, routers and routes by which they are reached. */
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

/** The virtual services of hosts that lead to a router, with the router and its routes. */
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

/** What is wanted of that which comes and goes with pods, in one text. */
export function wantedText(wanted: readonly Resource[]): string {
  return wanted
    .filter(({ type }) => FOLLOWS_PODS.has(type))
    .map(keyOf)
    .join();
}

/** Virtual nodes and services come and go with pods; routers and routes only with rules, which people delete. */
const FOLLOWS_PODS: ReadonlySet<ResourceType> = new Set(['virtualNode', 'virtualService']);

function whyBlocked(
  wanted: readonly Resource[],
  found: readonly Found<Resource>[],
  removable: readonly Resource[],
  { allowEmpty, maxDeleteFraction }: Guards,
): Problem | undefined {
  if (removable.length === 0) return undefined;
  const isNode = ({ type }: Resource): boolean => type === 'virtualNode';
  if (!wanted.some(isNode)) {
    const nodes = found.filter((each) => each.isOurs && isNode(each));
    return nodes.length > 0 && !allowEmpty ? problems.deletionOfAll(nodes.length) : undefined;
  }
  const followsPods = ({ type }: Resource): boolean => FOLLOWS_PODS.has(type);
  const ours = new Set([...wanted, ...found.filter(({ isOurs }) => isOurs)].filter(followsPods).map(keyOf));
  const going = removable.filter(followsPods).length;
  return going > ours.size * maxDeleteFraction
    ? problems.deletionOfMany(going, ours.size, maxDeleteFraction)
    : undefined;
}
