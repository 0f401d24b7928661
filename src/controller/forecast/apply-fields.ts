// Server-side apply as far as our own objects need it, without a schema: applied fields are merged in, fields that this
// manager applied before and no longer applies are removed, everything else stays as it is. Used by forecast/server.ts.
import type { Json, KubeObject, ManagedFieldsEntry } from '../../kube/objects.ts';
import { comparable } from '../../kube/write/owned.ts';

type Value = Readonly<Record<string, unknown>>;
/** A FieldsV1 set: `f:` names a field, `k:` the keys of a list item. */
type FieldSet = Readonly<Record<string, unknown>>;

/** The object after `manager` has applied `desired` to it. */
export function applyFields(live: KubeObject, desired: KubeObject, manager: string): KubeObject {
  const before = (entryOf(live, manager)?.fieldsV1 ?? {}) as FieldSet;
  const fields = comparable(desired);
  const kept = withoutFields(live, before, fields) ?? {};
  const merged = mergeInto(kept, fields, before) as KubeObject;
  return { ...merged, metadata: { ...merged.metadata, managedFields: managedFieldsAfter(live, desired, manager) } };
}

/** The managedFields of a new or existing object after `manager` has applied `desired`. */
export function managedFieldsAfter(
  live: KubeObject | undefined,
  desired: KubeObject,
  manager: string,
): readonly ManagedFieldsEntry[] {
  const before = live && entryOf(live, manager);
  const fieldsV1 = fieldsOf(comparable(desired), (before?.fieldsV1 ?? {}) as FieldSet) as Json;
  const ours = { manager, operation: 'Apply', apiVersion: desired.apiVersion, fieldsType: 'FieldsV1', fieldsV1 };
  const others = (live?.metadata.managedFields ?? []).filter((entry) => entry !== before);
  return [...others, ours as unknown as ManagedFieldsEntry];
}

function entryOf({ metadata }: KubeObject, name: string): ManagedFieldsEntry | undefined {
  return metadata.managedFields?.find(
    ({ manager, operation, subresource }) => manager === name && operation === 'Apply' && !subresource,
  );
}

/** The set of all fields of a value. A list is one field, unless its items were identified by keys before. */
function fieldsOf(value: unknown, before: FieldSet): FieldSet {
  if (Array.isArray(value)) {
    const keys = keysOf(before);
    if (keys === undefined) return {};
    return Object.fromEntries(
      value.map((item) => {
        const name = itemName(item, keys);
        return [name, fieldsOf(item, (before[name] ?? {}) as FieldSet)];
      }),
    );
  }
  if (!isObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .map(([name, inner]) => [`f:${name}`, fieldsOf(inner, (before[`f:${name}`] ?? {}) as FieldSet)]),
  );
}

/** A value without the fields that were applied before and no longer are. */
function withoutFields(value: unknown, applied: FieldSet, desired: unknown): unknown {
  const names = Object.keys(applied).filter((name) => name !== '.');
  if (names.length === 0) return desired === undefined ? undefined : value;
  if (Array.isArray(value)) {
    const keys = keysOf(applied);
    if (keys === undefined) return desired === undefined ? undefined : value;
    const items: readonly unknown[] = Array.isArray(desired) ? desired : [];
    const stay = new Map(items.map((item) => [itemName(item, keys), item]));
    const left = value.flatMap((item) => {
      const name = itemName(item, keys);
      if (!(name in applied)) return [item];
      return stay.has(name) ? [withoutFields(item, applied[name] as FieldSet, stay.get(name))] : [];
    });
    return desired === undefined && left.length === 0 ? undefined : left;
  }
  if (!isObject(value)) return value;
  const rest: Record<string, unknown> = { ...value };
  for (const name of names) {
    const field = name.slice(2);
    if (!name.startsWith('f:') || !(field in rest)) continue;
    const left = withoutFields(rest[field], applied[name] as FieldSet, (desired as Value | undefined)?.[field]);
    if (left === undefined) delete rest[field];
    else rest[field] = left;
  }
  return desired === undefined && Object.keys(rest).length === 0 ? undefined : rest;
}

/** A value with the applied fields merged into it. */
function mergeInto(value: unknown, desired: unknown, before: FieldSet | undefined): unknown {
  if (Array.isArray(value) && Array.isArray(desired)) return mergeLists(value, desired, before);
  if (!isObject(value) || !isObject(desired)) return desired;
  const merged: Record<string, unknown> = { ...value };
  for (const [name, inner] of Object.entries(desired)) {
    if (inner === undefined) continue;
    merged[name] =
      name in merged ? mergeInto(merged[name], inner, before?.[`f:${name}`] as FieldSet | undefined) : inner;
  }
  return merged;
}

/** Items that are identified by keys are merged one by one, so that fields added by the server are kept. */
function mergeLists(
  list: readonly unknown[],
  desired: readonly unknown[],
  before: FieldSet | undefined,
): readonly unknown[] {
  // For a list that was never applied it is not known whether its items have keys: names suggest it.
  const isGuessed = before === undefined && isNamed(list) && isNamed(desired);
  const keys = isGuessed ? ['name'] : before && keysOf(before);
  if (keys === undefined) return desired;
  const byName = new Map(list.map((item) => [itemName(item, keys), item]));
  const ours = desired.map((item) => {
    const name = itemName(item, keys);
    return byName.has(name) ? mergeInto(byName.get(name), item, before?.[name] as FieldSet | undefined) : item;
  });
  const isOurs = new Set(desired.map((item) => itemName(item, keys)));
  return [...ours, ...list.filter((item) => !isGuessed && !isOurs.has(itemName(item, keys)))];
}

/** The keys by which the items of a list were identified. */
function keysOf(fields: FieldSet): readonly string[] | undefined {
  const item = Object.keys(fields).find((name) => name.startsWith('k:'));
  return item === undefined ? undefined : Object.keys(JSON.parse(item.slice(2)) as object);
}

function itemName(item: unknown, keys: readonly string[]): string {
  return `k:${JSON.stringify(Object.fromEntries(keys.map((key) => [key, (item as Value | null)?.[key]])))}`;
}

/** Whether every item of a list has a name of its own, as containers and volumes have. */
function isNamed(list: readonly unknown[]): boolean {
  const names = list.map((item) => (isObject(item) ? item['name'] : undefined));
  return names.every((name) => typeof name === 'string') && new Set(names).size === names.length;
}

function isObject(value: unknown): value is Value {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
