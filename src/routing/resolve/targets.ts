// Resolves the target meshes of rules.
import { diagnostic, problems } from '../errors.ts';
import type { Diagnostic, Problem } from '../errors.ts';
import type { Mesh, MeshGroup, Rule, Snapshot } from '../model.ts';
import { finder } from './find.ts';
import type { Find } from './find.ts';

/** The rules of each mesh, in their order. */
export interface Assigned {
  readonly rulesOf: ReadonlyMap<Mesh, readonly Rule[]>;
  readonly diagnostics: readonly Diagnostic[];
}

export function assignRules({ meshes, groups, rules }: Snapshot): Assigned {
  const find = { mesh: finder(meshes), group: finder(groups) };
  const rulesOf = new Map<Mesh, Rule[]>(meshes.map((mesh) => [mesh, []]));
  const diagnostics: Diagnostic[] = [];
  for (const group of groups) {
    for (const problem of groupProblems(group, find.mesh, find.group)) {
      diagnostics.push(diagnostic('error', 'MeshGroup', group.ref, problem));
    }
  }
  for (const rule of rules) {
    const { targets, problem } = targetsOf(rule, find.mesh, find.group);
    for (const mesh of targets) rulesOf.get(mesh)!.push(rule);
    if (problem !== undefined) diagnostics.push(diagnostic('error', 'RoutingRule', rule.ref, problem));
  }
  return { rulesOf, diagnostics };
}

interface Targets {
  readonly targets: readonly Mesh[];
  readonly problem?: Problem;
}

/** The target meshes of a rule that are of a supported type. */
export function targetsOf(rule: Rule, findMesh: Find<Mesh>, findGroup: Find<MeshGroup>): Targets {
  const { targets, problem } = namedBy(rule, findMesh, findGroup);
  const other = targets.find(({ isAppMesh }) => !isAppMesh);
  const found = problem ?? (other && problems.meshUnsupported(rule.ref, other.ref, other.type));
  return { targets: targets.filter(({ isAppMesh }) => isAppMesh), ...(found && { problem: found }) };
}

/** The target meshes of a rule. Of a group with an invalid member, only the members before it count. */
function namedBy({ ref, targetMesh }: Rule, findMesh: Find<Mesh>, findGroup: Find<MeshGroup>): Targets {
  if (targetMesh === undefined) return { targets: [], problem: problems.targetMeshNil(ref) };
  const mesh = findMesh(targetMesh);
  if (mesh !== undefined) return { targets: [mesh] };
  const group = findGroup(targetMesh);
  if (group === undefined) return { targets: [], problem: problems.targetMeshNotFound(ref, targetMesh) };
  const targets: Mesh[] = [];
  for (const [index, member] of group.meshes.entries()) {
    const found = member === null ? undefined : findMesh(member);
    if (found === undefined) {
      return {
        targets,
        problem: problems.groupInvalid(group.ref, member, index, member !== null && Boolean(findGroup(member))),
      };
    }
    targets.push(found);
  }
  return { targets };
}

export function groupProblems(group: MeshGroup, findMesh: Find<Mesh>, findGroup: Find<MeshGroup>): Problem[] {
  return group.meshes.flatMap((member, index) =>
    member !== null && findMesh(member) !== undefined
      ? []
      : [problems.groupInvalid(group.ref, member, index, member !== null && Boolean(findGroup(member)))],
  );
}
