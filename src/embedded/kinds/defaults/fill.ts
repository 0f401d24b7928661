// Functions for setting defaults. They return a new object and do not change their input.
import type { ApiObject } from '../../resource.ts';
import { isObject } from '../read.ts';

/** Adds the defaults of absent fields. */
export function fill(object: ApiObject, defaults: ApiObject): ApiObject {
  const missing = Object.entries(defaults).filter(([key]) => object[key] === undefined);
  return missing.length === 0 ? object : { ...object, ...Object.fromEntries(missing) };
}

/** Changes the object in a field, if the field is present. */
export function inField(object: ApiObject, field: string, change: (value: ApiObject) => ApiObject): ApiObject {
  const value = object[field];
  return isObject(value) ? replaced(object, field, change(value)) : object;
}

/** Changes the object in a field, or an empty object if the field is absent. */
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
