// Compares two states of an object, field by field, for field ownership.
import type { Schema } from '../../schema/types.ts';
import { fieldElement } from '../fields/field-path.ts';
import { fieldSetBuilder, insertPath, type FieldSet, type FieldSetBuilder } from '../fields/field-set.ts';
import { hasFields, hasItems, isList, isObject, ownValue, sameJson } from '../json.ts';
import { fieldSchema, itemElement, shapeOf } from './shape.ts';
import type { ListShape, MapShape, Shape } from './shape.ts';

/** The fields that were removed, modified and added. No field is in more than one set. */
export interface Comparison {
  readonly removed: FieldSet;
  readonly modified: FieldSet;
  readonly added: FieldSet;
}

interface Result {
  readonly removed: FieldSetBuilder;
  readonly modified: FieldSetBuilder;
  readonly added: FieldSetBuilder;
}

/** Compares two objects of one schema; a missing object has no fields. */
export function compareTyped(schema: Schema, left: unknown, right: unknown): Comparison {
  const result: Result = { removed: fieldSetBuilder(), modified: fieldSetBuilder(), added: fieldSetBuilder() };
  compare(schema, left, right, [], result);
  return result;
}

function compare(schema: Schema, left: unknown, right: unknown, path: readonly string[], result: Result): void {
  if (left === right) return;
  const shapes = [left, right].filter((value) => value !== undefined).map((value) => shapeOf(schema, value));
  // Without a declared type, a value may change from a scalar to an object; it is then compared as both.
  if (shapes.length === 2 && shapes[0]!.kind === shapes[1]!.kind) shapes.pop();
  let leaf = false;
  for (const shape of shapes) leaf = compareAs(shape, left, right, path, result);
  if (leaf) return;
  if (left === undefined) insertPath(result.added, path);
  else if (right === undefined) insertPath(result.removed, path);
}

/** Compares under one shape; returns true if the values were compared as a whole. */
function compareAs(shape: Shape, left: unknown, right: unknown, path: readonly string[], result: Result): boolean {
  if (shape.kind === 'map' && !shape.atomic && (hasFields(left) || hasFields(right))) {
    compareFields(shape, isObject(left) ? left : {}, isObject(right) ? right : {}, path, result);
    return false;
  }
  if (shape.kind === 'list' && shape.relation !== 'atomic' && (hasItems(left) || hasItems(right))) {
    compareItems(shape, isList(left) ? left : [], isList(right) ? right : [], path, result);
    return false;
  }
  if (left === undefined) insertPath(result.added, path);
  else if (right === undefined) insertPath(result.removed, path);
  else if (!sameJson(left, right)) insertPath(result.modified, path);
  return true;
}

function compareFields(
  shape: MapShape,
  left: Readonly<Record<string, unknown>>,
  right: Readonly<Record<string, unknown>>,
  path: readonly string[],
  result: Result,
): void {
  for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const inner = [...path, fieldElement(name)];
    compare(fieldSchema(shape, name), ownValue(left, name), ownValue(right, name), inner, result);
  }
}

function compareItems(
  shape: ListShape,
  left: readonly unknown[],
  right: readonly unknown[],
  path: readonly string[],
  result: Result,
): void {
  const leftItems = groupItems(shape, left);
  const rightItems = groupItems(shape, right);
  for (const element of new Set([...leftItems.keys(), ...rightItems.keys()])) {
    const before = leftItems.get(element) ?? [];
    const after = rightItems.get(element) ?? [];
    const inner = [...path, element];
    if (before.length <= 1 && after.length <= 1) compare(shape.items, before[0], after[0], inner, result);
    else compareDuplicates(shape, before, after, inner, result);
  }
}

/** Items with the same key are owned as a whole, so they are compared as a whole. */
function compareDuplicates(
  shape: ListShape,
  before: readonly unknown[],
  after: readonly unknown[],
  path: readonly string[],
  result: Result,
): void {
  if (before.length > 1 && after.length > 1) {
    if (!sameJson(before, after)) insertPath(result.modified, path);
  } else if (before.length > 1) {
    if (after.length === 1) compare(shape.items, undefined, after[0], path, result);
    insertPath(result.removed, path);
  } else {
    if (before.length === 1) compare(shape.items, before[0], undefined, path, result);
    insertPath(result.added, path);
  }
}

function groupItems(shape: ListShape, list: readonly unknown[]): Map<string, unknown[]> {
  return Map.groupBy(list, (item) => itemElement(shape, item));
}
