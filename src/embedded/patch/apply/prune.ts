// Prunes fields that an applier owned, no longer sends, and nobody else owns. Called by apply.ts.
import type { Schema } from '../../schema/types.ts';
import { difference, intersection, union, type FieldSet } from '../fields/field-set.ts';
import type { JsonObject } from '../json.ts';
import type { Managed, ManagedEntry } from '../managed-fields/managed-fields.ts';
import { withObjectMeta } from '../typed/object-meta.ts';
import { fieldsOf, withDeclaredParents } from '../typed/fields.ts';
import { removeFieldsKeepingParents, removeFields } from '../typed/remove.ts';
import { convertPart, type Versions } from '../managed-fields/versions.ts';

/** The fields that the manager owned and no longer sends, except those that others own too. */
export function abandonedFields(schema: Schema, merged: JsonObject, claims: Managed, last: FieldSet): FieldSet {
  const held = (fields: FieldSet): FieldSet => withDeclaredParents(schema, fields);
  const present = held(fieldsOf(schema, merged));
  const lastHeld = held(last);
  const bare = removeFieldsKeepingParents(schema, merged, lastHeld);
  const claimed = [...claims.values()].map((entry) => entry.fields).reduce(union);
  const kept = union(held(fieldsOf(schema, bare)), held(claimed));
  const pruned = removeFieldsKeepingParents(schema, merged, difference(present, kept));
  // Removing a field also removes its children; only fields that the manager owned may be removed.
  return intersection(difference(present, held(fieldsOf(schema, pruned))), lastHeld);
}

/**
 * Prunes an object whose managers use different API versions: what each of them owns is restored in its own version,
 * and the fields to remove are computed in the version that the manager applied last.
 */
export function pruneInVersions(
  versions: Versions,
  merged: JsonObject,
  claims: Managed,
  last: ManagedEntry,
  apiVersion: string,
): JsonObject {
  const lastSchema = versions.schemaOf(last.apiVersion);
  const into = (part: JsonObject, version: string): JsonObject => convertPart(versions, merged, part, version);
  const start = into(merged, last.apiVersion);
  let pruned = without(lastSchema, start, held(lastSchema, last.fields));
  let whole = start;
  const byVersion = Map.groupBy(claims.values(), (entry) => entry.apiVersion);
  // The version that was applied last comes first: fields owned in it may be needed to convert the rest.
  for (const version of new Set([last.apiVersion, ...byVersion.keys()])) {
    const schema = versions.schemaOf(version);
    const entries = byVersion.get(version) ?? [];
    if (entries.length === 0) continue;
    whole = into(whole, version);
    pruned = into(pruned, version);
    const claimed = entries.map((entry) => entry.fields).reduce(union);
    const kept = union(heldBy(schema, pruned), held(schema, claimed));
    pruned = without(schema, whole, difference(heldBy(schema, whole), kept));
  }
  const gone = difference(heldBy(lastSchema, start), heldBy(lastSchema, into(pruned, last.apiVersion)));
  return into(without(lastSchema, start, intersection(gone, held(lastSchema, last.fields))), apiVersion);
}

function held(schema: Schema, fields: FieldSet): FieldSet {
  return withDeclaredParents(withObjectMeta(schema), fields);
}

function heldBy(schema: Schema, object: JsonObject): FieldSet {
  return held(schema, fieldsOf(withObjectMeta(schema), object));
}

function without(schema: Schema, object: JsonObject, fields: FieldSet): JsonObject {
  return (removeFields(withObjectMeta(schema), object, fields) ?? {}) as JsonObject;
}
