// The words with which a strategic merge patch steers itself, and how they are taken out of values that become data.
import { PatchError } from './errors.ts';
import { isList, isObject, typeName } from './json.ts';

export const MARKER = '$patch';
export const RETAIN_KEYS = '$retainKeys';
export const DELETE_FROM_PRIMITIVE_LIST = '$deleteFromPrimitiveList';
export const SET_ELEMENT_ORDER = '$setElementOrder';

/** Is this key of a patch an instruction rather than a field? */
export function isDirectiveKey(key: string): boolean {
  return (
    key === MARKER ||
    key === RETAIN_KEYS ||
    key.startsWith(DELETE_FROM_PRIMITIVE_LIST) ||
    key.startsWith(SET_ELEMENT_ORDER)
  );
}

/** The value of a marker, for an error message. */
export function markerText(marker: unknown): string {
  return typeof marker === 'string' ? marker : typeName(marker);
}

/** The field that a directive such as `$setElementOrder/containers` speaks of. */
export function parallelListField(key: string, directive: string, path: string): string {
  if (key.startsWith(`${directive}/`)) return key.slice(directive.length + 1);
  throw new PatchError(400, `invalid patch format: ${path}.${key} must be ${directive}/<field>`);
}

/** The data in a patch value that replaces what was there: without directives and without nulls. */
export function plainValue(value: unknown): unknown {
  if (isList(value)) return value.map(plainValue);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, part]) => part !== null && !isDirectiveKey(key))
      .map(([key, part]) => [key, plainValue(part)]),
  );
}

/** The data in a patch value where nothing was before: parts marked with `$patch` speak of nothing and vanish. */
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
