// Isolation of values: deep freezing, and frozen copies. Maps call it on every value they accept.
import { isPlain } from './equal.ts';

// Small values are walked without tracking visited nodes: a shared node is merely visited twice. Above this many nodes
// visited nodes are tracked, so that cycles end and shared sub-trees do not multiply.
const MAX_UNTRACKED_NODES = 256;

type Container = Record<string, unknown>;

/**
 * Freezes plain data recursively, in place, and returns it. A node that is already frozen is taken as deeply frozen.
 * Anything `Object.freeze` cannot protect (`Date`, `Map`, `Buffer`, class instances, functions) is refused with a
 * `TypeError` that names its path, and then nothing has been frozen.
 */
export function deepFreeze<T>(value: T): T {
  if (!isContainer(value)) {
    refuseFunction(value, value);
    return value;
  }
  if (!isPlain(value)) throw unsupported(value, value);
  if (Object.isFrozen(value)) return value;
  for (const node of containers(value, Object.isFrozen)) Object.freeze(node);
  return value;
}

/** Freezes the output of a JSON parser in place and returns it. Faster than `deepFreeze`: it checks nothing. */
export function freezeParsed<T>(value: T): T {
  if (!isContainer(value)) return value;
  if (Array.isArray(value)) {
    for (let position = 0; position < value.length; position++) freezeParsed(value[position]);
  } else {
    for (const name in value) freezeParsed(value[name]);
  }
  return Object.freeze(value);
}

/** A deeply frozen copy of plain data; the given value is not changed. Rejects what `deepFreeze` rejects. */
export function frozenCopy<T>(value: T): T {
  if (!isContainer(value)) return deepFreeze(value);
  const copies = new Map<object, Container>();
  for (const node of containers(value, () => false)) copies.set(node, shallowCopy(node));
  for (const copy of copies.values()) {
    for (const name of Object.keys(copy)) {
      const child = copy[name];
      if (isContainer(child)) copy[name] = copies.get(child);
    }
    Object.freeze(copy);
  }
  return copies.get(value) as T;
}

// Every container reachable from the root, itself included, without entering those that `skip` accepts.
function containers(root: object, skip: (node: object) => boolean): Iterable<object> {
  const found: object[] = [root];
  let seen: Set<object> | undefined;
  const visit = (child: unknown): void => {
    if (!isContainer(child)) {
      refuseFunction(child, root);
      return;
    }
    if (!isPlain(child)) throw unsupported(child, root);
    if (skip(child) || seen?.has(child) === true) return;
    found.push(child);
    seen?.add(child);
  };
  if (!isPlain(root)) throw unsupported(root, root);
  for (let index = 0; index < found.length; index++) {
    if (seen === undefined && found.length > MAX_UNTRACKED_NODES) seen = new Set(found);
    const node = found[index]!;
    if (Array.isArray(node)) {
      for (let position = 0; position < node.length; position++) visit(node[position]);
    } else {
      for (const name of Object.keys(node)) visit((node as Container)[name]);
    }
  }
  return found;
}

function shallowCopy(node: object): Container {
  if (Array.isArray(node)) return node.slice() as unknown as Container;
  // Spreading defines properties rather than assigning them, so that a property named __proto__ stays a property.
  return Object.getPrototypeOf(node) === null ? Object.assign(Object.create(null) as Container, node) : { ...node };
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function refuseFunction(value: unknown, root: unknown): void {
  if (typeof value === 'function') throw unsupported(value, root);
}

function unsupported(value: object, root: unknown): TypeError {
  const kind = typeof value === 'function' ? 'function' : (constructorName(value) ?? 'class instance');
  const path = pathTo(value, root) ?? 'value';
  return new TypeError(
    `${path} is a ${kind}, which freezing cannot protect: use plain objects, arrays and primitives ` +
      `(a time as an ISO string, a Map as an object, bytes as a base64 string)`,
  );
}

function constructorName(value: object): string | undefined {
  const made: unknown = (value as { constructor?: unknown }).constructor;
  return typeof made === 'function' && made.name !== '' ? made.name : undefined;
}

function pathTo(target: object, root: unknown): string | undefined {
  const seen = new Set<unknown>();
  const search = (node: unknown, path: string): string | undefined => {
    if (node === target) return path;
    if (!isContainer(node) || seen.has(node)) return undefined;
    seen.add(node);
    for (const name of Object.keys(node)) {
      const found = search((node as Container)[name], path + step(node, name));
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return search(root, 'value');
}

function step(node: object, name: string): string {
  if (Array.isArray(node)) return `[${name}]`;
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}
