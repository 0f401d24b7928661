// The structure of values in server-side apply: which parts can be owned separately, and the path element of each.
// Used by all code that computes or follows field sets.
import type { Schema } from '../../schema/types.ts';
import { keyElement, valueElement } from '../fields/field-path.ts';
import { isList, isObject, ownValue } from '../json.ts';

export interface ListShape {
  readonly kind: 'list';
  readonly items: Schema;
  readonly relation: 'atomic' | 'set' | 'map';
  readonly keys: readonly string[];
}

export interface MapShape {
  readonly kind: 'map';
  readonly fields: Readonly<Record<string, Schema>>;
  /** The schema of undeclared fields. */
  readonly others: Schema;
  readonly atomic: boolean;
}

interface ScalarShape {
  readonly kind: 'scalar';
}

export type Shape = ListShape | MapShape | ScalarShape;

/** Used where there is no schema: objects are owned field by field, lists as a whole. */
const DEDUCED: Schema = {};
const SCALAR: ScalarShape = { kind: 'scalar' };

/** The shape of a value under a schema. A value of the wrong type gets the declared shape. */
export function shapeOf(schema: Schema, value: unknown): Shape {
  if (schema.type === 'object') return mapShape(schema);
  if (schema.type === 'array') return listShape(schema);
  if (schema.type !== undefined) return SCALAR;
  if (isList(value)) return listShape(schema);
  return isObject(value) || value === null ? mapShape(schema) : SCALAR;
}

/** The list shape of a schema, if it allows lists. */
export function listShapeOf(schema: Schema): ListShape | undefined {
  return schema.type === 'array' || schema.type === undefined ? listShape(schema) : undefined;
}

/** The map shape of a schema, if it allows objects. */
export function mapShapeOf(schema: Schema): MapShape | undefined {
  return schema.type === 'object' || schema.type === undefined ? mapShape(schema) : undefined;
}

const maps = new WeakMap<Schema, MapShape>();
const lists = new WeakMap<Schema, ListShape>();

function mapShape(schema: Schema): MapShape {
  let shape = maps.get(schema);
  if (shape === undefined) {
    shape = {
      kind: 'map',
      fields: schema.properties ?? {},
      others: typeof schema.additionalProperties === 'object' ? schema.additionalProperties : DEDUCED,
      atomic: schema['x-kubernetes-map-type'] === 'atomic',
    };
    maps.set(schema, shape);
  }
  return shape;
}

function listShape(schema: Schema): ListShape {
  let shape = lists.get(schema);
  if (shape === undefined) {
    shape = { kind: 'list', items: schema.items ?? DEDUCED, ...listRelation(schema) };
    lists.set(schema, shape);
  }
  return shape;
}

/** Without a list type, the patch strategy of strategic merge patches applies. */
function listRelation(schema: Schema): Pick<ListShape, 'relation' | 'keys'> {
  const declared = schema['x-kubernetes-list-type'];
  if (declared !== undefined) return { relation: declared, keys: schema['x-kubernetes-list-map-keys'] ?? [] };
  if (schema['x-kubernetes-patch-strategy']?.split(',').includes('merge') !== true) {
    return { relation: 'atomic', keys: [] };
  }
  const key = schema['x-kubernetes-patch-merge-key'];
  return key === undefined ? { relation: 'set', keys: [] } : { relation: 'map', keys: [key] };
}

export function isDeclared(shape: MapShape, name: string): boolean {
  return Object.hasOwn(shape.fields, name);
}

export function fieldSchema(shape: MapShape, name: string): Schema {
  return isDeclared(shape, name) ? shape.fields[name]! : shape.others;
}

/** An item is not valid in its list. */
export class ItemError extends Error {}

/** The path element of an item of a set or map list. Missing keys get their schema default. */
export function itemElement(shape: ListShape, item: unknown): string {
  return shape.relation === 'map' ? mapItemElement(shape, item) : setItemElement(item);
}

function mapItemElement(shape: ListShape, item: unknown): string {
  if (item === null) throw new ItemError('associative list with keys may not have a null element');
  if (!isObject(item)) throw new ItemError('associative list with keys may not have non-map elements');
  const found: [string, unknown][] = [];
  for (const key of shape.keys) {
    const own = ownValue(item, key);
    const value = own === undefined ? shape.items.properties?.[key]?.default : own;
    if (isObject(value) || isList(value)) throw new ItemError(`key field ${JSON.stringify(key)} must be a scalar`);
    if (value !== undefined) found.push([key, value]);
  }
  if (found.length === 0) {
    const names = shape.keys.map((key) => JSON.stringify(key)).join(' ');
    throw new ItemError(
      `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
    );
  }
  return keyElement(Object.fromEntries(found));
}

function setItemElement(item: unknown): string {
  if (item === null) throw new ItemError("associative list without keys has an element that's an explicit null");
  if (isObject(item)) throw new ItemError("associative list without keys has an element that's a map type");
  if (isList(item)) throw new ItemError('not supported: associative list with lists as elements');
  return valueElement(item);
}
