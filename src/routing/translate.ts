// Snapshot → configuration of each of its meshes: plan, check, emit. Pure; called by the command line and by tests.
import type { Backend } from './backends/backend.ts';
import { checkRule, namingOf } from './backends/check.ts';
import { diagnostic, problems } from './errors.ts';
import type { Diagnostic, Problem } from './errors.ts';
import type { MeshPlan, Mode, Snapshot } from './model.ts';
import { planMesh } from './resolve/plan.ts';
import { assignRules } from './resolve/targets.ts';

export interface TranslateOptions {
  readonly mode: Mode;
  /** Let every workload call every service, as in SuperGloo. */
  readonly allowAll: boolean;
}

export interface Translation<Output> {
  readonly plan: MeshPlan;
  /** Absent if the whole mesh is rejected. In strict mode the valid part may come with an error about the rest. */
  readonly output?: Output;
  readonly error?: Problem;
  readonly diagnostics: readonly Diagnostic[];
}

export interface Translated<Output> {
  /** One for each mesh of AWS App Mesh. */
  readonly meshes: readonly Translation<Output>[];
  /** Why there are no meshes. */
  readonly error?: Problem;
  /** Diagnostics that belong to no mesh: about groups, and about rules without a mesh. */
  readonly diagnostics: readonly Diagnostic[];
}

export function translate<Output>(
  snapshot: Snapshot,
  backend: Backend<Output>,
  options: TranslateOptions,
): Translated<Output> {
  const { rulesOf, diagnostics } = assignRules(snapshot);
  const appMeshes = snapshot.meshes.filter(({ isAppMesh }) => isAppMesh);
  const meshes = appMeshes.map((mesh): Translation<Output> => {
    const check = (rule: Parameters<typeof checkRule>[0]) => checkRule(rule, backend, options.mode);
    const plan = planMesh(mesh, rulesOf.get(mesh)!, snapshot, {
      ...options,
      ...namingOf(backend),
      check,
    });
    return emitted(plan, backend, options.mode);
  });
  return { meshes, ...(meshes.length === 0 && { error: problems.noMesh() }), diagnostics };
}

function emitted<Output>(plan: MeshPlan, backend: Backend<Output>, mode: Mode): Translation<Output> {
  const { failure, diagnostics, isRejected } = plan;
  if (failure !== undefined && isRejected) return { plan, error: failure, diagnostics };
  const emission = backend.emit(plan, mode);
  if ('failure' in emission) {
    const reported = diagnostic('error', 'Mesh', plan.mesh, emission.failure);
    return { plan, error: emission.failure, diagnostics: [...diagnostics, reported] };
  }
  const warnings = emission.warnings.map((problem) => diagnostic('warning', 'Mesh', plan.mesh, problem));
  return {
    plan,
    output: emission.output,
    ...(failure && { error: failure }),
    diagnostics: [...diagnostics, ...warnings],
  };
}
