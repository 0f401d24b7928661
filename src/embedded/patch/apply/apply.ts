// Server-side apply: merges a configuration into the live object, removes fields that its manager no longer sends, and
// refuses to change fields of other managers. Called for `application/apply-patch+yaml`.
import { timestamp } from '../../../kube/times.ts';
import type { Schema } from '../../schema/types.ts';
import { ApplyConflict, PatchError } from '../errors.ts';
import { compareStrings, pathText } from '../fields/field-path.ts';
import { abandonedFields, pruneInVersions } from './prune.ts';
import { difference, fieldPaths, type FieldSet } from '../fields/field-set.ts';
import { isObject, sameJson, type JsonObject } from '../json.ts';
import { clientSideFields, KUBECTL, refreshLastApplied } from './last-applied.ts';
import {
  dropEmpty,
  identity,
  readManagedFields,
  withoutManagedFields,
  writeManagedFields,
} from '../managed-fields/managed-fields.ts';
import type { Managed, ManagedEntry } from '../managed-fields/managed-fields.ts';
import { withObjectMeta } from '../typed/object-meta.ts';
import { fitToSchema, ownable, transferOwnership, type FieldConflict } from '../managed-fields/ownership.ts';
import { ItemError } from '../typed/shape.ts';
import { recordUpdate } from '../managed-fields/track-update.ts';
import { fieldsOf } from '../typed/fields.ts';
import { mergeTyped } from '../typed/merge.ts';
import { removeFieldsKeepingParents, removeFields } from '../typed/remove.ts';
import { structureErrors } from '../typed/validate.ts';
import { MissingVersion, type Versions } from '../managed-fields/versions.ts';

interface ApplyRequest {
  readonly schema: Schema;
  /** The stored object; undefined when the apply creates it. */
  readonly live: JsonObject | undefined;
  readonly applied: JsonObject;
  readonly manager: string;
  readonly force: boolean;
  readonly apiVersion: string;
  readonly subresource?: string;
  /** Access to other API versions, if the kind has several. */
  readonly versions?: Versions | undefined;
  readonly now: number;
}

/**
 * Applies a configuration. Returns the `live` object itself when nothing changed.
 * Fields that the endpoint does not write, such as `status`, must not be in `applied`.
 */
export function applyPatch(request: ApplyRequest): { object: JsonObject } {
  checkConfiguration(request);
  try {
    return { object: apply({ ...request, schema: withObjectMeta(request.schema) }) };
  } catch (error) {
    if (error instanceof MissingVersion) throw new PatchError(500, error.message);
    if (!(error instanceof ItemError)) throw error;
    throw new PatchError(422, `failed to apply to ${nameOf(request.applied)}: ${error.message}`);
  }
}

function apply(request: ApplyRequest): JsonObject {
  const { schema, applied, apiVersion, manager, versions } = request;
  const before = withoutManagedFields(request.live ?? { apiVersion, kind: applied['kind'] });
  const known = fitToSchema(schema, managersBefore(request, before), apiVersion, versions);
  const who = { manager, operation: 'Apply', apiVersion, subresource: request.subresource ?? '' } as const;
  const self = identity(who);
  const last = known.get(self);
  const mine: ManagedEntry = { ...who, time: last?.time, fields: fieldsOf(schema, applied) };
  const claims = new Map([...known, [self, mine]]);

  const merged = mergeTyped(schema, before, applied) as JsonObject;
  const { after, trimmed } = prune(request, merged, claims, last);
  const { managed, conflicts } = transferOwnership(schema, before, after, claims, { self, apiVersion, versions });
  if (!request.force)
    refuseConflicts(conflicts, manager === KUBECTL ? clientSideFields(schema, before, apiVersion) : undefined);

  const time = sameJson(before, after) ? mine.time : timestamp(request.now);
  const owners = dropEmpty(new Map([...managed, [self, { ...mine, time, fields: ownable(mine.fields) }]]));
  const synced = manager === KUBECTL ? refreshLastApplied(trimmed, applied) : trimmed;
  const object = writeManagedFields(synced, owners);
  return request.live !== undefined && sameJson(object, request.live) ? request.live : object;
}

