// Who owns the number of replicas, told in terms of a Scale and back in terms of the object that is scaled. A Scale is
// owned like any other object; what it has to say of its one field is carried over to the field's place in the object.
import { fieldElement } from './field-path.ts';
import { difference, fieldSetOf, intersection, isEmpty, type FieldSet } from './field-set.ts';
import type { JsonObject } from './json.ts';
import { identity, readManagedFields, writeManagedFields, type ManagedEntry } from './managed-fields.ts';

/** Where replicas are in each version of a kind; undefined for a version without scale. */
export type ReplicasPaths = ReadonlyMap<string, readonly string[] | undefined>;

const scaleVersion = 'autoscaling/v1';
const inScale = fieldSetOf(['spec', 'replicas'].map(fieldElement));

function placeIn(paths: ReplicasPaths, apiVersion: string): FieldSet | undefined {
  const path = paths.get(apiVersion);
  return path && fieldSetOf(path.map(fieldElement));
}

function owns(entry: ManagedEntry, place: FieldSet | undefined): boolean {
  return place !== undefined && !isEmpty(intersection(entry.fields, place));
}

/** A Scale with those as owners who own the replicas of the object. */
export function withScaleOwners(scale: JsonObject, object: JsonObject, paths: ReplicasPaths): JsonObject {
  const entries = [...readManagedFields(object).values()]
    .filter((entry) => owns(entry, placeIn(paths, entry.apiVersion)))
    .map((entry): ManagedEntry => ({ ...entry, apiVersion: scaleVersion, fields: inScale }));
  return writeManagedFields(scale, new Map(entries.map((entry) => [identity(entry), entry])));
}

/** The object with its owners after its Scale was written: whoever lost the replicas there has lost them here. */
export function withOwnersOfScale(
  object: JsonObject,
  scale: JsonObject,
  paths: ReplicasPaths,
  apiVersion: string,
): JsonObject {
  const before = readManagedFields(object);
  const owners = new Map(readManagedFields(scale));
  const kept: ManagedEntry[] = [];
  for (const [id, entry] of before) {
    if (!paths.has(entry.apiVersion)) continue;
    const place = placeIn(paths, entry.apiVersion);
    if (place === undefined || !owns(entry, place) || owners.delete(id)) kept.push(entry);
    else kept.push({ ...entry, fields: difference(entry.fields, place) });
  }
  const place = placeIn(paths, apiVersion)!;
  const gained = [...owners]
    .filter(([, entry]) => owns(entry, inScale))
    .map(([id, entry]): ManagedEntry => ({ ...entry, apiVersion, fields: place, time: before.get(id)?.time }));
  // By place in the list, not by identity: an updater may come to have two entries, as on the real server.
  const all = [...kept.filter((entry) => !isEmpty(entry.fields)), ...gained];
  return writeManagedFields(object, new Map(all.map((entry, index) => [String(index), entry])));
}
