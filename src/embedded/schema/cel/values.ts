// Converts JSON to CEL values: integers become bigints, times become dates, and field names are escaped if necessary.
import { propertySchema } from '../property.ts';
import { parse } from '@marcbachmann/cel-js';
import type { Schema } from '../types.ts';

const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);
const escapes: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};

/** The escaped name of a field; undefined when rules cannot access it. */
export function escapeField(name: string): string | undefined {
  if (reserved.has(name)) return `__${name}__`;
  if (!/^[A-Za-z_][A-Za-z0-9_./-]*$/.test(name)) return undefined;
  return name.replaceAll(/__|[./-]/g, (part) => escapes[part]!);
}

/** The converted value, and the number of values in it. */
export interface CelValue {
  readonly value: unknown;
  readonly size: number;
}

/** Converts a JSON value by its schema. `isResource` adds apiVersion, kind and metadata. */
export function toCel(schema: Schema, json: unknown, isResource = false): CelValue {
  let size = 0;

  function convert(node: Schema, value: unknown): unknown {
    size += 1;
    if (typeof value === 'number') return node.type === 'number' || !Number.isInteger(value) ? value : BigInt(value);
    if (typeof value === 'bigint') return node.type === 'number' ? Number(value) : value;
    if (typeof value === 'string') return convertString(node, value);
    if (Array.isArray(value)) return value.map((item) => convert(node.items ?? {}, item));
    if (typeof value !== 'object' || value === null) return value;
    return convertObject(node, value as Record<string, unknown>);
  }

  function convertObject(node: Schema, object: Record<string, unknown>): unknown {
    const result: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
    const values = typeof node.additionalProperties === 'object' ? node.additionalProperties : undefined;
    const embedded = node['x-kubernetes-embedded-resource'] === true || node === root;
    for (const [key, value] of Object.entries(object)) {
      const child = (embedded ? resourceField(key) : undefined) ?? propertySchema(node, key);
      if (child !== undefined) {
        const name = escapeField(key);
        if (name !== undefined) result[name] = convert(child, value);
      } else if (values !== undefined) {
        result[key] = convert(values, value);
      }
    }
    return result;
  }

  const root = isResource ? schema : undefined;
  return { value: convert(schema, json), size };
}

/** Converts a JSON value without a schema: whole numbers are integers. */
export function dynamicCel(json: unknown): unknown {
  if (typeof json === 'number') return Number.isInteger(json) ? BigInt(json) : json;
  if (Array.isArray(json)) return json.map(dynamicCel);
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, dynamicCel(value)]));
}

/** Rules can only access the name in metadata. */
const visibleMetadata: Schema = {
  type: 'object',
  properties: { name: { type: 'string' }, generateName: { type: 'string' } },
};

/** The schema of fields that every resource has, whether its schema declares them or not. */
export function resourceField(key: string): Schema | undefined {
  if (key === 'metadata') return visibleMetadata;
  return key === 'apiVersion' || key === 'kind' ? { type: 'string' } : undefined;
}

let durationOf: ReturnType<typeof parse> | undefined;

function convertString(node: Schema, text: string): unknown {
  const format = node.type === 'string' ? node.format : undefined;
  if (format === 'date-time' || format === 'date') return new Date(text);
  if (format === 'byte') return new Uint8Array(Buffer.from(text, 'base64'));
  if (format !== 'duration') return text;
  durationOf ??= parse('duration(text)');
  return durationOf({ text }) as unknown;
}
