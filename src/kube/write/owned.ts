// The part of an object that is ours: the fields that a field manager applied, as the server recorded them.
// apply.ts compares it with the desired object, in order to write only if they differ.
import type { JsonObject, KubeObject } from '../objects.ts';

/** The fields of `object` that `manager` applied, with their present values; undefined when it never applied any. */
export function ownedPart(object: KubeObject, manager: string): unknown {
  const entry = object.metadata.managedFields?.find(
    (fields) => fields.manager === manager && fields.operation === 'Apply' && !fields.subresource,
  );
  return entry === undefined ? undefined : project(object, (entry.fieldsV1 ?? {}) as JsonObject);
}

/** The part of a desired object to compare with the owned part: without its identity and what the server sets. */
export function comparable(desired: KubeObject): JsonObject {
  const { apiVersion: _version, kind: _kind, metadata, ...rest } = desired as KubeObject & JsonObject;
  const { name: _name, namespace: _namespace, uid: _uid, resourceVersion: _resourceVersion, ...meta } = metadata;
  return Object.keys(meta).length === 0 ? rest : { ...rest, metadata: meta };
}

/**
 * The part of a value that a FieldsV1 set covers. In it `f:` names a field, `k:` the keys of a list item, `v:` a
 * member of a set, `i:` a position, `.` the value itself; a set with nothing inside covers the whole value.
 */
function project(value: unknown, fields: JsonObject): unknown {
  const names = Object.keys(fields);
  if (names.length === 0) return value;
  if (Array.isArray(value)) return projectList(value, fields, names);
  if (typeof value !== 'object' || value === null) return value;
  const result: Record<string, unknown> = {};
  for (const name of names) {
    if (!name.startsWith('f:')) continue;
    const inner = (value as JsonObject)[name.slice(2)];
    if (inner !== undefined) result[name.slice(2)] = project(inner, fields[name] as JsonObject);
  }
  return result;
}

function projectList(list: readonly unknown[], fields: JsonObject, names: readonly string[]): unknown {
  const members = names.map((name) => ({ covers: memberTest(name), inner: fields[name] as JsonObject }));
  const result: unknown[] = [];
  for (const [position, item] of list.entries()) {
    const member = members.find(({ covers }) => covers(item, position));
    if (member !== undefined) result.push(project(item, member.inner));
  }
  return result;
}

function memberTest(name: string): (item: unknown, position: number) => boolean {
  if (name.startsWith('k:')) {
    const keys = Object.entries(JSON.parse(name.slice(2)) as JsonObject);
    return (item) =>
      typeof item === 'object' && item !== null && keys.every(([key, value]) => (item as JsonObject)[key] === value);
  }
  if (name.startsWith('v:')) {
    const member: unknown = JSON.parse(name.slice(2));
    return (item) => item === member;
  }
  if (name.startsWith('i:')) {
    const index = Number(name.slice(2));
    return (_item, position) => position === index;
  }
  return () => false;
}
