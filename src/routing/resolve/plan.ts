// A mesh, its rules and its workloads → MeshPlan. Only this file decides how far a problem reaches in each mode.
import { diagnostic, problems } from '../errors.ts';
import type { Diagnostic, Problem } from '../errors.ts';
import { keyOf } from '../model.ts';
import type { Mesh, MeshPlan, Mode, Ref, Rule, Snapshot } from '../model.ts';
import { byText } from '../names.ts';
import { mergeRules } from './hosts.ts';
import type { MergeOptions } from './hosts.ts';
import { resolveRule } from './rule.ts';
import type { RulePlan } from './rule.ts';
import { resolveWorkloads } from './workloads.ts';
import type { WorkloadOptions, Workloads } from './workloads.ts';

export interface AssembleOptions extends MergeOptions, WorkloadOptions {
  readonly allowAll: boolean;
  /** An older Mesh for the same mesh at AWS. */
  readonly sameMesh: Ref | undefined;
}

export interface PlanOptions extends Omit<AssembleOptions, 'sameMesh'> {
  /** Checks a rule against the capabilities of a back end, and adds problems. */
  readonly check: (rule: RulePlan) => RulePlan;
}

/** The maximum length of a name at AWS. */
const LONGEST_NAME = 255;

/** The name of a mesh at AWS. SuperGloo uses only the name of the object. */
export function meshNameOf({ ref, awsName }: Mesh, mode: Mode): string {
  return mode === 'strict' ? (awsName ?? ref.name) : ref.name;
}

export function planMesh(mesh: Mesh, rules: readonly Rule[], snapshot: Snapshot, options: PlanOptions): MeshPlan {
  const { mode, check } = options;
  const workloads = resolveWorkloads(meshNameOf(mesh, mode), snapshot, options);
  const sameMesh = sameMeshAs(mesh, snapshot.meshes, mode);
  return assemblePlan(mesh, workloads, () => rules.map((rule) => check(resolveRule(rule, workloads, mode))), {
    ...options,
    sameMesh,
  });
}

/** The oldest of the other meshes with the same name and region at AWS, if it is older than this one. */
export function sameMeshAs(mesh: Mesh, meshes: readonly Mesh[], mode: Mode): Ref | undefined {
  // In SuperGloo they overwrite each other.
  if (mode === 'compat') return undefined;
  const same = meshes.filter(
    (each) => each.isAppMesh && meshNameOf(each, mode) === meshNameOf(mesh, mode) && each.region === mesh.region,
  );
  const [first] = same.length < 2 ? [] : same.toSorted((a, b) => byText(a.createdAt, b.createdAt));
  return first === undefined || keyOf(first.ref) === keyOf(mesh.ref) ? undefined : first.ref;
}

/** The plan of a mesh from its workloads and rules. Rules are resolved only if the mesh itself is valid. */
export function assemblePlan(
  mesh: Mesh,
  workloads: Workloads,
  resolveRules: () => readonly RulePlan[],
  options: AssembleOptions,
): MeshPlan {
  const { mode, allowAll } = options;
  const name = meshNameOf(mesh, mode);
  const empty: MeshPlan = {
    mesh: mesh.ref,
    name,
    workloads: [],
    services: [],
    hostRoutes: [],
    connectivity: allowAll ? 'all' : 'routed',
    rules: [],
    unresolved: [],
    unresolvedHosts: [],
    diagnostics: [],
  };
  const ofMesh = (problem: Problem): Diagnostic => diagnostic('error', 'Mesh', mesh.ref, problem);
  const failed = (problem: Problem, reported: Diagnostic = ofMesh(problem), prefix = ''): MeshPlan => ({
    ...empty,
    isRejected: true,
    diagnostics: [reported],
    failure: { code: problem.code, message: `translating mesh config: ${prefix}${problem.message}` },
  });
  if (name.length < 1 || name.length > LONGEST_NAME) {
    return failed(problems.nameInvalid('a mesh', name, `AWS App Mesh allows 1 to ${LONGEST_NAME} characters`));
  }

  const { sameMesh } = options;
  if (sameMesh !== undefined) return failed(problems.meshDuplicate(name, sameMesh));

  const [firstFound] = workloads.problemsFound;
  if (mode === 'compat' && firstFound !== undefined) {
    const { kind, ref = mesh.ref, problem } = firstFound;
    return failed(problem, diagnostic('error', kind, ref, problem));
  }
  const [failure] = workloads.failures;
  if (mode === 'compat' && failure !== undefined) return failed(failure);

  const plans = resolveRules();
  const merged = mergeRules(plans, workloads, options);
  const rejected = merged.rules.find((rule) => rule.rejected !== undefined);
  if (mode === 'compat' && rejected !== undefined) {
    const problem = rejected.rejected!;
    const reported = diagnostic('error', 'RoutingRule', rejected.rule, problem);
    // Misspelled as in SuperGloo, because people search for it.
    return failed(problem, reported, `failed to process routing role ${keyOf(rejected.rule)}: `);
  }
  if (mode === 'compat' && merged.failure !== undefined) return failed(merged.failure);

  const failures = [...workloads.failures, ...(merged.failure ? [merged.failure] : [])];
  const diagnostics = [
    ...workloads.problemsFound.map(({ kind, ref = mesh.ref, problem }) =>
      diagnostic(kind === 'Upstream' ? 'error' : 'warning', kind, ref, problem),
    ),
    ...failures.map(ofMesh),
    ...merged.rules.flatMap(({ rule, rejected: problem }) =>
      problem === undefined ? [] : [diagnostic('error', 'RoutingRule', rule, problem)],
    ),
    ...plans.flatMap(({ rule, warnings }, i) =>
      merged.rules[i]!.rejected === undefined
        ? warnings.map((problem) => diagnostic('warning', 'RoutingRule', rule, problem))
        : [],
    ),
    ...merged.warnings.map(({ rule, problem }) => diagnostic('warning', 'RoutingRule', rule, problem)),
  ];
  return {
    ...empty,
    workloads: workloads.workloads,
    services: workloads.services,
    hostRoutes: merged.hostRoutes,
    rules: merged.rules,
    unresolved: workloads.unresolved,
    unresolvedHosts: merged.unresolvedHosts,
    diagnostics,
    ...(failures.length > 0 && { failure: failures[0]! }),
  };
}
