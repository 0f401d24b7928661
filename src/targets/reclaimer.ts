// The reclaimer: says whether a target can be claimed, and frees what a target stands for when it goes.
import { SpaceRequest } from '../api/spaces.ts';
import { DeploymentTarget } from '../api/targets.ts';
import type { DeploymentTargetClass } from '../api/targets.ts';
import { defineController } from '../controller/index.ts';
import type { ControllerDefinition, Plan, PlannedEvent, View } from '../controller/index.ts';
import { edit, remove } from '../kube/index.ts';
import type { Step } from '../kube/index.ts';
import { claimNameOf, withClaim } from './claim-ref.ts';
import { hasCredentials } from './match.ts';
import {
  CLAIM_UID,
  DEVSANDBOX,
  MAKE_AVAILABLE,
  PROVISIONED_BY,
  RECLAIM_POLICY,
  TARGET_FINALIZER,
  TOOLCHAIN_FINALIZER,
} from './names.ts';
import { condition, errorCondition } from './status.ts';
import { claimOf, claimTables, classOf, reclaimPolicyOf, requestOf } from './world.ts';

/** How long freeing may take before the target is called failed, and how often to look meanwhile. */
const STUCK_MS = 120_000;
const LOOK_AGAIN_MS = 30_000;

export function reclaimer(): ControllerDefinition {
  return defineController<DeploymentTarget>({
    name: 'reclaimer',
    kind: DeploymentTarget,
    finalizers: [TARGET_FINALIZER],
    reads: claimTables,
    plan: planTarget,
  });
}

/** Plans one target. */
function planTarget(view: View, target: DeploymentTarget): Plan {
  const ofClass = classOf(view, target.spec.deploymentTargetClassName);
  const policy = reclaimPolicyOf(ofClass?.spec.reclaimPolicy, target.metadata.annotations?.[RECLAIM_POLICY]);
  if (target.metadata.deletionTimestamp !== undefined) return planTargetDeletion(view, target, ofClass, policy);

  const { phase, steps } = present(view, target, policy);
  return {
    // One edit of an object in a pass: the policy is written down when nothing else is.
    steps: steps.length > 0 ? steps : recordPolicy(target, ofClass),
    status: statusOf(target, phase, policyProblem(ofClass)),
    events: phaseEvents(target, phase),
  };
}

interface Present {
  readonly phase: string;
  readonly steps: readonly Step[];
}

/** The phase of a target that is not going, and what follows from it. The binder alone makes it `Bound`. */
function present(view: View, target: DeploymentTarget, policy: 'Delete' | 'Retain'): Present {
  const phase = target.status?.phase ?? '';
  const claim = claimOf(view, target);
  if (phase === 'Bound') {
    if (claim !== undefined || !wasBound(target)) return { phase, steps: [] };
    return { phase: 'Released', steps: [] };
  }
  if (phase === 'Released' || phase === 'Failed') return released(target, policy);
  return { phase: hasCredentials(target) ? 'Available' : 'Pending', steps: [] };
}

/** A reservation for a claim that is yet to come is no trace of one that is gone. */
function wasBound(target: DeploymentTarget): boolean {
  return claimNameOf(target) !== '' || target.metadata.annotations?.[CLAIM_UID] !== undefined;
}

function released(target: DeploymentTarget, policy: 'Delete' | 'Retain'): Present {
  const phase = target.status!.phase!;
  const { [MAKE_AVAILABLE]: reset, ...annotations } = target.metadata.annotations ?? {};
  if (reset !== undefined && phase === 'Released' && claimNameOf(target) === '') {
    const next = { ...target, metadata: { ...target.metadata, annotations } };
    return { phase: 'Available', steps: [edit(DeploymentTarget, target, next)] };
  }
  const isOurs = target.metadata.annotations?.[PROVISIONED_BY] !== undefined;
  if (policy === 'Delete' && isOurs) return { phase, steps: [remove(DeploymentTarget, target)] };
  if (policy === 'Retain' && claimNameOf(target) !== '') {
    return { phase, steps: [edit(DeploymentTarget, target, withClaim(target, undefined))] };
  }
  return { phase, steps: [] };
}

/** What the class says about reclaiming is written on the target, so that its end does not depend on the class. */
function recordPolicy(target: DeploymentTarget, ofClass: DeploymentTargetClass | undefined): Step[] {
  const wanted = ofClass?.spec.reclaimPolicy;
  if (wanted === undefined || target.metadata.annotations?.[RECLAIM_POLICY] === wanted) return [];
  const annotations = { ...target.metadata.annotations, [RECLAIM_POLICY]: wanted };
  return [edit(DeploymentTarget, target, { ...target, metadata: { ...target.metadata, annotations } })];
}

function policyProblem(ofClass: DeploymentTargetClass | undefined): string | undefined {
  const known = ofClass === undefined || ['Delete', 'Retain'].includes(ofClass.spec.reclaimPolicy);
  return known ? undefined : 'unexpected reclaim policy value on DeploymentTargetClass';
}

function planTargetDeletion(
  view: View,
  target: DeploymentTarget,
  ofClass: DeploymentTargetClass | undefined,
  policy: 'Delete' | 'Retain',
): Plan {
  const provisioner = target.metadata.annotations?.[PROVISIONED_BY] ?? ofClass?.spec.provisioner;
  // Other provisioners hold the target by a finalizer of their own until they are done.
  const request = provisioner === DEVSANDBOX ? requestOf(view, target) : undefined;
  if (request === undefined || policy === 'Retain') return { finished: true };
  if (request.metadata.deletionTimestamp === undefined) return { steps: [releaseRequest(request)] };
  const ready = request.status?.conditions?.find(({ type }) => type === 'Ready');
  const stuckFor = view.now() - Date.parse(request.metadata.deletionTimestamp);
  const failed = stuckFor > STUCK_MS && ready?.reason === 'UnableToTerminate';
  if (!failed) return { requeueAfterMs: LOOK_AGAIN_MS };
  return {
    status: statusOf(target, 'Failed', undefined),
    events: phaseEvents(target, 'Failed'),
    requeueAfterMs: LOOK_AGAIN_MS,
  };
}

/** The space request goes, held by its finalizer so that it can say how that goes. */
function releaseRequest(request: SpaceRequest): Step {
  const finalizers = request.metadata.finalizers ?? [];
  if (finalizers.includes(TOOLCHAIN_FINALIZER)) return remove(SpaceRequest, request);
  const metadata = { ...request.metadata, finalizers: [...finalizers, TOOLCHAIN_FINALIZER] };
  return edit(SpaceRequest, request, { ...request, metadata });
}

function statusOf(target: DeploymentTarget, phase: string, problem: string | undefined) {
  const isUsable = phase === 'Available' || phase === 'Bound';
  return {
    ...target.status,
    phase,
    conditions: [errorCondition(problem), condition('Ready', isUsable, phase, problem ?? '')],
  };
}

function phaseEvents(target: DeploymentTarget, phase: string): PlannedEvent[] {
  if (phase === target.status?.phase) return [];
  const type = phase === 'Failed' ? 'Warning' : 'Normal';
  return [{ type, reason: phase, note: `the target is ${phase.toLowerCase()}` }];
}
