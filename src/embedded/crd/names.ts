// Which names of a custom resource definition are free, and the conditions that say so.
import { isDeepStrictEqual } from 'node:util';
import { at, conditionIsTrue, isObject, objects, strings, text } from '../kinds/read.ts';
import type { ApiObject } from '../resource.ts';

/** The names that a group's other definitions were granted. */
interface TakenNames {
  /** Plurals, singulars and short names share one space: each is what a user types. */
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

/** The status of a definition once the server has looked at it. Established at once: the server serves it at once. */
export function acceptedStatus(definition: ApiObject, others: readonly ApiObject[], now: string): ApiObject {
  const asked = at(definition, 'spec', 'names');
  const before = at(definition, 'status', 'acceptedNames');
  const taken = takenNames(definition, others);
  const accepted: Record<string, unknown> = isObject(asked) ? { ...asked } : {};
  let conflict: { reason: string; message: string } | undefined;
  const refuse = (field: string, name: string): void => {
    conflict = { reason: conflictReasons[field]!, message: `${JSON.stringify(name)} is already in use` };
    const old = at(before, field);
    if (old !== undefined) accepted[field] = old;
    // These two are never absent, only empty.
    else if (field === 'plural' || field === 'kind') accepted[field] = '';
    else delete accepted[field];
  };
  for (const field of ['plural', 'singular'])
    if (taken.resources.has(text(asked, field))) refuse(field, text(asked, field));
  const usedShort = strings(asked, 'shortNames').find((short) => taken.resources.has(short));
  if (usedShort !== undefined) refuse('shortNames', usedShort);
  for (const field of ['kind', 'listKind']) if (taken.kinds.has(text(asked, field))) refuse(field, text(asked, field));

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
    // Kept in the definition's own order, so that a status without news is the same status.
    acceptedNames: accepted,
    storedVersions: [...stored].filter((version) => version !== ''),
  };
}

/** Is a definition served? */
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
