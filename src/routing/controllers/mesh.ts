// The controller for a Mesh of AWS App Mesh: writes the translation of its pods and rules to the back end.
import { Mesh } from '../../api/routing.ts';
import { defineController } from '../../controller/index.ts';
import type { ControllerDefinition, Plan, View } from '../../controller/index.ts';
import { edit, keyOf } from '../../kube/index.ts';
import type { Step } from '../../kube/index.ts';
import { problems } from '../errors.ts';
import type { Diagnostic, Problem } from '../errors.ts';
import type { Mesh as MeshValue, MeshPlan, Mode } from '../model.ts';
import { meshes } from '../models/decoded.ts';
import type { Models } from '../models/index.ts';
import type { Guards } from '../reconcile/decide.ts';
import { meshGauges } from '../gauges.ts';
import { reportDelay } from './arrival.ts';
import type { MeshBackend } from './backend.ts';
import { guardsOf, missingInputs } from './inputs.ts';
import { eventsFor, soloStatus } from './status.ts';
import type { Findings } from './status.ts';

/** Set only on meshes of AWS App Mesh. */
const MESH_FINALIZER = 'offshoot.dev/routing';

export function meshController(models: Models, backend: MeshBackend, mode: Mode): ControllerDefinition {
  return defineController<Mesh>({
    name: 'routing',
    kind: Mesh,
    chores: backend.chores,
    gauges: meshGauges,
    plan: (view, mesh) => planMesh(view, mesh, models, backend, mode),
  });
}

function planMesh(view: View, mesh: Mesh, models: Models, backend: MeshBackend, mode: Mode): Plan {
  const key = keyOf(mesh.metadata);
  const decoded = view.read.get(view.model(meshes), key);
  const hasFinalizer = mesh.metadata.finalizers?.includes(MESH_FINALIZER) ?? false;
  const value = decoded !== undefined && 'value' in decoded ? decoded.value : undefined;
  const mustBeRemoved = mesh.metadata.deletionTimestamp !== undefined || (value !== undefined && !value.isAppMesh);
  if (mustBeRemoved) return hasFinalizer ? planRemoval(view, mesh, backend, mode) : {};
  if (decoded !== undefined && 'invalid' in decoded) {
    return mesh.spec?.awsAppMesh ? report(mesh, { rejected: [decoded.invalid], notProgrammed: [] }, mode) : {};
  }
  const plan = view.read.get(view.model(models.plans.meshPlans), key);
  if (value === undefined || plan === undefined) return {};
  const addFinalizer: readonly Step[] = hasFinalizer ? [] : [edit(Mesh, mesh, withFinalizer(mesh))];
  const { steps, findings, requeueAfterMs = Infinity } = planContents(view, value, plan, backend);
  const waitMs = reportDelay(view, findings);
  const lookAgainMs = Math.min(requeueAfterMs, waitMs > 0 ? waitMs : Infinity);
  return {
    ...(waitMs === 0 && report(mesh, findings, mode)),
    steps: [...addFinalizer, ...steps],
    ...(lookAgainMs < Infinity && { requeueAfterMs: lookAgainMs }),
  };
}

/** Plans the valid part of a mesh. A mesh that was rejected as a whole is left unchanged. */
function planContents(view: View, mesh: MeshValue, plan: MeshPlan, backend: MeshBackend): Contents {
  const leftOut = leftOutOf(plan);
  const failures = plan.failure ? [plan.failure] : [];
  if (plan.isRejected) return { steps: [], findings: { rejected: failures, notProgrammed: [], leftOut } };
  const missing = missingInputs(view);
  if (missing.length > 0) {
    return { steps: [], findings: { rejected: failures, notProgrammed: [problems.inputMissing(missing)], leftOut } };
  }
  const progress = backend.reconcile(view, keyOf(mesh.ref), guardsOf(mesh, plan));
  const { steps, rejected, problems: notProgrammed, warnings, isPending = false, requeueAfterMs } = progress;
  return {
    steps,
    findings: { rejected: rejected ? [rejected] : failures, notProgrammed, isPending, leftOut, warnings },
    ...(requeueAfterMs !== undefined && { requeueAfterMs }),
  };
}

/** Rules, upstreams and pods that were left out of the mesh. Warnings about a rule are in its own status. */
function leftOutOf({ diagnostics }: MeshPlan): readonly Problem[] {
  return diagnostics
    .filter(
      ({ object, severity }) => object.startsWith('Pod ') || (severity === 'error' && !object.startsWith('Mesh ')),
    )
    .map(named);
}

interface Contents extends Pick<Plan, 'requeueAfterMs'> {
  readonly steps: readonly Step[];
  readonly findings: Findings;
}

/** Removes everything that was made for the mesh, in order, and then the finalizer. */
function planRemoval(view: View, mesh: Mesh, backend: MeshBackend, mode: Mode): Plan {
  const { steps, problems: found, isGone } = backend.reconcile(view, keyOf(mesh.metadata), DELETING);
  if (isGone) return { steps: [edit(Mesh, mesh, withoutFinalizer(mesh))] };
  return { steps, ...(found.length > 0 && report(mesh, { rejected: [], notProgrammed: found }, mode)) };
}

const DELETING: Guards = {
  unresolved: [],
  unresolvedHosts: [],
  adopt: false,
  allowEmpty: true,
  maxDeleteFraction: 1,
  isDeleting: true,
};

function report(mesh: Mesh, findings: Findings, mode: Mode): Pick<Plan, 'status' | 'events'> {
  const status = soloStatus(mesh, findings, mode);
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
