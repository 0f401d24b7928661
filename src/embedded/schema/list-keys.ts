// The identity of items in lists that are maps by key. Used by validation and by rules that look at the old value.
import { isDeepStrictEqual } from 'node:util';
import type { Schema } from './types.ts';

/** The key fields of an item of a map list, defaults included; undefined when the item is no object. */
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

/** The item of the old list that is the same one by key. Only lists of type map tell. */
export function correlatedItem(schema: Schema, item: unknown, oldList: unknown): unknown {
  if (schema['x-kubernetes-list-type'] !== 'map' || !Array.isArray(oldList)) return undefined;
  const key = listKey(schema, item);
  return oldList.find((candidate) => isDeepStrictEqual(listKey(schema, candidate), key));
}
