// The steps that defaults are made of. Each returns a new object and leaves its input alone.
import type { ApiObject } from '../../resource.ts';
import { isObject } from '../read.ts';

/** Adds the fields that are absent. */
export function fill(object: ApiObject, defaults: ApiObject): ApiObject {
  const missing = Object.entries(defaults).filter(([key]) => object[key] === undefined);
  return missing.length === 0 ? object : { ...object, ...Object.fromEntries(missing) };
}

/** Changes the object in a field, if there is one. */
export function inField(object: ApiObject, field: string, change: (value: ApiObject) => ApiObject): ApiObject {
  const value = object[field];
  return isObject(value) ? replaced(object, field, change(value)) : object;
}

/** Changes the object in a field, beginning with an empty one when it is absent. */
export function intoField(object: ApiObject, field: string, change: (value: ApiObject) => ApiObject): ApiObject {
  const value = object[field];
  if (value !== undefined && !isObject(value)) return object;
  return replaced(object, field, change(value ?? {}));
}

/** Changes each object in a list. */
export function inItems(object: ApiObject, field: string, change: (item: ApiObject) => ApiObject): ApiObject {
  const list = object[field];
  if (!Array.isArray(list)) return object;
  return replaced(
    object,
    field,
    list.map((item: unknown) => (isObject(item) ? change(item) : item)),
  );
}

function replaced(object: ApiObject, field: string, value: unknown): ApiObject {
  return object[field] === value ? object : { ...object, [field]: value };
}
