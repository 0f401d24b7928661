// Structural sharing: gives a new value the references of those sub-trees of the old value that did not change.
import { isPlain, jsonEqual } from './equal.ts';

// Deeper than any real document: only a cycle gets here, and cyclic values are compared but not shared.
const MAX_DEPTH = 256;

type JsonObject = Record<string, unknown>;

interface Walk {
  tooDeep: boolean;
}

/**
 * The previous value itself when both are equal; else the next one with equal sub-trees replaced by the previous
 * references. Neither argument is changed: where something is replaced, the nodes above it are copies.
 */
export function share<T>(previous: T, next: T): T {
  const walk: Walk = { tooDeep: false };
  const shared = shareNode(previous, next, 0, walk);
  if (walk.tooDeep) return jsonEqual(previous, next) ? previous : next;
  return shared as T;
}

function shareNode(previous: unknown, next: unknown, depth: number, walk: Walk): unknown {
  if (previous === next) return previous;
  if (!isWalkable(previous) || !isWalkable(next) || Array.isArray(previous) !== Array.isArray(next)) {
    return jsonEqual(previous, next) ? previous : next;
  }
  if (depth > MAX_DEPTH) walk.tooDeep = true;
  if (walk.tooDeep) return next;
  return Array.isArray(next)
    ? shareList(previous as unknown as unknown[], next, depth, walk)
    : shareObject(previous, next, depth, walk);
}

function shareList(previous: unknown[], next: unknown[], depth: number, walk: Walk): unknown[] {
  let copy: unknown[] | undefined;
  let equal = previous.length === next.length;
  for (let index = 0; index < next.length; index++) {
    const before = previous[index];
    const after = next[index];
    const kept = index < previous.length ? shareNode(before, after, depth + 1, walk) : after;
    if (!isSame(kept, before)) equal = false;
    if (isReplaced(kept, after)) {
      copy ??= next.slice();
      copy[index] = kept;
    }
  }
  return equal ? previous : (copy ?? next);
}

function shareObject(previous: JsonObject, next: JsonObject, depth: number, walk: Walk): JsonObject {
  let copy: JsonObject | undefined;
  let equal = true;
  let defined = 0;
  for (const name of Object.keys(next)) {
    const after = next[name];
    if (after === undefined) continue;
    defined++;
    if (!Object.hasOwn(previous, name)) {
      equal = false;
      continue;
    }
    const before = previous[name];
    const kept = shareNode(before, after, depth + 1, walk);
    if (!isSame(kept, before)) equal = false;
    if (isReplaced(kept, after)) {
      copy ??= copyOf(next);
      copy[name] = kept;
    }
  }
  if (equal) {
    for (const name of Object.keys(previous)) if (previous[name] !== undefined) defined--;
    if (defined === 0) return previous;
  }
  return copy ?? next;
}

// Spreading defines properties rather than assigning them, so that a property named __proto__ stays a property.
function copyOf(fields: JsonObject): JsonObject {
  return Object.getPrototypeOf(fields) === null
    ? Object.assign(Object.create(null) as JsonObject, fields)
    : { ...fields };
}

// The previous value was kept. Equal leaves (NaN and NaN, -0 and 0) come back as the previous one.
function isSame(kept: unknown, before: unknown): boolean {
  return Object.is(kept, before);
}

function isReplaced(kept: unknown, after: unknown): boolean {
  return typeof kept === 'object' && kept !== after;
}

function isWalkable(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && isPlain(value);
}
