// The entries of `metadata.managedFields`. Read and written by apply and update.
import { PatchError } from '../errors.ts';
import { compareStrings } from '../fields/field-path.ts';
import { fromFieldsV1, isEmpty, toFieldsV1, union, type FieldSet } from '../fields/field-set.ts';
import { isList, isObject, withField, withoutField, type JsonObject } from '../json.ts';

type Operation = 'Apply' | 'Update';

/** The fields of one manager. */
export interface ManagedEntry {
  readonly manager: string;
  readonly operation: Operation;
  readonly apiVersion: string;
  readonly subresource: string;
  /** RFC 3339, in seconds; undefined for a manager that never changed a value. */
  readonly time: string | undefined;
  readonly fields: FieldSet;
}

/** The entries by identity. */
export type Managed = ReadonlyMap<string, ManagedEntry>;

const MAX_UPDATE_MANAGERS = 10;

/** The key of an entry. An applier has one entry for all API versions; an updater has one per version. */
export function identity(entry: Pick<ManagedEntry, 'manager' | 'operation' | 'apiVersion' | 'subresource'>): string {
  return JSON.stringify({
    manager: entry.manager === '' ? undefined : entry.manager,
    operation: entry.operation,
    apiVersion: entry.operation === 'Apply' ? undefined : entry.apiVersion,
    subresource: entry.subresource === '' ? undefined : entry.subresource,
  });
}

/** Parses `metadata.managedFields`; throws a PatchError that names the invalid entry. */
export function readManagedFields(object: JsonObject | undefined): Managed {
  const stored = storedEntries(object);
  if (stored === undefined || stored === null) return new Map();
  if (!isList(stored)) throw new PatchError(400, 'metadata.managedFields must be a list');
  const entries = stored.map((entry, index) => readEntry(entry, `metadata.managedFields[${index}]`));
  return new Map(entries.map((entry) => [identity(entry), entry]));
}

function storedEntries(object: JsonObject | undefined): unknown {
  const metadata = object?.['metadata'];
  return isObject(metadata) ? metadata['managedFields'] : undefined;
}

function readEntry(entry: unknown, path: string): ManagedEntry {
  const refuse = (problem: string): never => {
    throw new PatchError(400, `${path}: ${problem}`);
  };
  if (!isObject(entry)) return refuse('must be an object');
  const { manager, operation, apiVersion, subresource, time, fieldsType, fieldsV1 } = entry;
  if (operation !== 'Apply' && operation !== 'Update') return refuse('operation must be `Apply` or `Update`');
  if (typeof apiVersion !== 'string' || apiVersion === '') return refuse('apiVersion must not be empty');
  if (fieldsType !== 'FieldsV1') return refuse('fieldsType must be FieldsV1');
  try {
    return {
      manager: typeof manager === 'string' ? manager : '',
      operation,
      apiVersion,
      subresource: typeof subresource === 'string' ? subresource : '',
      time: typeof time === 'string' ? time : undefined,
      fields: fromFieldsV1(fieldsV1 ?? {}),
    };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return refuse(`fieldsV1: ${error.message}`);
  }
}

/** Sets `metadata.managedFields` to these entries, in stored order; removes the field if there are none. */
export function writeManagedFields(object: JsonObject, managed: Managed): JsonObject {
  if (managed.size === 0) return withoutManagedFields(object);
  const metadata = isObject(object['metadata']) ? object['metadata'] : {};
  const entries = [...managed.values()].sort(compareEntries).map(storeEntry);
  return withField(object, 'metadata', withField(metadata, 'managedFields', entries));
}

export function withoutManagedFields(object: JsonObject): JsonObject {
  const metadata = object['metadata'];
  if (!isObject(metadata) || !Object.hasOwn(metadata, 'managedFields')) return object;
  return withField(object, 'metadata', withoutField(metadata, 'managedFields'));
}

function storeEntry({ manager, operation, apiVersion, subresource, time, fields }: ManagedEntry): JsonObject {
  return {
    ...(manager === '' ? {} : { manager }),
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: toFieldsV1(fields),
    ...(subresource === '' ? {} : { subresource }),
  };
}

function compareEntries(left: ManagedEntry, right: ManagedEntry): number {
  return (
    compareStrings(left.operation, right.operation) ||
    seconds(left) - seconds(right) ||
    compareStrings(left.manager, right.manager) ||
    compareStrings(left.apiVersion, right.apiVersion) ||
    compareStrings(left.subresource, right.subresource)
  );
}

function seconds(entry: ManagedEntry): number {
  return entry.time === undefined ? 0 : Math.floor(Date.parse(entry.time) / 1000);
}

/** Whether a request resets managedFields, with an empty list or one empty entry. */
export function resetsManagedFields(object: JsonObject): boolean {
  const stored = storedEntries(object);
  if (!isList(stored) || stored.length > 1) return false;
  const [entry] = stored;
  return entry === undefined || (isObject(entry) && Object.keys(entry).length === 0);
}

/** Merges the oldest updaters of each version into one entry, which limits the size of objects with many writers. */
export function capUpdateManagers(managed: Managed): Managed {
  const updaters = [...managed].filter(([, entry]) => entry.operation === 'Update');
  let excess = updaters.length - MAX_UPDATE_MANAGERS;
  if (excess <= 0) return managed;
  updaters.sort(
    ([leftId, left], [rightId, right]) => seconds(left) - seconds(right) || compareStrings(leftId, rightId),
  );
  const result = new Map(managed);
  const oldest = new Map<string, string>();
  for (const [id, entry] of updaters) {
    if (excess <= 0) break;
    const first = oldest.get(entry.apiVersion);
    if (first === undefined) {
      oldest.set(entry.apiVersion, id);
      continue;
    }
    const bucket = { ...entry, manager: 'ancient-changes', subresource: '' };
    const bucketId = identity(bucket);
    const before = result.get(bucketId) ?? result.get(first)!;
    if (!result.has(bucketId)) result.delete(first);
    result.delete(id);
    result.set(bucketId, { ...bucket, fields: union(entry.fields, before.fields) });
    excess--;
  }
  return result;
}

/** Removes entries without fields. */
export function dropEmpty(managed: Managed): Managed {
  return new Map([...managed].filter(([, entry]) => !isEmpty(entry.fields)));
}
