// Who may do what in a space: those who were bound to it and, unless it says otherwise, to the spaces above it.
import { Space } from '../../api/spaces.ts';
import type { View } from '../../controller/index.ts';
import { bindingsOf } from './world.ts';

/** Users by role, both in order. */
export type Members = ReadonlyMap<string, readonly string[]>;

/** The members of a space. What somebody is in a space itself counts before what they are above it. */
export function membersOf(view: View, space: Space): Members {
  const roles = new Map<string, string>();
  for (const each of lineOf(view, space)) {
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

/** A space and those that it inherits from, nearest first. A circle of parents ends where it began. */
function lineOf(view: View, space: Space, below: readonly Space[] = []): readonly Space[] {
  if (below.includes(space)) return below;
  const line = [...below, space];
  const { disableInheritance, parentSpace = '' } = space.spec;
  if (disableInheritance || parentSpace === '') return line;
  const parent = view.get(Space, { name: parentSpace, namespace: space.metadata.namespace });
  return parent === undefined ? line : lineOf(view, parent, line);
}
