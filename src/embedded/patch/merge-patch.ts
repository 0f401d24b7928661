// JSON Merge Patch (RFC 7386): called for `application/merge-patch+json`.
import { PatchError } from './errors.ts';
import { isList, isObject, ownValue, sameJson, type JsonObject } from './json.ts';

/** Merges a patch into a document: null removes, objects merge, everything else replaces. */
export function applyMergePatch(document: JsonObject, patch: unknown): JsonObject {
  if (!isObject(patch)) throw new PatchError(400, 'Invalid JSON Patch: a merge patch must be an object');
  return mergeObjects(document, patch);
}

function mergeObjects(target: JsonObject, patch: JsonObject): JsonObject {
  const changes = new Map<string, unknown>();
  for (const [key, value] of Object.entries(patch)) {
    const current = ownValue(target, key);
    const next = isObject(current) && isObject(value) ? mergeObjects(current, value) : withoutNulls(value);
    if (next === null ? Object.hasOwn(target, key) : !sameJson(next, current)) changes.set(key, next);
  }
  if (changes.size === 0) return target;
  const merged = new Map([...Object.entries(target), ...changes]);
  return Object.fromEntries([...merged].filter(([key, value]) => !(value === null && changes.has(key))));
}

/** Removes nulls from a new value, where there is nothing to delete. Nulls that are list items stay. */
function withoutNulls(value: unknown): unknown {
  if (isList(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, part]) => part !== null)
      .map(([key, part]) => [key, withoutNulls(part)]),
  );
}
