// The directives of strategic merge patches, and how they are removed from values.
import { PatchError } from '../errors.ts';
import { isList, isObject, typeName } from '../json.ts';

export const MARKER = '$patch';
export const RETAIN_KEYS = '$retainKeys';
export const DELETE_FROM_PRIMITIVE_LIST = '$deleteFromPrimitiveList';
export const SET_ELEMENT_ORDER = '$setElementOrder';

/** Whether this key of a patch is a directive instead of a field. */
export function isDirectiveKey(key: string): boolean {
  return (
    key === MARKER ||
    key === RETAIN_KEYS ||
    key.startsWith(DELETE_FROM_PRIMITIVE_LIST) ||
    key.startsWith(SET_ELEMENT_ORDER)
  );
}

/** Formats a marker for error messages. */
export function markerText(marker: unknown): string {
  return typeof marker === 'string' ? marker : typeName(marker);
}

/** The field of a directive such as `$setElementOrder/containers`. */
export function parallelListField(key: string, directive: string, path: string): string {
  if (key.startsWith(`${directive}/`)) return key.slice(directive.length + 1);
  throw new PatchError(400, `invalid patch format: ${path}.${key} must be ${directive}/<field>`);
}

/** The data of a patch value that replaces an existing one: without directives and nulls. */
export function plainValue(value: unknown): unknown {
  if (isList(value)) return value.map(plainValue);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, part]) => part !== null && !isDirectiveKey(key))
      .map(([key, part]) => [key, plainValue(part)]),
  );
}

/** The data of a patch value for a new field: also without parts that are marked with `$patch`. */
export function newValue(value: unknown): unknown {
  if (isList(value)) return value.map(newValue).filter((item) => item !== undefined);
  if (!isObject(value)) return value;
  if (Object.hasOwn(value, MARKER)) return undefined;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, part]) => part !== null && !isDirectiveKey(key))
      .map(([key, part]) => [key, newValue(part)])
      .filter(([, part]) => part !== undefined),
  );
}
