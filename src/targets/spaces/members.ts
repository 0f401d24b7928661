// The members of a space: users that are bound to it and, unless it disables inheritance, to its parent spaces.
import { Space } from '../../api/spaces.ts';
import type { View } from '../../controller/index.ts';
import { bindingsOf } from './world.ts';

/** Users by role, both sorted. */
export type Members = ReadonlyMap<string, readonly string[]>;

/** The members of a space. The role of a user in the nearest space counts. */
export function membersOf(view: View, space: Space): Members {
  const roles = new Map<string, string>();
  for (const each of ancestorsOf(view, space)) {
    for (const { spec } of bindingsOf(view, each)) {
      if (!roles.has(spec.masterUserRecord)) roles.set(spec.masterUserRecord, spec.spaceRole);
    }
  }
  const users = [...roles].sort(([a], [b]) => (a < b ? -1 : 1));
  const byRole = Map.groupBy(users, ([, role]) => role);
  return new Map(
    [...byRole].sort(([a], [b]) => (a < b ? -1 : 1)).map(([role, of]) => [role, of.map(([user]) => user)]),
  );
}

/** A space and those that it inherits from, nearest first. Stops at a cycle of parents. */
function ancestorsOf(view: View, space: Space, below: readonly Space[] = []): readonly Space[] {
  if (below.includes(space)) return below;
  const spaces = [...below, space];
  const { disableInheritance, parentSpace = '' } = space.spec;
  if (disableInheritance || parentSpace === '') return spaces;
  const parent = view.get(Space, { name: parentSpace, namespace: space.metadata.namespace });
  return parent === undefined ? spaces : ancestorsOf(view, parent, spaces);
}
