// Checks that an applied configuration has the structure of its schema, so that its fields can be owned.
// Values are validated later, with the whole object.
import type { Schema } from '../../schema/types.ts';
import { elementText } from '../fields/field-path.ts';
import { isList, isObject, typeName } from '../json.ts';
import { fieldSchema, isDeclared, ItemError, itemElement, shapeOf } from './shape.ts';
import type { ListShape, MapShape } from './shape.ts';

/** The structural errors of an applied object, each with its path. */
export function structureErrors(schema: Schema, value: unknown): string[] {
  const errors: string[] = [];
  check({ schema, value, path: '', open: false }, errors);
  return errors;
}

interface Node {
  readonly schema: Schema;
  readonly value: unknown;
  readonly path: string;
  /** Whether this schema or one of its parents preserves unknown fields. */
  readonly open: boolean;
}

function check(node: Node, errors: string[]): void {
  const { schema, value, path } = node;
  if (value === null) return;
  const shape = shapeOf(schema, value);
  const open = node.open || schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (shape.kind === 'scalar') {
    if (isObject(value) || isList(value)) errors.push(`${path}: expected ${schema.type}, got ${typeName(value)}`);
  } else if (shape.kind === 'list') {
    if (isList(value)) checkItems(shape, value, { ...node, open }, errors);
    else errors.push(`${path}: expected list, got ${typeName(value)}`);
  } else if (isObject(value)) {
    checkFields(shape, value, { ...node, open }, errors);
  } else {
    errors.push(`${path}: expected map, got ${typeName(value)}`);
  }
}

function checkFields(shape: MapShape, value: Readonly<Record<string, unknown>>, node: Node, errors: string[]): void {
  const { properties, additionalProperties } = node.schema;
  const closed = additionalProperties === false || (additionalProperties === undefined && properties !== undefined);
  for (const [name, part] of Object.entries(value)) {
    const path = `${node.path}.${name}`;
    if (closed && !node.open && !isDeclared(shape, name)) errors.push(`${path}: field not declared in schema`);
    else check({ schema: fieldSchema(shape, name), value: part, path, open: node.open }, errors);
  }
}

function checkItems(shape: ListShape, value: readonly unknown[], node: Node, errors: string[]): void {
  const seen = new Set<string>();
  for (const [index, item] of value.entries()) {
    let label = `[${index}]`;
    if (shape.relation !== 'atomic') {
      try {
        const element = itemElement(shape, item);
        label = elementText(element);
        if (seen.has(element)) errors.push(`${node.path}: duplicate entries for key ${label}`);
        seen.add(element);
      } catch (error) {
        if (!(error instanceof ItemError)) throw error;
        errors.push(`${node.path}: element ${index}: ${error.message}`);
        return;
      }
    }
    check({ schema: shape.items, value: item, path: node.path + label, open: node.open }, errors);
  }
}
