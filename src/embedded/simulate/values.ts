// Small functions that all simulated controllers share.
import type { KubeObject } from '../../kube/objects.ts';
import { keyOf } from '../../kube/objects.ts';
import { InvalidSelectorError, selectorOf } from '../../kube/selector.ts';
import type { LabelSelector, Selector } from '../../kube/selector.ts';
import type { StoreEvent } from '../store/types.ts';
import type { Condition } from '../kinds/types.ts';
import type { World } from './world.ts';

/** Drops counts that are zero, as the API does. */
export function withoutZeros<T extends Readonly<Record<string, number | undefined>>>(counts: T): Partial<T> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => (count ?? 0) !== 0)) as Partial<T>;
}

/** Drops undefined fields. */
export function defined<T extends object>(object: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

/** The selector of an object; undefined, which selects nothing, when it is missing or invalid. */
export function safeSelector(selector: LabelSelector | undefined): Selector | undefined {
  if (selector === undefined) return undefined;
  try {
    return selectorOf(selector);
  } catch (error) {
    if (error instanceof InvalidSelectorError) return undefined;
    throw error;
  }
}

/** A count or a percentage of `total`, as in `maxSurge`. */
export function resolveCount(value: number | string, total: number, roundUp: boolean): number {
  if (typeof value === 'number') return value;
  const percent = /^(\d+)%$/.exec(value);
  if (percent === null) return 0;
  const exact = (Number(percent[1]) * total) / 100;
  return roundUp ? Math.ceil(exact) : Math.floor(exact);
}

/** Sets a condition; its transition time changes only with its status. */
export function withCondition<T extends Condition>(conditions: readonly T[] | undefined, next: T): readonly T[] {
  const before = conditions?.find((condition) => condition.type === next.type);
  const kept = before?.status === next.status ? { ...next, lastTransitionTime: before.lastTransitionTime } : next;
  if (before === undefined) return [...(conditions ?? []), next];
  return conditions!.map((condition) => (condition === before ? (defined(kept) as unknown as T) : condition));
}

export function withoutCondition<T extends Condition>(
  conditions: readonly T[] | undefined,
  type: string,
): readonly T[] {
  return (conditions ?? []).filter((condition) => condition.type !== type);
}

export function conditionOf<T extends Condition>(conditions: readonly T[] | undefined, type: string): T | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Sorts oldest first, and by name within one second. */
export function byAge(left: KubeObject, right: KubeObject): number {
  const order = (left.metadata.creationTimestamp ?? '').localeCompare(right.metadata.creationTimestamp ?? '');
  return order !== 0 ? order : left.metadata.name.localeCompare(right.metadata.name);
}

/** Enqueues the object itself. */
export function self(event: StoreEvent): Iterable<string> {
  return [event.stored.key];
}

/** Enqueues the owners of this kind that control the object or controlled it before. */
export function ownersOfKind(kind: string): (event: StoreEvent) => Iterable<string> {
  return ({ stored, previous }) => {
    const keys = new Set<string>();
    for (const object of [stored.object, previous?.object]) {
      const owner = object?.metadata.ownerReferences?.find((one) => one.controller === true);
      if (owner?.kind !== kind) continue;
      const { namespace } = object!.metadata;
      keys.add(keyOf({ name: owner.name, ...(namespace !== undefined && { namespace }) }));
    }
    return keys;
  };
}

/** Enqueues the owner of this kind that controls the object; for an orphan, all whose selectors match it. */
export function ownersOrSelectors(
  kind: string,
  collection: string,
): (event: StoreEvent, world: World) => Iterable<string> {
  const owners = ownersOfKind(kind);
  return (event, world) => {
    const { metadata } = event.stored.object;
    const orphan = metadata.ownerReferences?.some((owner) => owner.controller === true) !== true;
    const selecting = orphan ? world.selecting(collection, metadata.namespace ?? '', metadata.labels) : [];
    return [...owners(event), ...selecting];
  };
}
