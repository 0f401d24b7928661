// The keys of items in lists of type map. Used by validation and by transition rules.
import { stringifyJson } from '../../kube/json.ts';
import type { Schema } from './types.ts';

/** The key fields of an item of a map list, including defaults; undefined when the item is not an object. */
export function listKey(schema: Schema, item: unknown): Record<string, unknown> | undefined {
  if (typeof item !== 'object' || item === null) return undefined;
  const object = item as Record<string, unknown>;
  const key: Record<string, unknown> = {};
  for (const field of schema['x-kubernetes-list-map-keys'] ?? []) {
    const value = object[field] ?? schema.items?.properties?.[field]?.default;
    if (value !== undefined) key[field] = value;
  }
  return key;
}

/** Finds the item of the old list with the same key. Works only for lists of type map. */
export function correlation(schema: Schema, oldList: unknown): (item: unknown) => unknown {
  if (schema['x-kubernetes-list-type'] !== 'map' || !Array.isArray(oldList)) return () => undefined;
  const idOf = (item: unknown): string => stringifyJson(listKey(schema, item) ?? null);
  const byId = new Map(oldList.toReversed().map((item: unknown) => [idOf(item), item]));
  return (item) => byId.get(idOf(item));
}
