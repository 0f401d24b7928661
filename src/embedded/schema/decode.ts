// Decodes an object of a built-in kind like the Go types of the API server: unknown fields are dropped and reported,
// nulls are dropped, quantities are canonicalised, and a wrong type is an error.
import { propertySchema } from './property.ts';
import { formatQuantity, parseQuantity, quantityProblem } from '../../kube/quantity.ts';
import type { Schema } from './types.ts';

export interface Decoded {
  readonly value: unknown;
  /** Paths of unknown fields, in the order of the document. */
  readonly unknownFields: readonly string[];
  /** The error message of the Go decoder, if the object cannot be decoded. The value is then incomplete. */
  readonly problem?: string;
}

/** Returns the Go type of a definition, such as `v1.Container`. */
export type TypeNames = (schema: Schema) => string | undefined;

class DecodeError extends Error {}

interface FieldPath {
  /** With indexes, for reporting unknown fields. */
  readonly path: string;
  /** Without indexes, as in messages of the Go decoder. */
  readonly goPath: string;
  readonly struct: string;
}

const safeInteger = 2n ** 53n;
const integerBounds: Readonly<Record<string, readonly [bigint, bigint]>> = {
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
};

/** Decodes a value by a schema. `typeNames` is only used in messages. */
export function decode(schema: Schema, value: unknown, typeNames: TypeNames): Decoded {
  const unknownFields: string[] = [];

  function goType(node: Schema): string {
    const name = typeNames(node);
    if (name !== undefined) return name;
    if (node.type === 'array') return `[]${node.items === undefined ? 'interface {}' : goType(node.items)}`;
    if (node.type === 'object') {
      const values = typeof node.additionalProperties === 'object' ? goType(node.additionalProperties) : 'interface {}';
      return `map[string]${values}`;
    }
    if (node.type === 'boolean') return 'bool';
    if (node.type === 'number') return 'float64';
    return node.type === 'integer' ? (node.format ?? 'int64') : 'string';
  }

  function refuse(found: unknown, node: Schema, at: FieldPath): never {
    const kind = jsonKind(found);
    const target = at.goPath === '' ? 'Go value' : `Go struct field ${at.struct}.${at.goPath}`;
    throw new DecodeError(`json: cannot unmarshal ${kind} into ${target} of type ${goType(node)}`);
  }

  function readObject(found: unknown, node: Schema, at: FieldPath): unknown {
    if (!isPlainObject(found)) return refuse(found, node, at);
    if (node['x-kubernetes-preserve-unknown-fields'] === true && node.properties === undefined) return found;
    const struct = typeNames(node)?.replace(/^.*\./, '') ?? at.struct;
    const result: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(found)) {
      const child = propertySchema(node, key) ?? objectSchema(node.additionalProperties);
      const isField = node.properties !== undefined;
      const path = at.path === '' ? key : `${at.path}.${key}`;
      if (child === undefined) {
        if (isField || node.additionalProperties === undefined) unknownFields.push(path);
        continue;
      }
      if (item === null) continue;
      const goPath = !isField ? at.goPath : at.goPath === '' ? key : `${at.goPath}.${key}`;
      const value = read(item, child, { path, goPath, struct });
      if (isField && isEmpty(value, child) && !keepsZero(node, key)) continue;
      setOwn(result, key, value);
    }
    return result;
  }

  function read(found: unknown, node: Schema, at: FieldPath): unknown {
    if (node['x-kubernetes-int-or-string'] === true) {
      return typeof found === 'string' || isInteger(found)
        ? found
        : refuse(found, { type: 'integer', format: 'int32' }, at);
    }
    switch (node.type) {
      case 'object':
        return readObject(found, node, at);
      case 'array':
        if (!Array.isArray(found)) return refuse(found, node, at);
        return found.map((item: unknown, index) => {
          const items = node.items ?? {};
          const itemPath = { ...at, path: `${at.path}[${index}]` };
          return item === null ? zeroValue(items) : read(item, items, itemPath);
        });
      case 'boolean':
        return typeof found === 'boolean' ? found : refuse(found, node, at);
      case 'number':
        return typeof found === 'number' || typeof found === 'bigint' ? found : refuse(found, node, at);
      case 'integer':
        return readInteger(found, node, at);
      case 'string':
        return readString(found, node, at);
      case undefined:
        return found;
    }
    throw new TypeError('a schema has a type that does not exist');
  }

  function readInteger(found: unknown, node: Schema, at: FieldPath): unknown {
    if (!isInteger(found)) {
      if (typeof found !== 'number') return refuse(found, node, at);
      throw new DecodeError(
        `json: cannot unmarshal number ${found} into Go struct field ${at.struct}.${at.goPath} of type ${goType(node)}`,
      );
    }
    const [low, high] = integerBounds[node.format ?? 'int64'] ?? integerBounds['int64']!;
    const exact = BigInt(found);
    if (exact < low || exact > high) {
      throw new DecodeError(
        `json: cannot unmarshal number ${exact} into Go struct field ${at.struct}.${at.goPath} of type ${goType(node)}`,
      );
    }
    return exact > -safeInteger && exact < safeInteger ? Number(exact) : exact;
  }

  function readString(found: unknown, node: Schema, at: FieldPath): unknown {
    if (node.format === 'quantity') {
      if (typeof found !== 'string' && typeof found !== 'number' && typeof found !== 'bigint') {
        return refuse(found, node, at);
      }
      const quantity = parseQuantity(String(found));
      if (quantity === undefined) throw new DecodeError(quantityProblem);
      return formatQuantity(quantity);
    }
    if (typeof found !== 'string') return refuse(found, node, at);
    if (node.format === 'date-time' && !rfc3339.test(found)) {
      const layout = '2006-01-02T15:04:05Z07:00';
      throw new DecodeError(
        `parsing time ${JSON.stringify(found)} as "${layout}": cannot parse ${JSON.stringify(found)} as "2006"`,
      );
    }
    if (node.format === 'byte') {
      const wrong = firstWrongBase64(found);
      if (wrong !== undefined) throw new DecodeError(`illegal base64 data at input byte ${wrong}`);
    }
    return found;
  }

  try {
    return { value: read(value, schema, { path: '', goPath: '', struct: '' }), unknownFields };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return { value, unknownFields, problem: error.message };
  }
}

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

