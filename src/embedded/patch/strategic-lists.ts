// Merging lists for strategic merge patches, and the order in which the merged items come out.
import { PatchError } from './errors.ts';
import { isList, isObject, ownValue, sameJson, sameScalar, typeName } from './json.ts';
import type { JsonList, JsonObject } from './json.ts';
import { MARKER, markerText, plainValue } from './strategic-directives.ts';

/** The one type that the elements of these lists share. */
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
  const merged: unknown[] = [];
  for (const item of [...original, ...patch]) {
    if (!merged.some((other) => sameScalar(other, item))) merged.push(item);
  }
  return arrange(merged, patch, original, sameScalar);
}

export function deleteScalars(original: JsonList, unwanted: JsonList): JsonList {
  return original.filter((item) => !unwanted.some((other) => sameScalar(other, item)));
}

/** Merges lists of objects that are matched by the value of a key. */
export function mergeByKey(
  original: JsonList,
  patch: JsonList,
  mergeKey: string,
  path: string,
  mergeItem: (current: JsonObject, change: JsonObject, path: string) => JsonObject,
): JsonList {
  const { survivors, changes } = applyMarkers(original, patch, mergeKey, path);
  const merged = [...survivors];
  for (const change of changes) {
    const key = keyOf(change, mergeKey, path);
    const index = merged.findIndex((item) => hasKey(item, mergeKey, key));
    if (index < 0) merged.push(plainValue(change));
    else {
      const itemPath = `${path}[${mergeKey}=${String(key)}]`;
      merged[index] = mergeItem(merged[index] as JsonObject, change as JsonObject, itemPath);
    }
  }
  for (const item of merged) keyOf(item, mergeKey, path);
  return arrange(merged, changes, survivors, sameKey(mergeKey));
}

/** Puts the items that the directive names into its order, and the others where they stood relative to those. */
export function orderElements(
  merged: JsonList,
  order: JsonList,
  original: JsonList,
  mergeKey: string | undefined,
  path: string,
): JsonList {
  if (mergeKey === undefined) return arrange(merged, order, original, sameScalar);
  for (const item of [...merged, ...order]) keyOf(item, mergeKey, path);
  const same = sameKey(mergeKey);
  const without = (list: JsonList, others: JsonList) =>
    list.filter((item) => !others.some((other) => same(item, other)));
  const deleted = without(original, merged);
  // New items stand in for deleted ones at the end of the original: kube-apiserver does so, and clients see the order.
  const places = [...without(original, deleted), ...without(merged, original)].slice(0, original.length);
  return arrange(merged, order, places, same);
}

/** Carries out the items that are marked with `$patch` and returns what is left to merge. */
function applyMarkers(
  original: JsonList,
  patch: JsonList,
  mergeKey: string,
  path: string,
): { survivors: JsonList; changes: JsonList } {
  let survivors = original;
  let replace = false;
  const changes: unknown[] = [];
  for (const item of patch as readonly JsonObject[]) {
    const marker = ownValue(item, MARKER);
    if (marker === undefined) {
      changes.push(item);
    } else if (marker === 'delete') {
      const key = keyOf(item, mergeKey, path);
      survivors = survivors.filter((other) => !hasKey(other, mergeKey, key));
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
  return replace ? { survivors: changes.map(plainValue), changes: [] } : { survivors, changes };
}

/**
 * Items named in `order` come in that order. Each of the others is put before the first named item that it
 * preceded in the original list; so, when the original does not tell, named items come first.
 */
function arrange(
  items: JsonList,
  order: JsonList,
  original: JsonList,
  same: (left: unknown, right: unknown) => boolean,
): JsonList {
  const rank = (list: JsonList, item: unknown): number => list.findIndex((other) => same(other, item));
  const byRank = (list: JsonList) => (left: unknown, right: unknown) => rank(list, left) - rank(list, right);
  const named = items.filter((item) => rank(order, item) >= 0).sort(byRank(order));
  const others = items.filter((item) => rank(order, item) < 0).sort(byRank(original));
  const result: unknown[] = [];
  for (const item of named) {
    const place = rank(original, item);
    const after = others.findIndex((other) => rank(original, other) < 0 || rank(original, other) >= place);
    result.push(...others.splice(0, after < 0 ? others.length : after), item);
  }
  return [...result, ...others];
}

function sameKey(mergeKey: string): (left: unknown, right: unknown) => boolean {
  return (left, right) =>
    isObject(left) && isObject(right) && sameJson(ownValue(left, mergeKey), ownValue(right, mergeKey));
}

function hasKey(item: unknown, mergeKey: string, key: unknown): boolean {
  return isObject(item) && sameJson(ownValue(item, mergeKey), key);
}

function keyOf(item: unknown, mergeKey: string, path: string): unknown {
  const found = isObject(item) ? ownValue(item, mergeKey) : undefined;
  if (found !== undefined && !isList(found) && !isObject(found)) return found;
  throw new PatchError(422, `an item of ${path} does not contain declared merge key: ${mergeKey}`);
}
