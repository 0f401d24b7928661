// JSON merge patch (RFC 7386): the smallest patch between two objects. The writer sends these.
import type { JsonObject } from '../objects.ts';

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The merge patch that turns `from` into `to`, or undefined if they are equal. Lists are replaced whole. */
export function createMergePatch(
  from: JsonObject,
  to: JsonObject,
  equal: (a: unknown, b: unknown) => boolean,
): JsonObject | undefined {
  const patch: Record<string, unknown> = {};
  let differs = false;
  for (const name of new Set([...Object.keys(from), ...Object.keys(to)])) {
    const before = from[name];
    const after = to[name];
    if (before === after) continue;
    if (after === undefined) {
      patch[name] = null;
    } else if (isJsonObject(before) && isJsonObject(after)) {
      const inner = createMergePatch(before, after, equal);
      if (inner === undefined) continue;
      patch[name] = inner;
    } else {
      if (before !== undefined && equal(before, after)) continue;
      patch[name] = after;
    }
    differs = true;
  }
  return differs ? patch : undefined;
}
