// JSON Patch (RFC 6902) with the liberties of the Kubernetes API server: negative indices count from the end,
// `replace` may create a key, and a null counts as absent. Called for `application/json-patch+json`.
import { PatchError } from './errors.ts';
import {
  isList,
  isObject,
  ownValue,
  sameJson,
  withField,
  withoutField,
  type JsonList,
  type JsonObject,
} from './json.ts';

const MAX_OPERATIONS = 10_000;
const MAX_COPIED_BYTES = 3 * 1024 * 1024;

type Container = JsonObject | JsonList;

/** Applies every operation in order, or throws and leaves nothing applied. */
export function applyJsonPatch(document: JsonObject, patch: unknown): JsonObject {
  if (!isList(patch)) throw new PatchError(400, 'a JSON patch must be a list of operations');
  if (patch.length > MAX_OPERATIONS) {
    throw new PatchError(
      413,
      `Request entity is too large: The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${patch.length}`,
    );
  }
  const budget = { copied: 0 };
  let current: Container = document;
  for (const [index, operation] of patch.entries()) {
    if (!isObject(operation)) {
      throw new PatchError(400, `operation ${index} of the JSON patch must be an object`);
    }
    current = applyOperation(current, operation, budget);
  }
  if (!isObject(current)) refuse('the patched document must be an object, the patch made it a list');
  return current;
}

function applyOperation(document: Container, operation: JsonObject, budget: { copied: number }): Container {
  const kind = operation['op'];
  switch (kind) {
    case 'add':
      return add(document, pointer(operation, 'path', kind), operation['value'] ?? null, kind);
    case 'remove':
      return remove(document, pointer(operation, 'path', kind), kind);
    case 'replace':
      return replace(document, pointer(operation, 'path', kind), operation['value'] ?? null);
    case 'move': {
      const from = pointer(operation, 'from', kind);
      const value = valueAt(document, from, kind);
      return add(remove(document, from, kind), pointer(operation, 'path', kind), value, kind);
    }
    case 'copy': {
      const value = valueAt(document, pointer(operation, 'from', kind), kind);
      chargeCopy(value, budget);
      return add(document, pointer(operation, 'path', kind), value, kind);
    }
    case 'test':
      test(document, pointer(operation, 'path', kind), operation['value'] ?? null);
      return document;
    default:
      return refuse(`Unexpected kind: ${typeof kind === 'string' ? kind : 'unknown'}`);
  }
}

function add(document: Container, path: string, value: unknown, kind: string): Container {
  return edit(document, path, kind, (container, key) => {
    if (!isList(container)) return withField(container, key, value);
    if (key === '-') return [...container, value];
    return container.toSpliced(listIndex(key, container.length + 1, path, kind), 0, value);
  });
}

function remove(document: Container, path: string, kind: string): Container {
  return edit(document, path, kind, (container, key) => {
    if (isList(container)) return container.toSpliced(listIndex(key, container.length, path, kind), 1);
    if (!Object.hasOwn(container, key)) {
      refuse(`error in ${kind} for path: '${path}': Unable to remove nonexistent key: ${key}: missing value`);
    }
    return withoutField(container, key);
  });
}

function replace(document: Container, path: string, value: unknown): Container {
  if (path === '') {
    if (!isObject(value) && !isList(value)) refuse('replace operation value must be object or array');
    return value;
  }
  return edit(document, path, 'replace', (container, key) =>
    isList(container)
      ? container.with(listIndex(key, container.length, path, 'replace'), value)
      : withField(container, key, value),
  );
}

function test(document: Container, path: string, expected: unknown): void {
  const actual = path === '' ? document : valueAt(document, path, 'test');
  if (!sameJson(actual, expected)) refuse(`testing value ${path} failed: test failed`);
}

/** What a pointer leads to; the last key may be missing from an object, and then the value is null. */
function valueAt(document: Container, path: string, kind: string): unknown {
  const { parents, key } = locate(document, path, kind);
  const container = parents.at(-1)!;
  if (isList(container)) return container[listIndex(key, container.length, path, kind)] ?? null;
  return ownValue(container, key) ?? null;
}

/** Rebuilds the containers on the way to a pointer around a change to the last of them. */
function edit(
  document: Container,
  path: string,
  kind: string,
  change: (container: Container, key: string) => Container,
): Container {
  const { parents, keys, key } = locate(document, path, kind);
  let result = change(parents.at(-1)!, key);
  for (let depth = parents.length - 2; depth >= 0; depth--) {
    const parent = parents[depth]!;
    const step = keys[depth]!;
    result = isList(parent)
      ? parent.with(listIndex(step, parent.length, path, kind), result)
      : withField(parent, step, result);
  }
  return result;
}

function locate(
  document: Container,
  path: string,
  kind: string,
): { parents: Container[]; keys: string[]; key: string } {
  const missing = (): never =>
    refuse(`${kind} operation does not apply: doc is missing path: "${path}": missing value`);
  const keys = path.split('/').slice(1).map(unescape);
  if (keys.length === 0) missing();
  const parents: Container[] = [document];
  for (const step of keys.slice(0, -1)) {
    const container = parents.at(-1)!;
    const next = isList(container)
      ? container[listIndex(step, container.length, path, kind)]
      : ownValue(container, step);
    if (!isObject(next) && !isList(next)) return missing();
    parents.push(next);
  }
  return { parents, keys, key: keys.at(-1)! };
}

function unescape(token: string): string {
  return token.replace(/~[01]/g, (escape) => (escape === '~1' ? '/' : '~'));
}

function listIndex(token: string, size: number, path: string, kind: string): number {
  if (!/^[+-]?\d+$/.test(token)) {
    refuse(`error in ${kind} for path: '${path}': value was not a proper array index: '${token}'`);
  }
  const index = Number(token);
  if (index >= size || index < -size) {
    refuse(`error in ${kind} for path: '${path}': Unable to access invalid index: ${index}: invalid index referenced`);
  }
  return index < 0 ? index + size : index;
}

function pointer(operation: JsonObject, name: 'path' | 'from', kind: string): string {
  const value = operation[name];
  if (typeof value !== 'string') refuse(`${kind} operation failed to decode ${name}: missing value`);
  if (value !== '' && !value.startsWith('/')) refuse(`${kind} operation ${name} must start with "/": "${value}"`);
  return value;
}

/** A few copies of copies would otherwise grow a small document without bound. */
function chargeCopy(value: unknown, budget: { copied: number }): void {
  const text = JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? Number(part) : part));
  budget.copied += Buffer.byteLength(text);
  if (budget.copied > MAX_COPIED_BYTES) {
    refuse(
      `Unable to complete the copy, the accumulated size increase of copy is ${budget.copied}, exceeding the limit ${MAX_COPIED_BYTES}`,
    );
  }
}

function refuse(message: string): never {
  throw new PatchError(422, message);
}
