// Snapshot → configuration of each mesh in it: plan, check, emit. Pure; the command line and the tests call it.
import type { Backend } from './backends/backend.ts';
import { checkRule, namingOf } from './backends/check.ts';
import { diagnostic, problems } from './errors.ts';
import type { Diagnostic, Problem } from './errors.ts';
import type { MeshPlan, Mode, Snapshot } from './model.ts';
import { planMesh } from './resolve/plan.ts';
import { assignRules } from './resolve/targets.ts';

export interface TranslateOptions {
  readonly mode: Mode;
  /** Let every workload call every service, as the original does. */
  readonly allowAll: boolean;
}

export interface Translation<Output> {
  readonly plan: MeshPlan;
  /** Absent when nothing could be made. In strict mode there may be both: what is sound, and why the rest is not. */
  readonly output?: Output;
  readonly error?: Problem;
  readonly diagnostics: readonly Diagnostic[];
}

export interface Translated<Output> {
  /** One for each mesh of AWS App Mesh. */
  readonly meshes: readonly Translation<Output>[];
  /** Why there is none. */
  readonly error?: Problem;
  /** What belongs to no mesh: groups, and rules for none. */
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
    const told = diagnostic('error', 'Mesh', plan.mesh, emission.failure);
    return { plan, error: emission.failure, diagnostics: [...diagnostics, told] };
  }
  const warnings = emission.warnings.map((problem) => diagnostic('warning', 'Mesh', plan.mesh, problem));
  return {
    plan,
    output: emission.output,
    ...(failure && { error: failure }),
    diagnostics: [...diagnostics, ...warnings],
  };
}
