// Finds objects by reference, as SuperGloo does: the first in the list with the name and, if the reference has one, the
// namespace.
import type { Ref } from '../model.ts';

export type Find<T> = (ref: Ref) => T | undefined;

export function finder<T extends { readonly ref: Ref }>(items: readonly T[]): Find<T> {
  const byName = new Map<string, T[]>();
  for (const item of items) {
    const same = byName.get(item.ref.name);
    if (same === undefined) byName.set(item.ref.name, [item]);
    else same.push(item);
  }
  return ({ name, namespace }) => byName.get(name)?.find(({ ref }) => namespace === '' || ref.namespace === namespace);
}