/** Whether Go omits the value when encoding (`omitempty`). Structs are never omitted. */
function isEmpty(value: unknown, node: Schema): boolean {
  if (node.type === undefined) return false;
  if (value === '' || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return node.additionalProperties !== undefined && isPlainObject(value) && Object.keys(value).length === 0;
}

function keepsZero(node: Schema, key: string): boolean {
  return node.required?.includes(key) === true || node.keepsZero?.includes(key) === true;
}

function objectSchema(schema: Schema | boolean | undefined): Schema | undefined {
  return typeof schema === 'object' ? schema : undefined;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Sets a field, also one named `__proto__`. */
function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}

function isInteger(value: unknown): value is number | bigint {
  return typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
}

function zeroValue(node: Schema): unknown {
  if (node.type === 'string') return '';
  if (node.type === 'integer' || node.type === 'number') return 0;
  if (node.type === 'boolean') return false;
  return node.type === 'array' ? [] : {};
}

function jsonKind(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'bigint' ? 'number' : typeof value;
}

/** The position of the first character that is invalid in standard base64. */
function firstWrongBase64(text: string): number | undefined {
  const plain = text.replaceAll(/[\r\n]/g, '');
  const wrong = /[^A-Za-z0-9+/=]/.exec(plain)?.index ?? /=(?=[^=])/.exec(plain)?.index;
  if (wrong !== undefined) return wrong;
  return plain.length % 4 === 0 ? undefined : plain.length - (plain.length % 4);
}
