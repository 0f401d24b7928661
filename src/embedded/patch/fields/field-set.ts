// Sets of fields as a trie, and their stored format FieldsV1. A set with `.spec` need not contain its children.
import { parseElement, sortedElements } from './field-path.ts';
import { isObject, type JsonObject } from '../json.ts';

/** A set of field paths: the members at this level, and the child sets, which are never empty. */
export interface FieldSet {
  readonly members: ReadonlySet<string>;
  readonly children: ReadonlyMap<string, FieldSet>;
}

/** A mutable FieldSet. */
export interface FieldSetBuilder extends FieldSet {
  readonly members: Set<string>;
  readonly children: Map<string, FieldSetBuilder>;
}

export const NO_FIELDS: FieldSet = { members: new Set(), children: new Map() };

export function fieldSetBuilder(): FieldSetBuilder {
  return { members: new Set(), children: new Map() };
}

/** Adds a path. The empty path, the whole object, is ignored because nobody owns it. */
export function insertPath(set: FieldSetBuilder, path: readonly string[], last?: string): void {
  const parents = last === undefined ? path.slice(0, -1) : path;
  const member = last ?? path.at(-1);
  if (member === undefined) return;
  let node = set;
  for (const element of parents) {
    let next = node.children.get(element);
    if (next === undefined) node.children.set(element, (next = fieldSetBuilder()));
    node = next;
  }
  node.members.add(member);
}

/** The set of these paths. */
export function fieldSetOf(...paths: readonly (readonly string[])[]): FieldSet {
  const set = fieldSetBuilder();
  for (const path of paths) insertPath(set, path);
  return set;
}

export function isEmpty(set: FieldSet): boolean {
  return set.members.size === 0 && set.children.size === 0;
}

/** The child set of one element. */
export function below(set: FieldSet, element: string): FieldSet {
  return set.children.get(element) ?? NO_FIELDS;
}

export function union(left: FieldSet, right: FieldSet): FieldSet {
  if (isEmpty(left)) return right;
  if (isEmpty(right)) return left;
  const children = new Map(left.children);
  for (const [element, set] of right.children) {
    const other = children.get(element);
    children.set(element, other === undefined ? set : union(other, set));
  }
  return { members: left.members.union(right.members), children };
}

export function intersection(left: FieldSet, right: FieldSet): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [element, set] of left.children) {
    const shared = intersection(set, below(right, element));
    if (!isEmpty(shared)) children.set(element, shared);
  }
  return { members: left.members.intersection(right.members), children };
}

/** The paths of one set that are not in the other; removing a field keeps its children. */
export function difference(left: FieldSet, right: FieldSet): FieldSet {
  if (isEmpty(right)) return left;
  const children = new Map<string, FieldSet>();
  for (const [element, set] of left.children) {
    const rest = difference(set, below(right, element));
    if (!isEmpty(rest)) children.set(element, rest);
  }
  return { members: left.members.difference(right.members), children };
}

/** All paths, in stored order: the members of a level come before its child sets. */
export function* fieldPaths(set: FieldSet, prefix: readonly string[] = []): Generator<readonly string[]> {
  for (const element of sortedElements(set.members)) yield [...prefix, element];
  for (const element of sortedElements(set.children.keys())) {
    yield* fieldPaths(below(set, element), [...prefix, element]);
  }
}

/** The stored format: `{"f:spec":{"f:replicas":{}}}`; a `.` means that the parent field is itself a member. */
export function toFieldsV1(set: FieldSet): JsonObject {
  const elements = sortedElements(set.members.union(set.children));
  return Object.fromEntries(
    elements.map((element) => {
      const inner = toFieldsV1(below(set, element));
      const self = set.members.has(element) && set.children.has(element);
      return [element, self ? { '.': {}, ...inner } : inner];
    }),
  );
}

/** Parses the stored format; throws a SyntaxError that names the invalid element. */
export function fromFieldsV1(fields: unknown): FieldSet {
  if (!isObject(fields)) throw new SyntaxError('fieldsV1 must be an object');
  const members = new Set<string>();
  const children = new Map<string, FieldSet>();
  for (const [stored, inner] of Object.entries(fields)) {
    const element = stored === '.' ? undefined : parseElement(stored);
    if (element === undefined) continue;
    const set = fromFieldsV1(inner);
    if (isEmpty(set) || Object.hasOwn(inner as JsonObject, '.')) members.add(element);
    if (!isEmpty(set)) children.set(element, set);
  }
  return { members, children };
}
