// Takes over an object that another program made by updates, before our first apply to it. Without this the fields that
// it set stay its own, and those that we do not want would stay forever: an apply takes away only what it once applied.
import type { Json, KubeObject, ManagedFieldsEntry } from '../objects.ts';

type Fields = { readonly [name: string]: Json | undefined };

/** Whether a field manager has applied an object, and never written to it in another way: then it has taken it over. */
export function isAppliedOnly({ metadata: { managedFields = [] } }: KubeObject, manager: string): boolean {
  const ours = managedFields.filter((entry) => entry.manager === manager && !entry.subresource);
  return ours.length > 0 && ours.every(({ operation }) => operation === 'Apply');
}

/**
 * The managedFields of an object with all that its maker set by updates made ours, as if we had applied it; undefined
 * when there is nothing to take over. Its maker is whoever set `annotation`.
 */
export function takenOver(
  object: KubeObject,
  annotation: string,
  manager: string,
): readonly ManagedFieldsEntry[] | undefined {
  const { managedFields = [] } = object.metadata;
  const makers = new Set(
    managedFields
      .filter(({ fieldsV1 }) => has(fieldsV1, 'f:metadata', 'f:annotations', `f:${annotation}`))
      .map((entry) => entry.manager),
  );
  const isTheirs = ({ manager: name, operation, subresource }: ManagedFieldsEntry): boolean =>
    makers.has(name) && operation === 'Update' && !subresource;
  const theirs = managedFields.filter(isTheirs);
  const [first] = theirs;
  if (first === undefined) return undefined;
  const isOurs = ({ manager: name, operation, subresource }: ManagedFieldsEntry): boolean =>
    name === manager && operation === 'Apply' && !subresource;
  const all = [...managedFields.filter(isOurs), ...theirs];
  const fieldsV1 = all.map((entry) => (entry.fieldsV1 ?? {}) as Fields).reduce(union);
  const ours = { ...first, manager, operation: 'Apply' as const, fieldsV1 };
  return [...managedFields.filter((entry) => !all.includes(entry)), ours];
}

function has(fields: unknown, ...path: readonly string[]): boolean {
  const [name, ...rest] = path;
  if (name === undefined) return true;
  return typeof fields === 'object' && fields !== null && name in fields && has((fields as Fields)[name], ...rest);
}

function union(a: Fields, b: Fields): Fields {
  const merged: Record<string, Json | undefined> = { ...a };
  for (const [name, inner] of Object.entries(b)) {
    merged[name] = name in merged ? union(merged[name] as Fields, inner as Fields) : inner;
  }
  return merged;
}
