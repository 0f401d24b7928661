// Reads fields of untyped objects; a field of the wrong type counts as absent. Used throughout kinds/ and crd/.
import type { ApiObject } from '../resource.ts';

/** Is the value a JSON object? */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at a path of field names, or undefined. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const step of path) {
    if (!isObject(current)) return undefined;
    current = current[step];
  }
  return current;
}

/** The string at a path, or the empty string. */
export function text(value: unknown, ...path: readonly string[]): string {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : '';
}

/** The number at a path, or undefined. Big integers become numbers: no caller needs their precision. */
export function numberAt(value: unknown, ...path: readonly string[]): number | undefined {
  const found = at(value, ...path);
  if (typeof found === 'bigint') return Number(found);
  return typeof found === 'number' ? found : undefined;
}

/** The count at a path: 0 when absent. */
export function count(value: unknown, ...path: readonly string[]): number {
  return numberAt(value, ...path) ?? 0;
}

/** The string, number or boolean at a path as text, or undefined. */
export function scalarText(value: unknown, ...path: readonly string[]): string | undefined {
  const found = at(value, ...path);
  if (typeof found === 'string') return found;
  return typeof found === 'number' || typeof found === 'bigint' || typeof found === 'boolean' ? `${found}` : undefined;
}

/** The objects in the list at a path; other items are left out. */
export function objects(value: unknown, ...path: readonly string[]): readonly ApiObject[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found.filter(isObject) : [];
}

/** The strings in the list at a path. */
export function strings(value: unknown, ...path: readonly string[]): readonly string[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found.filter((item) => typeof item === 'string') : [];
}

/** The string values of the map at a path. */
export function stringMap(value: unknown, ...path: readonly string[]): Readonly<Record<string, string>> {
  const found = at(value, ...path);
  if (!isObject(found)) return {};
  return Object.fromEntries(
    Object.entries(found).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

/** The condition of a type in `status.conditions`. */
export function condition(object: unknown, type: string): ApiObject | undefined {
  return objects(object, 'status', 'conditions').find((item) => item['type'] === type);
}

/** Is the condition of a type `True`? */
export function conditionIsTrue(object: unknown, type: string): boolean {
  return condition(object, type)?.['status'] === 'True';
}
