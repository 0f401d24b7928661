// Checks the names of a CustomResourceDefinition for conflicts, and sets its conditions.
import { isDeepStrictEqual } from 'node:util';
import { at, conditionIsTrue, isObject, objects, strings, text } from '../kinds/read.ts';
import type { ApiObject } from '../resource.ts';

/** The accepted names of the other definitions of a group. */
interface TakenNames {
  /** Plurals, singulars and short names must be unique together, because users type any of them. */
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

function takenNames(definition: ApiObject, others: readonly ApiObject[]): TakenNames {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  const group = text(definition, 'spec', 'group');
  const name = text(definition, 'metadata', 'name');
  for (const other of others) {
    if (text(other, 'spec', 'group') !== group || text(other, 'metadata', 'name') === name) continue;
    const accepted = at(other, 'status', 'acceptedNames');
    for (const field of ['plural', 'singular']) resources.add(text(accepted, field));
    for (const short of strings(accepted, 'shortNames')) resources.add(short);
    for (const field of ['kind', 'listKind']) kinds.add(text(accepted, field));
  }
  resources.delete('');
  kinds.delete('');
  return { resources, kinds };
}

const conflictReasons: Readonly<Record<string, string>> = {
  plural: 'PluralConflict',
  singular: 'SingularConflict',
  shortNames: 'ShortNamesConflict',
  kind: 'KindConflict',
  listKind: 'ListKindConflict',
};

/** The status of a definition. Without conflicts it is established at once, because the server serves it at once. */
export function acceptedStatus(definition: ApiObject, others: readonly ApiObject[], now: string): ApiObject {
  const requested = at(definition, 'spec', 'names');
  const before = at(definition, 'status', 'acceptedNames');
  const taken = takenNames(definition, others);
  const accepted: Record<string, unknown> = isObject(requested) ? { ...requested } : {};
  let conflict: { reason: string; message: string } | undefined;
  const refuse = (field: string, name: string): void => {
    conflict = { reason: conflictReasons[field]!, message: `${JSON.stringify(name)} is already in use` };
    const old = at(before, field);
    if (old !== undefined) accepted[field] = old;
    // These two fields are required, so they become empty instead.
    else if (field === 'plural' || field === 'kind') accepted[field] = '';
    else delete accepted[field];
  };
  for (const field of ['plural', 'singular'])
    if (taken.resources.has(text(requested, field))) refuse(field, text(requested, field));
  const usedShort = strings(requested, 'shortNames').find((short) => taken.resources.has(short));
  if (usedShort !== undefined) refuse('shortNames', usedShort);
  for (const field of ['kind', 'listKind'])
    if (taken.kinds.has(text(requested, field))) refuse(field, text(requested, field));

  const conditions = [
    conflict === undefined
      ? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
      : { type: 'NamesAccepted', status: 'False', ...conflict },
    conflict === undefined || isEstablished(definition)
      ? {
          type: 'Established',
          status: 'True',
          reason: 'InitialNamesAccepted',
          message: 'the initial names have been accepted',
        }
      : { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' },
  ];
  const storage = objects(definition, 'spec', 'versions').find((version) => version['storage'] === true);
  const stored = new Set([...strings(definition, 'status', 'storedVersions'), text(storage, 'name')]);
  return {
    conditions: conditions.map((condition) => withTransition(condition, definition, now)),
    // In the order of the definition, so that an unchanged status stays equal.
    acceptedNames: accepted,
    storedVersions: [...stored].filter((version) => version !== ''),
  };
}

/** Whether a definition is served. */
export function isEstablished(definition: ApiObject): boolean {
  return conditionIsTrue(definition, 'Established');
}

function withTransition(condition: { type: string; status: string }, definition: ApiObject, now: string): ApiObject {
  const old = objects(definition, 'status', 'conditions').find((item) => item['type'] === condition.type);
  if (old !== undefined && old['status'] === condition.status) {
    const same = { ...condition, lastTransitionTime: old['lastTransitionTime'] };
    return isDeepStrictEqual(same, old) ? old : same;
  }
  return { ...condition, lastTransitionTime: now };
}
