// Maps ownership of the replicas between a Scale and the scaled object. A Scale has managedFields like any other
// object; its one field is mapped to the replicas field of the object.
import { fieldElement } from '../fields/field-path.ts';
import { difference, fieldSetOf, intersection, isEmpty, type FieldSet } from '../fields/field-set.ts';
import type { JsonObject } from '../json.ts';
import { identity, readManagedFields, writeManagedFields, type ManagedEntry } from './managed-fields.ts';

/** The path of the replicas in each API version; undefined for a version without scale. */
export type ReplicasPaths = ReadonlyMap<string, readonly string[] | undefined>;

const scaleVersion = 'autoscaling/v1';
const inScale = fieldSetOf(['spec', 'replicas'].map(fieldElement));

function replicasIn(paths: ReplicasPaths, apiVersion: string): FieldSet | undefined {
  const path = paths.get(apiVersion);
  return path && fieldSetOf(path.map(fieldElement));
}

function owns(entry: ManagedEntry, replicas: FieldSet | undefined): boolean {
  return replicas !== undefined && !isEmpty(intersection(entry.fields, replicas));
}

/** Sets the managedFields of a Scale to the managers that own the replicas of the object. */
export function withManagersFromObject(scale: JsonObject, object: JsonObject, paths: ReplicasPaths): JsonObject {
  const entries = [...readManagedFields(object).values()]
    .filter((entry) => owns(entry, replicasIn(paths, entry.apiVersion)))
    .map((entry): ManagedEntry => ({ ...entry, apiVersion: scaleVersion, fields: inScale }));
  return writeManagedFields(scale, new Map(entries.map((entry) => [identity(entry), entry])));
}

/** Updates the managedFields of an object after its Scale was written. */
export function withManagersFromScale(
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
    const replicas = replicasIn(paths, entry.apiVersion);
    if (replicas === undefined || !owns(entry, replicas) || owners.delete(id)) kept.push(entry);
    else kept.push({ ...entry, fields: difference(entry.fields, replicas) });
  }
  const replicas = replicasIn(paths, apiVersion)!;
  const gained = [...owners]
    .filter(([, entry]) => owns(entry, inScale))
    .map(([id, entry]): ManagedEntry => ({ ...entry, apiVersion, fields: replicas, time: before.get(id)?.time }));
  // Keyed by index instead of identity, because an updater may get two entries, as on the real server.
  const all = [...kept.filter((entry) => !isEmpty(entry.fields)), ...gained];
  return writeManagedFields(object, new Map(all.map((entry, index) => [String(index), entry])));
}
