// Normalises a custom resource by its schema: prunes and reports unknown fields, drops nulls of fields that are not
// nullable, sets defaults. Never changes its input; unchanged parts are shared.
import { propertySchema } from './property.ts';
import type { Schema } from './types.ts';

export interface Normalised {
  readonly value: unknown;
  /** Paths of pruned fields, sorted. */
  readonly unknownFields: readonly string[];
}

type Json = Record<string, unknown>;

interface Walk {
  readonly metadata: Schema;
  readonly unknownFields: string[];
  readonly defaults: boolean;
}

/**
 * Normalises a whole object. `metadata` is the schema of the metadata of the object and of embedded resources; without
 * `defaults` no defaults are set.
 */
export function normalise(schema: Schema, object: unknown, metadata: Schema, defaults = true): Normalised {
  const unknownFields: string[] = [];
  const context = { metadata, unknownFields, defaults };
  const value = walk(object, { ...schema, 'x-kubernetes-embedded-resource': true }, '', context);
  return { value, unknownFields: unknownFields.sort() };
}

function walk(value: unknown, schema: Schema | undefined, path: string, context: Walk): unknown {
  if (Array.isArray(value)) return walkArray(value, schema, path, context);
  if (typeof value !== 'object' || value === null) return value;
  return walkObject(value as Json, schema, path, context);
}

function walkArray(list: readonly unknown[], schema: Schema | undefined, path: string, context: Walk): unknown {
  const items = schema?.items;
  if (items === undefined && schema?.['x-kubernetes-preserve-unknown-fields'] === true) return list;
  let result: unknown[] | undefined;
  for (const [index, item] of list.entries()) {
    const filled = context.defaults && item === null && items?.nullable !== true && items?.default !== undefined;
    const given = filled ? items.default : item;
    const next = walk(given, items, `${path}[${index}]`, context);
    if (next !== item) result ??= [...list];
    if (result !== undefined) result[index] = next;
  }
  return result ?? list;
}

function walkObject(object: Json, schema: Schema | undefined, path: string, context: Walk): Json {
  const result: Json = {};
  let changed = false;
  const preserve = schema?.['x-kubernetes-preserve-unknown-fields'] === true || schema?.additionalProperties === true;
  const embedded = schema?.['x-kubernetes-embedded-resource'] === true;
  for (const [key, value] of Object.entries(object)) {
    const fieldPath = path === '' ? key : `${path}.${key}`;
    const child = embedded ? embeddedField(key, schema, context) : fieldSchema(schema, key);
    let next: unknown = value;
    if (child === undefined) {
      if (!preserve) {
        context.unknownFields.push(fieldPath);
        next = undefined;
      }
    } else {
      if (value === null && child.nullable !== true && (context.defaults || child.default === undefined)) {
        next = child.default;
      }
      if (next !== undefined) next = walk(next, child, fieldPath, context);
    }
    if (next !== value) changed = true;
    if (next !== undefined) setOwn(result, key, next);
  }
  for (const [key, child] of Object.entries((context.defaults && schema?.properties) || {})) {
    if (child.default === undefined || Object.hasOwn(result, key)) continue;
    changed = true;
    setOwn(result, key, walk(child.default, child, path === '' ? key : `${path}.${key}`, context));
  }
  return changed ? result : object;
}

/** A resource always has these three fields, even if its schema does not describe them. */
function embeddedField(key: string, schema: Schema, context: Walk): Schema | undefined {
  if (key === 'metadata') return context.metadata;
  return key === 'apiVersion' || key === 'kind' ? { type: 'string' } : fieldSchema(schema, key);
}

function fieldSchema(schema: Schema | undefined, key: string): Schema | undefined {
  if (schema === undefined) return undefined;
  const others = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
  return propertySchema(schema, key) ?? others;
}

/** Sets a field, also one named `__proto__`. */
function setOwn(target: Json, key: string, value: unknown): void {
  if (key !== '__proto__') target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}
