// JSON Patch (RFC 6902) with the deviations of the Kubernetes API server: negative indices count from the end,
// `replace` may create a key, and null equals absent. Called for `application/json-patch+json`.
import { stringifyJson } from '../../kube/json.ts';
import { PatchError } from './errors.ts';
import { isList, isObject, ownValue, sameJson, setField, type JsonList, type JsonObject } from './json.ts';

const MAX_OPERATIONS = 10_000;
const MAX_COPIED_BYTES = 3 * 1024 * 1024;
/** How many list items may be shifted by inserting and removing others; limits the time that a patch takes. */
const MAX_MOVED_ITEMS = 20_000_000;

type Container = JsonObject | JsonList;

/** The document while it is patched. Containers are copied on their first change, and then changed in place. */
class Draft {
  root: Container;
  readonly #copied = new WeakSet<object>();
  #copiedBytes = 0;
  #movedItems = 0;

  constructor(document: JsonObject) {
    this.root = document;
  }

  /** The value at a pointer; null if the last key is missing from an object. */
  valueAt(path: string, kind: string): unknown {
    const { parents, key } = locate(this.root, path, kind);
    const container = parents.at(-1)!;
    if (isList(container)) return container[listIndex(key, container.length, path, kind)] ?? null;
    return ownValue(container, key) ?? null;
  }

  /** Changes the container of the value at a pointer. */
  edit(path: string, kind: string, change: (container: JsonObject | unknown[], key: string) => void): void {
    const { parents, keys, key } = locate(this.root, path, kind);
    let container = this.#own(parents[0]!);
    this.root = container;
    for (const [depth, parent] of parents.slice(1).entries()) {
      const inner = this.#own(parent);
      if (inner !== parent) put(container, keys[depth]!, inner, path, kind);
      container = inner;
    }
    change(container, key);
  }

  /** A deep copy, because both may change. The size is limited, because copies of copies grow exponentially. */
  copy(value: unknown): unknown {
    this.#copiedBytes += Buffer.byteLength(stringifyJson(value));
    if (this.#copiedBytes > MAX_COPIED_BYTES) {
      refuse(
        `Unable to complete the copy, the accumulated size increase of copy is ${this.#copiedBytes}, exceeding the limit ${MAX_COPIED_BYTES}`,
      );
    }
    return copyOf(value);
  }

  splice(list: unknown[], index: number, removed: 0 | 1, ...added: readonly unknown[]): void {
    this.#movedItems += list.length - index;
    if (this.#movedItems > MAX_MOVED_ITEMS) {
      throw new PatchError(413, 'Request entity is too large: the JSON patch moves too many items of long lists');
    }
    list.splice(index, removed, ...added);
  }

  #own(container: Container): JsonObject | unknown[] {
    if (this.#copied.has(container)) return container as JsonObject | unknown[];
    const made = isList(container) ? [...container] : { ...container };
    this.#copied.add(made);
    return made;
  }
}

/** A deep copy. For small values, `structuredClone` takes ten times as long. */
function copyOf(value: unknown): unknown {
  if (isList(value)) return value.map(copyOf);
  if (!isObject(value)) return value;
  const copy = {};
  for (const [key, part] of Object.entries(value)) setField(copy, key, copyOf(part));
  return copy;
}

/** Applies all operations in order, or throws and applies none. */
export function applyJsonPatch(document: JsonObject, patch: unknown): JsonObject {
  if (!isList(patch)) throw new PatchError(400, 'a JSON patch must be a list of operations');
  if (patch.length > MAX_OPERATIONS) {
    throw new PatchError(
      413,
      `Request entity is too large: The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${patch.length}`,
    );
  }
  const draft = new Draft(document);
  for (const [index, operation] of patch.entries()) {
    if (!isObject(operation)) {
      throw new PatchError(400, `operation ${index} of the JSON patch must be an object`);
    }
    applyOperation(draft, operation);
  }
  if (!isObject(draft.root)) refuse('the patched document must be an object, the patch made it a list');
  return draft.root;
}

function applyOperation(draft: Draft, operation: JsonObject): void {
  const kind = operation['op'];
  switch (kind) {
    case 'add':
      return add(draft, pointer(operation, 'path', kind), operation['value'] ?? null, kind);
    case 'remove':
      return remove(draft, pointer(operation, 'path', kind), kind);
    case 'replace':
      return replace(draft, pointer(operation, 'path', kind), operation['value'] ?? null);
    case 'move': {
      const from = pointer(operation, 'from', kind);
      const value = draft.valueAt(from, kind);
      remove(draft, from, kind);
      return add(draft, pointer(operation, 'path', kind), value, kind);
    }
    case 'copy': {
      const value = draft.valueAt(pointer(operation, 'from', kind), kind);
      return add(draft, pointer(operation, 'path', kind), draft.copy(value), kind);
    }
    case 'test':
      return test(draft, pointer(operation, 'path', kind), operation['value'] ?? null);
    default:
      return refuse(`Unexpected kind: ${typeof kind === 'string' ? kind : 'unknown'}`);
  }
}

function add(draft: Draft, path: string, value: unknown, kind: string): void {
  draft.edit(path, kind, (container, key) => {
    if (!isList(container)) setField(container, key, value);
    else if (key === '-') container.push(value);
    else draft.splice(container, listIndex(key, container.length + 1, path, kind), 0, value);
  });
}

function remove(draft: Draft, path: string, kind: string): void {
  draft.edit(path, kind, (container, key) => {
    if (isList(container)) draft.splice(container, listIndex(key, container.length, path, kind), 1);
    else if (Object.hasOwn(container, key)) Reflect.deleteProperty(container, key);
    else refuse(`error in ${kind} for path: '${path}': Unable to remove nonexistent key: ${key}: missing value`);
  });
}

function replace(draft: Draft, path: string, value: unknown): void {
  if (path === '') {
    if (!isObject(value) && !isList(value)) refuse('replace operation value must be object or array');
    draft.root = value;
    return;
  }
  draft.edit(path, 'replace', (container, key) => put(container, key, value, path, 'replace'));
}

/** Sets a field or an existing item. */
function put(container: JsonObject | unknown[], key: string, value: unknown, path: string, kind: string): void {
  if (isList(container)) container[listIndex(key, container.length, path, kind)] = value;
  else setField(container, key, value);
}

function test(draft: Draft, path: string, expected: unknown): void {
  const actual = path === '' ? draft.root : draft.valueAt(path, 'test');
  if (!sameJson(actual, expected)) refuse(`testing value ${path} failed: test failed`);
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

function refuse(message: string): never {
  throw new PatchError(422, message);
}
