// Validates a value against a structural schema, with the messages of the API server. Called for custom resources after
// pruning and defaulting, which are in normalise.ts. CEL rules are in cel/.
import { propertySchema } from './property.ts';
import { isDeepStrictEqual } from 'node:util';
import { stringifyJson } from '../../kube/json.ts';
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from './field-error.ts';
import { matchesFormat, isKnownFormat } from './formats.ts';
import { correlation, listKey } from './list-keys.ts';
import { matchesPattern, limitingPatternTime } from './regex.ts';
import type { Schema } from './types.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * All validation errors of a value. With an old value, errors in unchanged parts are ignored (ratcheting), so that a
 * schema can become stricter without blocking updates of existing objects.
 */
export function validateValue(schema: Schema, value: unknown, old?: unknown): FieldError[] {
  return (
    limitingPatternTime(() => check(schema, value, old, '')) ?? [
      forbidden('', 'its texts take too long to compare with the patterns of the schema'),
    ]
  );
}

function check(schema: Schema, value: unknown, old: unknown, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (value === null) {
    if (schema.nullable === true || (schema.type === undefined && schema['x-kubernetes-int-or-string'] !== true))
      return [];
    errors.push(wrongType(schema, value, path));
  } else {
    const mismatch = typeProblem(schema, value, path);
    if (mismatch !== undefined) errors.push(mismatch);
    checkJunctions(schema, value, path, errors);
    if (typeof value === 'string') checkString(schema, value, path, errors);
    else if (typeof value === 'number' || typeof value === 'bigint') checkNumber(schema, value, path, errors);
    else if (Array.isArray(value)) checkArray(schema, value, old, path, errors);
    if (schema.enum !== undefined && !schema.enum.some((allowed) => sameValue(allowed, value))) {
      errors.push(notSupported(path, value, schema.enum));
    }
    if (isObject(value)) checkObject(schema, value, old, path, errors);
    if (isObject(value) && schema['x-kubernetes-embedded-resource'] === true) {
      for (const field of ['apiVersion', 'kind']) {
        if ((value[field] ?? '') === '') errors.push(required(`${path}.${field}`));
      }
    }
  }
  return errors.length > 0 && old !== undefined && isDeepStrictEqual(value, old) ? [] : errors;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint') return 'integer';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function wrongType(schema: Schema, value: unknown, path: string): FieldError {
  const expected = schema['x-kubernetes-int-or-string'] === true ? 'integer,string' : (schema.type ?? '');
  const found = typeOf(value);
  // If the schema has a format, the server reports formats instead of types, except for strings and lists.
  const byFormat = value !== null && !['string', 'array'].includes(found) && hasKnownFormat(schema);
  const [type, actual] = byFormat ? [schema.format ?? '', numberFormats[found] ?? ''] : [expected, found];
  return typeInvalid(path, actual, `${path} in body must be of type ${type}: "${actual}"`);
}

const numberFormats: Readonly<Record<string, string>> = { integer: 'int64', number: 'float64' };

function hasKnownFormat({ type, format }: Schema): boolean {
  if (format === undefined) return false;
  if (type === 'integer') return format === 'int32' || format === 'int64';
  if (type === 'number') return format === 'float' || format === 'double';
  return type === 'string' && isKnownFormat(format);
}

function typeProblem(schema: Schema, value: unknown, path: string): FieldError | undefined {
  const found = typeOf(value);
  if (schema['x-kubernetes-int-or-string'] === true) {
    return found === 'integer' || found === 'string' ? undefined : wrongType(schema, value, path);
  }
  if (schema.type === undefined || schema.type === found) return undefined;
  return schema.type === 'number' && found === 'integer' ? undefined : wrongType(schema, value, path);
}

function checkString(schema: Schema, value: string, path: string, errors: FieldError[]): void {
  const length = Array.from(value).length;
  if (schema.maxLength !== undefined && length > schema.maxLength) errors.push(tooLong(path, schema.maxLength));
  if (schema.minLength !== undefined && length < schema.minLength) {
    errors.push(invalid(path, value, `${path} in body should be at least ${schema.minLength} chars long`));
  }
  if (schema.pattern !== undefined && !matchesPattern(schema.pattern, value)) {
    errors.push(invalid(path, value, `${path} in body should match '${schema.pattern}'`));
  }
  const isText = schema.type === undefined || schema.type === 'string';
  if (isText && schema.format !== undefined && !matchesFormat(value, schema.format)) {
    const format = schema.format;
    errors.push(typeInvalid(path, value, `${path} in body must be of type ${format}: ${JSON.stringify(value)}`));
  }
}

