// Structural equality of JSON data. Maps use it to recognise stores that change nothing; other rooms to skip writes.

// Deeper than any real document. Only a cycle gets here; the comparison then starts over and remembers pairs of nodes.
const MAX_DEPTH = 256;

type Pairs = Map<object, Set<object>>;

/**
 * Whether two values serialise alike: a property that is `undefined` equals an absent one, key order does not matter,
 * list order does, an empty list differs from none, NaN equals NaN, -0 equals 0, and a `Date` equals its ISO string.
 * What JSON cannot express (`Map`, `Set`, functions) is equal only to itself.
 */
export function jsonEqual(a: unknown, b: unknown): boolean {
  return compare(a, b, 0, undefined) ?? compare(a, b, 0, new Map()) === true;
}

// Undefined means "too deep to tell without remembering pairs".
function compare(a: unknown, b: unknown, depth: number, pairs: Pairs | undefined): boolean | undefined {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return compareLeaves(a, b);
  if (pairs === undefined) {
    if (depth > MAX_DEPTH) return undefined;
  } else if (!remember(pairs, a, b)) {
    return true;
  }
  if (!isPlain(a) || !isPlain(b)) return compareSpecial(a, b, depth, pairs);
  if (Array.isArray(a)) {
    return Array.isArray(b) ? compareLists(a, b, depth, pairs) : false;
  }
  return Array.isArray(b) ? false : compareObjects(a as JsonObject, b as JsonObject, depth, pairs);
}

type JsonObject = Record<string, unknown>;

function compareLists(a: unknown[], b: unknown[], depth: number, pairs: Pairs | undefined): boolean | undefined {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) {
    const same = compare(a[index], b[index], depth + 1, pairs);
    if (same !== true) return same;
  }
  return true;
}

function compareObjects(a: JsonObject, b: JsonObject, depth: number, pairs: Pairs | undefined): boolean | undefined {
  let defined = 0;
  for (const name of Object.keys(a)) {
    const value = a[name];
    if (value === undefined) continue;
    defined++;
    if (!Object.hasOwn(b, name)) return false;
    const same = compare(value, b[name], depth + 1, pairs);
    if (same !== true) return same;
  }
  for (const name of Object.keys(b)) {
    if (b[name] !== undefined) defined--;
  }
  return defined === 0;
}

// At least one side is not an object: compares NaN, and values with a JSON form of their own.
function compareLeaves(a: unknown, b: unknown): boolean {
  if (typeof a === 'number' && typeof b === 'number') return Number.isNaN(a) && Number.isNaN(b);
  const left = jsonForm(a);
  const right = jsonForm(b);
  return left === a && right === b ? false : jsonEqual(left, right);
}

function compareSpecial(a: object, b: object, depth: number, pairs: Pairs | undefined): boolean | undefined {
  const left = jsonForm(a);
  const right = jsonForm(b);
  if (left !== a || right !== b) return compare(left, right, depth + 1, pairs);
  if (isOpaque(a) || isOpaque(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a)) return compareLists(a, b as unknown[], depth, pairs);
  return compareObjects(a as JsonObject, b as JsonObject, depth, pairs);
}

function jsonForm(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('toJSON' in value)) return value;
  return typeof value.toJSON === 'function' ? (value.toJSON as () => unknown)() : value;
}

function remember(pairs: Pairs, a: object, b: object): boolean {
  const known = pairs.get(a);
  if (known === undefined) pairs.set(a, new Set([b]));
  else if (known.has(b)) return false;
  else known.add(b);
  return true;
}

/** Whether a value is an array or an object that was made by a literal, by `JSON.parse` or without a prototype. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === Array.prototype || prototype === null) return true;
  return isForeignPlain(value, prototype as object);
}

// Objects of another realm (a vm context, a test runner's sandbox) have that realm's prototypes.
function isForeignPlain(value: object, prototype: object): boolean {
  if (Object.getPrototypeOf(prototype) === null) {
    return Object.hasOwn(prototype, 'hasOwnProperty') && !isOpaque(value);
  }
  return Array.isArray(value) && Object.hasOwn(prototype, 'concat');
}

// Containers whose content is not in their properties, and so invisible to a structural comparison.
function isOpaque(value: object): boolean {
  return !Array.isArray(value) && Object.prototype.toString.call(value) !== '[object Object]';
}
