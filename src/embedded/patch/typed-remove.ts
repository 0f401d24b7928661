// Takes fields out of an object: how apply drops what a manager no longer sends.
import type { Schema } from '../schema/types.ts';
import { fieldElement } from './field-path.ts';
import { below, isEmpty, type FieldSet } from './field-set.ts';
import { isList, isObject } from './json.ts';
import { fieldSchema, itemElement, shapeOf } from './shape.ts';

/** The value without the fields of a set. A container that loses all it had becomes null. */
export function removeFields(schema: Schema, value: unknown, unwanted: FieldSet): unknown {
  const shape = shapeOf(schema, value);
  if (shape.kind === 'scalar') return value;
  if (shape.kind === 'list') {
    if (!isList(value) || shape.relation === 'atomic') return null;
    const kept: unknown[] = [];
    for (const item of value) {
      const element = itemElement(shape, item);
      if (!unwanted.members.has(element)) kept.push(withoutInner(shape.items, item, unwanted, element));
    }
    return kept.length === 0 ? null : unlessSame(value, kept);
  }
  if (!isObject(value) || shape.atomic) return null;
  const kept: [string, unknown][] = [];
  for (const [name, part] of Object.entries(value)) {
    const element = fieldElement(name);
    if (!unwanted.members.has(element)) {
      kept.push([name, withoutInner(fieldSchema(shape, name), part, unwanted, element)]);
    }
  }
  if (kept.length === 0) return null;
  const changed = kept.length !== Object.keys(value).length || kept.some(([name, part]) => part !== value[name]);
  return changed ? Object.fromEntries(kept) : value;
}

function withoutInner(schema: Schema, value: unknown, unwanted: FieldSet, element: string): unknown {
  const inner = below(unwanted, element);
  return isEmpty(inner) ? value : removeFields(schema, value, inner);
}

function unlessSame(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  const same = before.length === after.length && before.every((item, index) => item === after[index]);
  return same ? before : after;
}
