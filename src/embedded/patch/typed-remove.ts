// Takes fields out of an object: how apply drops what a manager no longer sends.
import type { Schema } from '../schema/types.ts';
import { fieldElement } from './field-path.ts';
import { below, isEmpty, type FieldSet } from './field-set.ts';
import { isList, isObject } from './json.ts';
import { fieldSchema, itemElement, shapeOf } from './shape.ts';
import type { ListShape, MapShape } from './shape.ts';

/** The value without the fields of a set. A container that loses all it had is null; as a field it is left out. */
export function removeFields(schema: Schema, value: unknown, unwanted: FieldSet): unknown {
  return remove(schema, value, unwanted, undefined);
}

/** Like removeFields, but a field that loses all it had stays as null: it is still there to be counted as owned. */
export function hollowOut(schema: Schema, value: unknown, unwanted: FieldSet): unknown {
  return remove(schema, value, unwanted, null);
}

type Emptied = null | undefined;

function remove(schema: Schema, value: unknown, unwanted: FieldSet, emptied: Emptied): unknown {
  const shape = shapeOf(schema, value);
  if (shape.kind === 'scalar') return value;
  if (shape.kind === 'list') {
    return isList(value) && shape.relation !== 'atomic' ? removeItems(shape, value, unwanted, emptied) : emptied;
  }
  return isObject(value) && !shape.atomic ? removeFromMap(shape, value, unwanted, emptied) : emptied;
}

function removeItems(shape: ListShape, list: readonly unknown[], unwanted: FieldSet, emptied: Emptied): unknown {
  const kept: unknown[] = [];
  for (const item of list) {
    const element = itemElement(shape, item);
    if (!unwanted.members.has(element)) kept.push(withoutInner(shape.items, item, unwanted, element, emptied) ?? null);
  }
  if (kept.length === 0) return emptied;
  return kept.length === list.length && kept.every((item, index) => item === list[index]) ? list : kept;
}

function removeFromMap(
  shape: MapShape,
  map: Readonly<Record<string, unknown>>,
  unwanted: FieldSet,
  emptied: Emptied,
): unknown {
  const kept: [string, unknown][] = [];
  for (const [name, part] of Object.entries(map)) {
    const element = fieldElement(name);
    if (unwanted.members.has(element)) continue;
    kept.push([name, withoutInner(fieldSchema(shape, name), part, unwanted, element, emptied)]);
  }
  if (kept.length === 0) return emptied;
  const same = kept.length === Object.keys(map).length && kept.every(([name, part]) => part === map[name]);
  return same ? map : Object.fromEntries(kept.filter(([, part]) => part !== undefined));
}

function withoutInner(schema: Schema, value: unknown, unwanted: FieldSet, element: string, emptied: Emptied): unknown {
  const inner = below(unwanted, element);
  return isEmpty(inner) ? value : remove(schema, value, inner, emptied);
}
