// Merges lists for strategic merge patches, and orders the merged items.
import { PatchError } from '../errors.ts';
import { isList, isObject, ownValue, scalarId, typeName } from '../json.ts';
import type { JsonList, JsonObject } from '../json.ts';
import { MARKER, markerText, plainValue } from './directives.ts';

/** The common type of all elements of these lists. */
export function elementKind(lists: readonly JsonList[], path: string): string {
  const kinds = new Set(lists.flatMap((list) => list.map(typeName)));
  if (kinds.has('list')) throw new PatchError(422, `lists of lists are not supported: ${path}`);
  if (kinds.size > 1) {
    throw new PatchError(422, `list element types are not identical in ${path}: found ${[...kinds].join(' and ')}`);
  }
  return [...kinds][0] ?? 'object';
}

/** The union of two lists of scalars. */
export function mergeScalars(original: JsonList, patch: JsonList): JsonList {
  const seen = new Set<string>();
  const merged = [...original, ...patch].filter((item) => {
    const id = scalarId(item);
    return !seen.has(id) && seen.add(id);
  });
  return arrange(merged, patch, original, scalarId);
}

export function deleteScalars(original: JsonList, unwanted: JsonList): JsonList {
  const ids = new Set(unwanted.map(scalarId));
  return original.filter((item) => !ids.has(scalarId(item)));
}

/** Merges lists of objects by a merge key. */
export function mergeByKey(
  original: JsonList,
  patch: JsonList,
  mergeKey: string,
  path: string,
  mergeItem: (current: JsonObject, change: JsonObject, path: string) => JsonObject,
): JsonList {
  const { survivors, changes } = applyMarkers(original, patch, mergeKey, path);
  const merged = [...survivors];
  const idOf = idBy(mergeKey);
  const indexes = ranks(merged, idOf);
  for (const change of changes) {
    const key = keyOf(change, mergeKey, path);
    const index = indexes.get(scalarId(key));
    if (index === undefined) indexes.set(scalarId(key), merged.push(plainValue(change)) - 1);
    else {
      const itemPath = `${path}[${mergeKey}=${String(key)}]`;
      merged[index] = mergeItem(merged[index] as JsonObject, change as JsonObject, itemPath);
    }
  }
  for (const item of merged) keyOf(item, mergeKey, path);
  return arrange(merged, changes, survivors, idOf);
}

/** Sorts the items as the directive lists them; others keep their position relative to those. */
export function orderElements(
  merged: JsonList,
  order: JsonList,
  original: JsonList,
  mergeKey: string | undefined,
  path: string,
): JsonList {
  if (mergeKey === undefined) return arrange(merged, order, original, scalarId);
  for (const item of [...merged, ...order]) keyOf(item, mergeKey, path);
  const idOf = idBy(mergeKey);
  const without = (list: JsonList, others: JsonList): JsonList => {
    const ids = ranks(others, idOf);
    return list.filter((item) => !ids.has(idOf(item)));
  };
  const deleted = without(original, merged);
  // As in kube-apiserver, new items take the positions of deleted ones, at the end of the original list.
  const places = [...without(original, deleted), ...without(merged, original)].slice(0, original.length);
  return arrange(merged, order, places, idOf);
}

/** Applies the items with `$patch` and returns what is left to merge. */
function applyMarkers(
  original: JsonList,
  patch: JsonList,
  mergeKey: string,
  path: string,
): { survivors: JsonList; changes: JsonList } {
  const deleted = new Set<string | undefined>();
  let replace = false;
  const changes: unknown[] = [];
  for (const item of patch as readonly JsonObject[]) {
    const marker = ownValue(item, MARKER);
    if (marker === undefined) {
      changes.push(item);
    } else if (marker === 'delete') {
      deleted.add(scalarId(keyOf(item, mergeKey, path)));
    } else if (marker === 'replace') {
      replace = true;
    } else if (marker === 'merge') {
      throw new PatchError(
        400,
        `merging lists cannot yet be specified in the patch: ${path} has an item with $patch: merge`,
      );
    } else {
      throw new PatchError(
        400,
        `unknown patch type: ${markerText(marker)} in an item of ${path}: use delete or replace`,
      );
    }
  }
  if (replace) return { survivors: changes.map(plainValue), changes: [] };
  return { survivors: original.filter((item) => !deleted.has(idBy(mergeKey)(item))), changes };
}

/**
 * Items in `order` are sorted in that order. Each other item is placed before the first of them that it preceded in
 * the original list, or after all of them if it is not in the original list.
 */
function arrange(items: JsonList, order: JsonList, original: JsonList, idOf: Identify): JsonList {
  const inOrder = ranks(order, idOf);
  const inOriginal = ranks(original, idOf);
  const rank = (of: Ranks, item: unknown): number => of.get(idOf(item)) ?? -1;
  const sorted = (list: JsonList, by: Ranks): unknown[] =>
    list.toSorted((one, other) => rank(by, one) - rank(by, other));
  const named = sorted(
    items.filter((item) => rank(inOrder, item) >= 0),
    inOrder,
  );
  const others = sorted(
    items.filter((item) => rank(inOrder, item) < 0),
    inOriginal,
  );
  const result: unknown[] = [];
  let next = 0;
  for (const item of named) {
    const place = rank(inOriginal, item);
    const precedes = (other: number): boolean => other >= 0 && other < place;
    while (next < others.length && precedes(rank(inOriginal, others[next]))) result.push(others[next++]);
    result.push(item);
  }
  return [...result, ...others.slice(next)];
}

/** A string that identifies an item; undefined for one without a valid key. */
type Identify = (item: unknown) => string | undefined;

/** The first index of each item in a list. */
type Ranks = ReadonlyMap<string | undefined, number>;

function ranks(list: JsonList, idOf: Identify): Map<string | undefined, number> {
  const first = new Map<string | undefined, number>();
  for (const [index, item] of list.entries()) {
    const id = idOf(item);
    if (id !== undefined && !first.has(id)) first.set(id, index);
  }
  return first;
}

function idBy(mergeKey: string): Identify {
  return (item) => {
    const key = isObject(item) ? ownValue(item, mergeKey) : undefined;
    return key === undefined || isObject(key) || isList(key) ? undefined : scalarId(key);
  };
}

function keyOf(item: unknown, mergeKey: string, path: string): unknown {
  const found = isObject(item) ? ownValue(item, mergeKey) : undefined;
  if (found !== undefined && !isList(found) && !isObject(found)) return found;
  throw new PatchError(422, `an item of ${path} does not contain declared merge key: ${mergeKey}`);
}
