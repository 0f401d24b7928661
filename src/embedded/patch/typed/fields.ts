// Computes the field set of an object, and adapts field sets to a schema.
import type { Schema } from '../../schema/types.ts';
import { fieldElement, fieldName, isKeyElement } from '../fields/field-path.ts';
import { fieldSetBuilder, insertPath, type FieldSet, type FieldSetBuilder } from '../fields/field-set.ts';
import { isList, isObject } from '../json.ts';
import { fieldSchema, isDeclared, itemElement, listShapeOf, mapShapeOf, shapeOf } from './shape.ts';
import type { ListShape, MapShape } from './shape.ts';

/** The fields that an object sets, which a manager owns after applying it. */
export function fieldsOf(schema: Schema, value: unknown): FieldSet {
  const set = fieldSetBuilder();
  collect(schema, value, [], set);
  return set;
}

function collect(schema: Schema, value: unknown, path: readonly string[], set: FieldSetBuilder): void {
  const shape = shapeOf(schema, value);
  if (shape.kind === 'scalar' || (shape.kind === 'list' ? shape.relation === 'atomic' : shape.atomic)) {
    insertPath(set, path);
  } else if (shape.kind === 'list') {
    if (isList(value)) collectItems(shape, value, path, set);
  } else if (isObject(value)) {
    for (const [name, part] of Object.entries(value)) {
      const inner = [...path, fieldElement(name)];
      collect(fieldSchema(shape, name), part, inner, set);
      const isEmpty = part === null || (isObject(part) && Object.keys(part).length === 0);
      if (isEmpty || !isDeclared(shape, name)) insertPath(set, inner);
    }
  }
}

/** Items that occur more than once can only be owned as a whole. */
function collectItems(shape: ListShape, list: readonly unknown[], path: readonly string[], set: FieldSetBuilder): void {
  const byElement = Map.groupBy(list, (item) => itemElement(shape, item));
  for (const [element, items] of byElement) {
    insertPath(set, path, element);
    if (items.length === 1) collect(shape.items, items[0], [...path, element], set);
  }
}

/**
 * Adds the declared parents of all members. The owner of `.spec.template.x` also keeps `.spec` and `.spec.template`
 * in existence, but not entries of maps and lists on the path.
 */
export function withDeclaredParents(schema: Schema, set: FieldSet): FieldSet {
  const map = mapShapeOf(schema);
  const members = new Set(set.members);
  const children = new Map<string, FieldSet>();
  for (const [element, inner] of set.children) {
    const name = fieldName(element);
    if (name !== undefined && map !== undefined && isDeclared(map, name)) members.add(element);
    children.set(element, withDeclaredParents(innerSchema(schema, map, element), inner));
  }
  return { members, children };
}

function innerSchema(schema: Schema, map: MapShape | undefined, element: string): Schema {
  const name = fieldName(element);
  if (name !== undefined) return map === undefined ? {} : fieldSchema(map, name);
  return isKeyElement(element) ? (listShapeOf(schema)?.items ?? {}) : {};
}

/** If a schema has become atomic, managers of its parts own it as a whole. */
export function withAtomicParts(schema: Schema, set: FieldSet): FieldSet {
  const members = new Set(set.members);
  const children = new Map<string, FieldSet>();
  const map = mapShapeOf(schema);
  for (const [element, inner] of set.children) {
    const innerType = innerSchema(schema, map, element);
    if (isAtomic(innerType)) members.add(element);
    else children.set(element, withAtomicParts(innerType, inner));
  }
  return { members, children };
}

/** Only parts with a declared type can be atomic. */
function isAtomic(schema: Schema): boolean {
  if (schema.type === 'array') return listShapeOf(schema)?.relation === 'atomic';
  return schema.type === 'object' && mapShapeOf(schema)?.atomic === true;
}
