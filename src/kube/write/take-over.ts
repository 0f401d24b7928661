// Takes over an object that another program created by updates, before our first apply to it. Otherwise the program
// would keep owning its fields, and unwanted ones would stay forever: an apply removes only what it applied before.
import type { Json, KubeObject, ManagedFieldsEntry } from '../objects.ts';

type FieldSet = { readonly [name: string]: Json | undefined };

/** Whether a field manager has written an object only by apply: then it has already taken it over. */
export function isAppliedOnly({ metadata: { managedFields = [] } }: KubeObject, manager: string): boolean {
  const ours = managedFields.filter((entry) => entry.manager === manager && !entry.subresource);
  return ours.length > 0 && ours.every(({ operation }) => operation === 'Apply');
}

/**
 * The managedFields of an object after taking over the fields that its creator set by updates, as if we had applied
 * them; undefined if there is nothing to take over. The creator is the field manager that set `annotation`.
 */
export function takenOver(
  object: KubeObject,
  annotation: string,
  manager: string,
): readonly ManagedFieldsEntry[] | undefined {
  const { managedFields = [] } = object.metadata;
  const creators = new Set(
    managedFields
      .filter(({ fieldsV1 }) => has(fieldsV1, 'f:metadata', 'f:annotations', `f:${annotation}`))
      .map((entry) => entry.manager),
  );
  const isTheirs = ({ manager: name, operation, subresource }: ManagedFieldsEntry): boolean =>
    creators.has(name) && operation === 'Update' && !subresource;
  const theirs = managedFields.filter(isTheirs);
  const [first] = theirs;
  if (first === undefined) return undefined;
  const isOurs = ({ manager: name, operation, subresource }: ManagedFieldsEntry): boolean =>
    name === manager && operation === 'Apply' && !subresource;
  const all = [...managedFields.filter(isOurs), ...theirs];
  const fieldsV1 = all.map((entry) => (entry.fieldsV1 ?? {}) as FieldSet).reduce(union);
  const ours = { ...first, manager, operation: 'Apply' as const, fieldsV1 };
  return [...managedFields.filter((entry) => !all.includes(entry)), ours];
}

function has(fields: unknown, ...path: readonly string[]): boolean {
  const [name, ...rest] = path;
  if (name === undefined) return true;
  return typeof fields === 'object' && fields !== null && name in fields && has((fields as FieldSet)[name], ...rest);
}

function union(a: FieldSet, b: FieldSet): FieldSet {
  const merged: Record<string, Json | undefined> = { ...a };
  for (const [name, inner] of Object.entries(b)) {
    merged[name] = name in merged ? union(merged[name] as FieldSet, inner as FieldSet) : inner;
  }
  return merged;
}