/** The merged object without fields that its manager no longer sends: `after` for comparison, `trimmed` for storage. */
function prune(
  { schema, apiVersion, versions }: ApplyRequest,
  merged: JsonObject,
  claims: Managed,
  last: ManagedEntry | undefined,
): { readonly after: JsonObject; readonly trimmed: JsonObject } {
  if (last === undefined) return { after: merged, trimmed: merged };
  const foreign = [last, ...claims.values()].some((entry) => entry.apiVersion !== apiVersion);
  if (foreign && versions !== undefined) {
    const pruned = pruneInVersions(versions, merged, claims, last, apiVersion);
    return { after: pruned, trimmed: pruned };
  }
  const gone = abandonedFields(schema, merged, claims, last.fields);
  return {
    after: removeFieldsKeepingParents(schema, merged, gone) as JsonObject,
    trimmed: removeFields(schema, merged, gone) as JsonObject,
  };
}

/** Fields of an untracked object get an entry of their own, so that the apply does not remove them. */
function managersBefore(request: ApplyRequest, before: JsonObject): Managed {
  const { schema, live, apiVersion, subresource, now } = request;
  const managed = readManagedFields(live);
  if (managed.size > 0) return managed;
  const nothing = { apiVersion, kind: request.applied['kind'] };
  return recordUpdate(schema, nothing, before, managed, {
    manager: 'before-first-apply',
    apiVersion,
    subresource,
    now,
  });
}

function refuseConflicts(conflicts: readonly FieldConflict[], allowed: FieldSet | undefined): void {
  const disputed = conflicts
    .toSorted((left, right) => compareStrings(left.owner, right.owner))
    .map(({ entry, fields }) => ({
      owner: describe(entry),
      paths: [...fieldPaths(allowed === undefined ? fields : difference(fields, allowed))].map(pathText),
    }))
    .filter(({ paths }) => paths.length > 0);
  if (disputed.length === 0) return;
  const causes = disputed.flatMap(({ owner, paths }) =>
    paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${owner}`, field })),
  );
  const [first] = causes;
  const list = disputed.flatMap(({ owner, paths }) => [
    `conflicts with ${owner}:`,
    ...paths.map((path) => `- ${path}`),
  ]);
  throw new ApplyConflict(
    causes.length === 1
      ? `Apply failed with 1 conflict: ${first!.message}: ${first!.field}`
      : `Apply failed with ${causes.length} conflicts: ${list.join('\n')}`,
    causes,
  );
}

function describe({ manager, operation, apiVersion, subresource }: ManagedEntry): string {
  const name = JSON.stringify(manager) + (subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`);
  return operation === 'Update' ? `${name} using ${apiVersion}` : name;
}

function checkConfiguration({ schema, applied, apiVersion }: ApplyRequest): void {
  const metadata = applied['metadata'];
  if (applied['apiVersion'] !== apiVersion) {
    const found = typeof applied['apiVersion'] === 'string' ? applied['apiVersion'] : '';
    throw new PatchError(
      400,
      `Incorrect version specified in apply patch. Specified patch version: ${found}, expected: ${apiVersion}`,
    );
  }
  if (isObject(metadata) && metadata['managedFields'] !== undefined && metadata['managedFields'] !== null) {
    throw new PatchError(400, 'metadata.managedFields must be nil');
  }
  const errors = structureErrors(withObjectMeta(schema), applied);
  if (errors.length === 0) return;
  const text = errors.length === 1 ? errors[0]! : `errors:\n${errors.map((error) => `  ${error}`).join('\n')}`;
  throw new PatchError(400, `failed to create typed patch object (${nameOf(applied)}): ${text}`);
}

function nameOf(object: JsonObject): string {
  const metadata = isObject(object['metadata']) ? object['metadata'] : {};
  const word = (value: unknown): string => (typeof value === 'string' ? value : '');
  const apiVersion = word(object['apiVersion']);
  const groupVersion = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
  return `${word(metadata['namespace'])}/${word(metadata['name'])}; ${groupVersion}, Kind=${word(object['kind'])}`;
}
