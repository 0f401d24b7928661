// Transfers ownership of fields when an object changes. Shared by apply and update.
import type { Schema } from '../../schema/types.ts';
import { fieldElement } from '../fields/field-path.ts';
import { difference, fieldSetOf, intersection, isEmpty, union, type FieldSet } from '../fields/field-set.ts';
import type { JsonObject } from '../json.ts';
import { dropEmpty, type ManagedEntry, type Managed } from './managed-fields.ts';
import { compareTyped, type Comparison } from '../typed/compare.ts';
import { withObjectMeta } from '../typed/object-meta.ts';
import { withAtomicParts } from '../typed/fields.ts';
import type { Versions } from './versions.ts';

/** Fields of another manager that would change. */
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

/** Removes fields that belong to the server. */
export function ownable(fields: FieldSet): FieldSet {
  return difference(fields, UNOWNED);
}

/** The writer, the API version of the write, and access to other versions. */
interface Writing {
  readonly self?: string;
  readonly apiVersion: string;
  readonly versions?: Versions | undefined;
}

/** Removes changed fields from all managers but `self`, and deleted fields from all managers. */
export function transferOwnership(
  schema: Schema,
  before: JsonObject,
  after: JsonObject,
  managed: Managed,
  { self, apiVersion, versions }: Writing,
): Transfer {
  const comparison = compareTyped(schema, before, after);
  const comparisons = new Map([[apiVersion, comparison]]);
  const comparisonIn = (version: string): Comparison => {
    if (versions === undefined) return comparison;
    let found = comparisons.get(version);
    if (found === undefined) comparisons.set(version, (found = compareIn(versions, before, after, version)));
    return found;
  };
  const conflicts: FieldConflict[] = [];
  const remaining = new Map<string, ManagedEntry>();
  for (const [owner, entry] of managed) {
    if (owner === self) {
      remaining.set(owner, entry);
      continue;
    }
    const seen = comparisonIn(entry.apiVersion);
    const taken = intersection(entry.fields, union(seen.modified, seen.added));
    if (!isEmpty(taken)) conflicts.push({ owner, entry, fields: taken });
    remaining.set(owner, { ...entry, fields: difference(difference(entry.fields, taken), seen.removed) });
  }
  return { managed: dropEmpty(remaining), comparison, conflicts };
}

/** Compares two objects in another API version. */
function compareIn(versions: Versions, before: JsonObject, after: JsonObject, apiVersion: string): Comparison {
  const schema = versions.schemaOf(apiVersion);
  const [old, next] = [versions.convert(before, apiVersion), versions.convert(after, apiVersion)];
  return compareTyped(withObjectMeta(schema), old, next);
}

/** Adapts the entries to the current schemas of their versions: fields that became atomic are owned as a whole. */
export function fitToSchema(schema: Schema, managed: Managed, apiVersion: string, versions?: Versions): Managed {
  const schemaOf = (entry: ManagedEntry): Schema => {
    const other = entry.apiVersion === apiVersion ? undefined : versions?.schemaOf(entry.apiVersion);
    return other === undefined ? schema : withObjectMeta(other);
  };
  return new Map(
    [...managed].map(
      ([id, entry]) => [id, { ...entry, fields: withAtomicParts(schemaOf(entry), entry.fields) }] as const,
    ),
  );
}
