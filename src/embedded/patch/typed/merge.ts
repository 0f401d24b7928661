// Merges an applied configuration into the live object: fields that it sets win, others stay.
import type { Schema } from '../../schema/types.ts';
import { hasFields, hasItems, isList, isObject, ownValue, sameJson } from '../json.ts';
import { fieldSchema, itemElement, shapeOf } from './shape.ts';
import type { ListShape, MapShape } from './shape.ts';

/** Merges two values of one schema. Unchanged parts are shared with the live value. */
export function mergeTyped(schema: Schema, live: unknown, applied: unknown): unknown {
  if (applied === undefined) return live;
  if (live === undefined) return applied;
  const shape = shapeOf(schema, applied);
  if (shape.kind === 'map' && !shape.atomic) {
    if (hasFields(live) || hasFields(applied)) return mergeFields(shape, live, applied);
  } else if (shape.kind === 'list' && shape.relation !== 'atomic') {
    if (hasItems(live) || hasItems(applied)) return mergeItems(shape, live, applied);
  }
  return sameJson(live, applied) ? live : applied;
}

function mergeFields(shape: MapShape, live: unknown, applied: unknown): unknown {
  if (!isObject(applied)) return live;
  if (!isObject(live)) return applied;
  const changes = new Map<string, unknown>();
  for (const [name, value] of Object.entries(applied)) {
    const current = ownValue(live, name);
    const merged = mergeTyped(fieldSchema(shape, name), current, value);
    if (merged !== current) changes.set(name, merged);
  }
  return changes.size === 0 ? live : Object.fromEntries([...Object.entries(live), ...changes]);
}

interface Keyed {
  readonly key: string;
  readonly item: unknown;
}

function mergeItems(shape: ListShape, live: unknown, applied: unknown): unknown {
  const left = index(shape, isList(live) ? live : []);
  const right = index(shape, isList(applied) ? applied : []);
  const rightKeys = new Set(right.map(({ key }) => key));
  const byKey = Map.groupBy(left, ({ key }) => key);
  const mergeItem = ({ key, item }: Keyed): unknown => {
    const matches = byKey.get(key) ?? [];
    // Items with the same key cannot be distinguished: the applied one replaces them.
    return matches.length === 1 ? mergeTyped(shape.items, matches[0]!.item, item) : item;
  };
  const merged = interleave(left, right, rightKeys, mergeItem);
  return isList(live) && sameItems(live, merged) ? live : merged;
}

/**
 * Applied items keep the applied order. Items that only the live list has keep their position relative to the live
 * items around them, unless the applied order moves those.
 */
function interleave(
  left: readonly Keyed[],
  right: readonly Keyed[],
  rightKeys: ReadonlySet<string>,
  mergeItem: (item: Keyed) => unknown,
): unknown[] {
  const leftKeys = new Set(left.map(({ key }) => key));
  const sharedKeys = right.map(({ key }) => key).filter((key) => leftKeys.has(key));
  let nextShared = 0;
  const merged: unknown[] = [];
  const append = (item: Keyed): void => {
    merged.push(mergeItem(item));
    if (sharedKeys[nextShared] === item.key) nextShared++;
  };
  let next = 0;
  for (const current of left) {
    if (!rightKeys.has(current.key)) {
      merged.push(current.item);
      continue;
    }
    // Live items that the applied order moves are skipped here and appended later.
    while (sharedKeys[nextShared] === current.key) append(right[next++]!);
  }
  while (next < right.length) append(right[next++]!);
  return merged;
}

function index(shape: ListShape, list: readonly unknown[]): Keyed[] {
  return list.map((item) => ({ key: itemElement(shape, item), item }));
}

function sameItems(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((item, position) => item === right[position]);
}
