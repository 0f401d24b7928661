// JSON values of the API server (frozen; integers above 2^53 are bigints), and functions that all patch types use.

import type { JsonObject } from '../../kube/objects.ts';

export type { JsonObject };
export type JsonList = readonly unknown[];

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isList(value: unknown): value is JsonList {
  return Array.isArray(value);
}

/** Whether this is an object with at least one field. */
export function hasFields(value: unknown): value is JsonObject {
  return isObject(value) && Object.keys(value).length > 0;
}

/** Whether this is a list with at least one item. */
export function hasItems(value: unknown): value is JsonList {
  return isList(value) && value.length > 0;
}

/** The JSON type of a value, for error messages. */
export function typeName(value: unknown): 'null' | 'list' | 'object' | 'string' | 'number' | 'boolean' {
  if (value === null || value === undefined) return 'null';
  if (isList(value)) return 'list';
  if (typeof value === 'object') return 'object';
  if (typeof value === 'string') return 'string';
  return typeof value === 'boolean' ? 'boolean' : 'number';
}

/** An own property: names such as `constructor` are ordinary keys. */
export function ownValue(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Equality of scalars; a bigint equals the number of the same value. */
export function sameScalar(left: unknown, right: unknown): boolean {
  if (typeof left === 'bigint' && typeof right === 'number') return left === toBigInt(right);
  if (typeof left === 'number' && typeof right === 'bigint') return toBigInt(left) === right;
  return left === right;
}

/** A string that is equal for two scalars exactly if `sameScalar` is true, for use as a map key. */
export function scalarId(value: unknown): string {
  return `${typeof value === 'bigint' ? 'number' : typeof value} ${String(typeof value === 'number' ? (toBigInt(value) ?? value) : value)}`;
}

function toBigInt(value: number): bigint | undefined {
  return Number.isInteger(value) ? BigInt(value) : undefined;
}

/** Deep equality; the order of keys does not matter. */
export function sameJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (isList(left)) {
    return isList(right) && left.length === right.length && left.every((item, index) => sameJson(item, right[index]));
  }
  if (isObject(left)) {
    if (!isObject(right)) return false;
    const keys = Object.keys(left);
    return (
      keys.length === Object.keys(right).length &&
      keys.every((key) => Object.hasOwn(right, key) && sameJson(left[key], right[key]))
    );
  }
  return sameScalar(left, right);
}

/** A copy of an object with one field set; a plain assignment would lose the key `__proto__`. */
export function withField(object: JsonObject, key: string, value: unknown): JsonObject {
  return { ...object, [key]: value };
}

/** Sets a field of an unshared object; a plain assignment would lose the key `__proto__`. */
export function setField(object: JsonObject, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
}

/** A copy of an object without one field; the object itself when it has no such field. */
export function withoutField(object: JsonObject, key: string): JsonObject {
  if (!Object.hasOwn(object, key)) return object;
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
}
