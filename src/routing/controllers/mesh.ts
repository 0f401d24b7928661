// The controller for a Mesh of AWS App Mesh: what its pods and rules ask for becomes objects of the App Mesh controller.
import { Mesh, MeshGroup, RoutingRule } from '../../api/routing.ts';
import { Upstream } from '../../api/upstream.ts';
import { defineController } from '../../controller/index.ts';
import type { ControllerDefinition, Plan, View } from '../../controller/index.ts';
import { edit, keyOf } from '../../kube/index.ts';
import type { AnyKind, Step } from '../../kube/index.ts';
import { problems } from '../errors.ts';
import type { Diagnostic, Problem } from '../errors.ts';
import type { Mesh as MeshValue, MeshPlan } from '../model.ts';
import { meshes } from '../models/decoded.ts';
import { partsIn } from '../models/parts.ts';
import type { Models } from '../models/index.ts';
import type { Guards } from '../reconcile/decide.ts';
import { reconcileObjects } from './objects.ts';
import { eventsFor, soloStatus } from './status.ts';
import type { Findings } from './status.ts';
import { routingTables } from './tables.ts';

/** On meshes of AWS App Mesh alone: others are not ours to keep. */
const MESH_FINALIZER = 'offshoot.dev/routing';

/** Kinds without which a translation would take everything for gone. */
const INPUTS: readonly AnyKind[] = [MeshGroup, RoutingRule, Upstream] as readonly AnyKind[];

export function meshController(models: Models): ControllerDefinition {
  return defineController<Mesh>({
    name: 'routing',
    kind: Mesh,
    reads: routingTables,
    plan: (view, mesh) => planMesh(view, mesh, models),
  });
}

function planMesh(view: View, mesh: Mesh, models: Models): Plan {
  const key = keyOf(mesh.metadata);
  const decoded = view.read.get(view.model(meshes), key);
  const isHeld = mesh.metadata.finalizers?.includes(MESH_FINALIZER) ?? false;
  const value = decoded !== undefined && 'value' in decoded ? decoded.value : undefined;
  const isLeaving = mesh.metadata.deletionTimestamp !== undefined || (value !== undefined && !value.isAppMesh);
  if (isLeaving) return isHeld ? planRemoval(view, mesh) : {};
  if (decoded !== undefined && 'invalid' in decoded) {
    return mesh.spec?.awsAppMesh ? tell(mesh, { rejected: [decoded.invalid], notProgrammed: [] }) : {};
  }
  const plan = view.read.get(view.model(models.plans.meshPlans), key);
  if (value === undefined || plan === undefined) return {};
  const hold: readonly Step[] = isHeld ? [] : [edit(Mesh, mesh, withFinalizer(mesh))];
  const { steps, findings } = planObjects(view, value, plan, models);
  return { ...tell(mesh, findings), steps: [...hold, ...steps] };
}

/** Writes what can be written. A mesh that can not be translated as a whole stays as it is. */
function planObjects(
  view: View,
  mesh: MeshValue,
  plan: MeshPlan,
  models: Models,
): { readonly steps: readonly Step[]; readonly findings: Findings } {
  const leftOut = plan.diagnostics.filter(({ object }) => !object.startsWith('Mesh ')).map(named);
  const rejected = (problem: Problem) => ({ steps: [], findings: { rejected: [problem], notProgrammed: [], leftOut } });
  if (plan.failure !== undefined) return rejected(plan.failure);
  const missing = INPUTS.filter((kind) => !view.served(kind)).map(({ plural, group }) => `${plural}.${group}`);
  if (missing.length > 0) {
    return { steps: [], findings: { rejected: [], notProgrammed: [problems.inputMissing(missing)], leftOut } };
  }
  const emitted = partsIn(view, models.plans, models.objects, keyOf(mesh.ref));
  if (emitted === undefined) return { steps: [], findings: { rejected: [], notProgrammed: [], isPending: true } };
  if ('problem' in emitted) return rejected(emitted.problem);
  const { adopt, allowEmpty, maxDeleteFraction } = mesh;
  const guards: Guards = { unresolved: plan.unresolved, adopt, allowEmpty, maxDeleteFraction, isEnding: false };
  const { steps, problems: notProgrammed } = reconcileObjects(view, keyOf(mesh.ref), emitted.parts, guards);
  return { steps, findings: { rejected: [], notProgrammed, leftOut, warnings: emitted.warnings } };
}

/** Everything that was made for the mesh goes, in order, and then the mesh itself. */
function planRemoval(view: View, mesh: Mesh): Plan {
  const guards = { unresolved: [], adopt: false, allowEmpty: true, maxDeleteFraction: 1, isEnding: true };
  const { steps, problems: found, isGone } = reconcileObjects(view, keyOf(mesh.metadata), [], guards);
  if (isGone) return { steps: [edit(Mesh, mesh, withoutFinalizer(mesh))] };
  return { steps, ...(found.length > 0 && tell(mesh, { rejected: [], notProgrammed: found })) };
}

function tell(mesh: Mesh, findings: Findings): Pick<Plan, 'status' | 'events'> {
  const status = soloStatus(mesh, findings);
  return { status, events: eventsFor(mesh, status) };
}

function named({ object, code, message }: Diagnostic): Problem {
  return { code, message: `${object}: ${message}` };
}

function withFinalizer(mesh: Mesh): Mesh {
  const finalizers = [...(mesh.metadata.finalizers ?? []), MESH_FINALIZER];
  return { ...mesh, metadata: { ...mesh.metadata, finalizers } };
}

function withoutFinalizer(mesh: Mesh): Mesh {
  const finalizers = mesh.metadata.finalizers?.filter((name) => name !== MESH_FINALIZER) ?? [];
  return { ...mesh, metadata: { ...mesh.metadata, finalizers } };
}
