// Removes fields from an object. Apply uses it for fields that a manager no longer sends.
import type { Schema } from '../../schema/types.ts';
import { fieldElement } from '../fields/field-path.ts';
import { below, isEmpty, type FieldSet } from '../fields/field-set.ts';
import { isList, isObject } from '../json.ts';
import { fieldSchema, itemElement, shapeOf } from './shape.ts';
import type { ListShape, MapShape } from './shape.ts';

/** Removes the fields of a set. A container without any fields left is removed; as a list item it becomes null. */
export function removeFields(schema: Schema, value: unknown, removed: FieldSet): unknown {
  return remove(schema, value, removed, undefined);
}

/** Like removeFields, but a container without any fields left becomes null, so that it still counts as owned. */
export function removeFieldsKeepingParents(schema: Schema, value: unknown, removed: FieldSet): unknown {
  return remove(schema, value, removed, null);
}

type Emptied = null | undefined;

function remove(schema: Schema, value: unknown, removed: FieldSet, emptied: Emptied): unknown {
  const shape = shapeOf(schema, value);
  if (shape.kind === 'scalar') return value;
  if (shape.kind === 'list') {
    return isList(value) && shape.relation !== 'atomic' ? removeItems(shape, value, removed, emptied) : emptied;
  }
  return isObject(value) && !shape.atomic ? removeFromMap(shape, value, removed, emptied) : emptied;
}

function removeItems(shape: ListShape, list: readonly unknown[], removed: FieldSet, emptied: Emptied): unknown {
  const kept: unknown[] = [];
  for (const item of list) {
    const element = itemElement(shape, item);
    if (!removed.members.has(element)) kept.push(withoutInner(shape.items, item, removed, element, emptied) ?? null);
  }
  if (kept.length === 0) return emptied;
  return kept.length === list.length && kept.every((item, index) => item === list[index]) ? list : kept;
}

function removeFromMap(
  shape: MapShape,
  map: Readonly<Record<string, unknown>>,
  removed: FieldSet,
  emptied: Emptied,
): unknown {
  const kept: [string, unknown][] = [];
  for (const [name, part] of Object.entries(map)) {
    const element = fieldElement(name);
    if (removed.members.has(element)) continue;
    kept.push([name, withoutInner(fieldSchema(shape, name), part, removed, element, emptied)]);
  }
  if (kept.length === 0) return emptied;
  const same = kept.length === Object.keys(map).length && kept.every(([name, part]) => part === map[name]);
  return same ? map : Object.fromEntries(kept.filter(([, part]) => part !== undefined));
}

function withoutInner(schema: Schema, value: unknown, removed: FieldSet, element: string, emptied: Emptied): unknown {
  const inner = below(removed, element);
  return isEmpty(inner) ? value : remove(schema, value, inner, emptied);
}
