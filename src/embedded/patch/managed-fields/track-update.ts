// Updates `managedFields` for all writes but server-side apply: create, update, patch, and writes to subresources.
import { timestamp } from '../../../kube/times.ts';
import type { Schema } from '../../schema/types.ts';
import { PatchError } from '../errors.ts';
import { isEmpty, union } from '../fields/field-set.ts';
import { sameJson, type JsonObject } from '../json.ts';
import {
  capUpdateManagers,
  identity,
  readManagedFields,
  resetsManagedFields,
  withoutManagedFields,
  writeManagedFields,
  type Managed,
} from './managed-fields.ts';
import { withObjectMeta } from '../typed/object-meta.ts';
import { fitToSchema, ownable, transferOwnership } from './ownership.ts';
import { ItemError } from '../typed/shape.ts';
import { MissingVersion, type Versions } from './versions.ts';

interface Writer {
  readonly manager: string;
  readonly apiVersion: string;
  readonly subresource?: string | undefined;
  readonly now: number;
  /** Access to other API versions, if the kind has several. */
  readonly versions?: Versions | undefined;
}

interface UpdateRequest extends Writer {
  readonly schema: Schema;
  /** The stored object; undefined when the write creates it. */
  readonly old: JsonObject | undefined;
  /** The fields that every new object of the kind has; the creator does not own them. */
  readonly empty?: JsonObject;
  /** The object to store, with fields that the endpoint does not write already reset. */
  readonly next: JsonObject;
}

/** Returns the new object with `managedFields`, where the writer owns the fields that it changed. */
export function trackUpdate(request: UpdateRequest): JsonObject {
  const { old, next } = request;
  const schema = withObjectMeta(request.schema);
  const known = knownManagers(request);
  const after = withoutManagedFields(next);
  // After a reset, an object is not tracked again until the next apply.
  if (known.size === 0 && old !== undefined) return after;
  const { kind } = next;
  const { apiVersion } = request;
  const before = old === undefined ? { ...request.empty, apiVersion, kind } : withoutManagedFields(old);
  let managed: Managed;
  try {
    managed = recordUpdate(schema, before, after, fitToSchema(schema, known, apiVersion, request.versions), request);
  } catch (error) {
    // The fields of a removed version cannot be converted, so all ownership is dropped.
    if (error instanceof MissingVersion) return after;
    if (!(error instanceof ItemError)) throw error;
    // A list with invalid keys cannot be tracked; validation refuses it.
    managed = known;
  }
  const result = writeManagedFields(after, managed);
  return sameJson(result, next) ? next : result;
}

/** The entries before the write: those of the request, or those of the stored object if they are missing or invalid. */
function knownManagers({ old, next, subresource }: UpdateRequest): Managed {
  if (subresource !== undefined && subresource !== '') return readOrNothing(old);
  if (resetsManagedFields(next)) return new Map();
  const sent = readOrNothing(next);
  return sent.size > 0 ? sent : readOrNothing(old);
}

function readOrNothing(object: JsonObject | undefined): Managed {
  try {
    return readManagedFields(object);
  } catch (error) {
    if (error instanceof PatchError) return new Map();
    throw error;
  }
}

/** Adds the fields that differ between two objects to those of the writer. */
export function recordUpdate(
  schema: Schema,
  before: JsonObject,
  after: JsonObject,
  known: Managed,
  { manager, apiVersion, subresource, now, versions }: Writer,
): Managed {
  const { managed, comparison } = transferOwnership(schema, before, after, known, { apiVersion, versions });
  const changed = ownable(union(comparison.modified, comparison.added));
  if (isEmpty(changed)) return capUpdateManagers(managed);
  const who = {
    manager: manager === '' ? 'unknown' : manager,
    operation: 'Update',
    apiVersion,
    subresource: subresource ?? '',
  } as const;
  const id = identity(who);
  const previous = managed.get(id);
  const fields = previous === undefined ? changed : union(changed, previous.fields);
  return capUpdateManagers(new Map([...managed, [id, { ...who, time: timestamp(now), fields }]]));
}
