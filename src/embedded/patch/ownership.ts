// How ownership of fields moves when an object changes: the part that applying and updating have in common.
import type { Schema } from '../schema/types.ts';
import { fieldElement } from './field-path.ts';
import { difference, fieldSetOf, intersection, isEmpty, union, type FieldSet } from './field-set.ts';
import type { JsonObject } from './json.ts';
import { dropEmpty, type ManagedEntry, type Managed } from './managed-fields.ts';
import { compareTyped, type Comparison } from './typed-compare.ts';
import { withAtomicParts } from './typed-fields.ts';

/** Fields that another manager owns and that are about to change. */
export interface FieldConflict {
  readonly owner: string;
  readonly entry: ManagedEntry;
  readonly fields: FieldSet;
}

interface Transfer {
  readonly managed: Managed;
  readonly comparison: Comparison;
  readonly conflicts: readonly FieldConflict[];
}

const UNOWNED_METADATA = [
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
];

const UNOWNED = fieldSetOf(
  ...['apiVersion', 'kind', 'metadata'].map((name) => [fieldElement(name)]),
  ...UNOWNED_METADATA.map((name) => [fieldElement('metadata'), fieldElement(name)]),
);

/** The fields without those that belong to the server. */
export function ownable(fields: FieldSet): FieldSet {
  return difference(fields, UNOWNED);
}

/** Takes what changed from everyone but `self`; what was removed leaves every set. */
export function transferOwnership(
  schema: Schema,
  before: JsonObject,
  after: JsonObject,
  managed: Managed,
  self: string | undefined,
): Transfer {
  const comparison = compareTyped(schema, before, after);
  const changed = union(comparison.modified, comparison.added);
  const conflicts: FieldConflict[] = [];
  const remaining = new Map<string, ManagedEntry>();
  for (const [owner, entry] of managed) {
    if (owner === self) {
      remaining.set(owner, entry);
      continue;
    }
    const taken = intersection(entry.fields, changed);
    if (!isEmpty(taken)) conflicts.push({ owner, entry, fields: taken });
    remaining.set(owner, { ...entry, fields: difference(difference(entry.fields, taken), comparison.removed) });
  }
  return { managed: dropEmpty(remaining), comparison, conflicts };
}

/** The entries as they read under today's schema. */
export function fitToSchema(schema: Schema, managed: Managed): Managed {
  return new Map(
    [...managed].map(([id, entry]) => [id, { ...entry, fields: withAtomicParts(schema, entry.fields) }] as const),
  );
}
