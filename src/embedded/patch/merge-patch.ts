// JSON Merge Patch (RFC 7386): called for `application/merge-patch+json`, and to make such patches.
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

/** A null in a part that is new asks to remove what is not there. Nulls that are items of a list stay. */
function withoutNulls(value: unknown): unknown {
  if (isList(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, part]) => part !== null)
      .map(([key, part]) => [key, withoutNulls(part)]),
  );
}

/** The smallest merge patch that turns one document into the other. A null in `to` cannot be expressed. */
export function createMergePatch(from: JsonObject, to: JsonObject): JsonObject {
  const patch: [string, unknown][] = [];
  for (const key of Object.keys(from)) {
    if (!Object.hasOwn(to, key)) patch.push([key, null]);
  }
  for (const [key, wanted] of Object.entries(to)) {
    const current = ownValue(from, key);
    if (isObject(current) && isObject(wanted)) {
      const inner = createMergePatch(current, wanted);
      if (Object.keys(inner).length > 0) patch.push([key, inner]);
    } else if (current === undefined || !sameJson(current, wanted)) {
      patch.push([key, wanted]);
    }
  }
  return Object.fromEntries(patch);
}