function checkNumber(schema: Schema, value: number | bigint, path: string, errors: FieldError[]): void {
  const refuse = (text: string): number => errors.push(invalid(path, value, `${path} in body should be ${text}`));
  if (schema.type === 'integer' && !fitsInteger(value, schema.format)) {
    const kind = schema.format === undefined ? '(default format)' : `with format ${schema.format}`;
    errors.push(invalid('<nil>', '', `Checked value must be of type integer ${kind} in ${path}`));
  }
  const { minimum, maximum, multipleOf } = schema;
  if (maximum !== undefined) {
    if (schema.exclusiveMaximum === true && value >= maximum) refuse(`less than ${maximum}`);
    else if (value > maximum) refuse(`less than or equal to ${maximum}`);
  }
  if (minimum !== undefined) {
    if (schema.exclusiveMinimum === true && value <= minimum) refuse(`greater than ${minimum}`);
    else if (value < minimum) refuse(`greater than or equal to ${minimum}`);
  }
  if (multipleOf !== undefined && !Number.isInteger(Number(value) / multipleOf)) refuse(`a multiple of ${multipleOf}`);
}

function fitsInteger(value: number | bigint, format: string | undefined): boolean {
  if (typeof value === 'number' && !Number.isInteger(value)) return false;
  const bits = format === 'int32' ? 31n : 63n;
  const exact = BigInt(value);
  return exact >= -(2n ** bits) && exact < 2n ** bits;
}

function checkArray(schema: Schema, value: readonly unknown[], old: unknown, path: string, errors: FieldError[]): void {
  const { items } = schema;
  if (items !== undefined) {
    const before = correlation(schema, old);
    for (const [index, item] of value.entries()) {
      errors.push(...check(items, item, before(item), `${path}[${index}]`));
    }
  }
  if (schema.minItems !== undefined && value.length < schema.minItems) {
    errors.push(invalid(path, value.length, `${path} in body should have at least ${schema.minItems} items`));
  }
  if (schema.maxItems !== undefined && value.length > schema.maxItems) {
    errors.push(tooMany(path, value.length, schema.maxItems));
  }
  checkUnique(schema, value, path, errors);
}

/** Items of a set and keys of a map list must be unique. */
function checkUnique(schema: Schema, value: readonly unknown[], path: string, errors: FieldError[]): void {
  const listType = schema['x-kubernetes-list-type'];
  if (listType !== 'set' && listType !== 'map') return;
  const seen = new Map<string, number>();
  for (const [index, item] of value.entries()) {
    const key = listType === 'set' ? item : listKey(schema, item);
    const text = stringifyJson(key === undefined ? null : key);
    const times = (seen.get(text) ?? 0) + 1;
    seen.set(text, times);
    if (times === 2) errors.push(duplicate(`${path}[${index}]`, key));
  }
}

function checkObject(schema: Schema, value: Json, old: unknown, path: string, errors: FieldError[]): void {
  const size = Object.keys(value).length;
  if (schema.minProperties !== undefined && size < schema.minProperties) {
    errors.push(invalid(path, size, `${path} in body should have at least ${schema.minProperties} properties`));
  }
  if (schema.maxProperties !== undefined && size > schema.maxProperties) {
    errors.push(tooMany(path, size, schema.maxProperties));
  }
  const others = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
  const before = isObject(old) ? old : undefined;
  for (const [key, item] of Object.entries(value)) {
    const child = propertySchema(schema, key) ?? others;
    if (child !== undefined) errors.push(...check(child, item, before?.[key], path === '' ? key : `${path}.${key}`));
  }
  for (const key of schema.required ?? []) {
    if (!Object.hasOwn(value, key)) errors.push(required(path === '' ? key : `${path}.${key}`));
  }
}

function checkJunctions(schema: Schema, value: unknown, path: string, errors: FieldError[]): void {
  // In the real server these errors have no field; the message names the path.
  const refuse = (text: string): number => errors.push(invalid('<nil>', '', `${JSON.stringify(path)} ${text}`));
  const { anyOf, oneOf, allOf, not } = schema;
  if (anyOf !== undefined && schema['x-kubernetes-int-or-string'] !== true) {
    const results = anyOf.map((option) => check(option, value, undefined, path));
    if (!results.some((result) => result.length === 0)) {
      refuse('must validate at least one schema (anyOf)');
      errors.push(...fewestErrors(results));
    }
  }
  if (oneOf !== undefined) {
    const results = oneOf.map((option) => check(option, value, undefined, path));
    const valid = results.filter((result) => result.length === 0).length;
    if (valid !== 1) {
      const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
      refuse(`must validate one and only one schema (oneOf). ${found}`);
      if (valid === 0) errors.push(...fewestErrors(results));
    }
  }
  if (allOf !== undefined) {
    const results = allOf.map((option) => check(option, value, undefined, path));
    const failed = results.filter((result) => result.length > 0).length;
    errors.push(...results.flat());
    if (failed > 0)
      refuse(`must validate all the schemas (allOf)${failed === results.length ? '. None validated' : ''}`);
  }
  if (not !== undefined && check(not, value, undefined, path).length === 0)
    refuse('must not validate the schema (not)');
}

/** The errors of the alternative with the fewestErrors errors. */
function fewestErrors(results: readonly FieldError[][]): readonly FieldError[] {
  return results.reduce<readonly FieldError[]>(
    (best, next) => (next.length < best.length ? next : best),
    results[0] ?? [],
  );
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function sameValue(a: unknown, b: unknown): boolean {
  return typeof a === 'object' ? isDeepStrictEqual(a, b) : stringifyJson(a) === stringifyJson(b);
}
