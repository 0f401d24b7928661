// The reclaimer: says whether a target can be claimed, and frees what a target stands for when it goes.
import { SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget } from '../../api/targets.ts';
import type { DeploymentTargetClass } from '../../api/targets.ts';
import { defineController } from '../../controller/index.ts';
import type { ControllerDefinition, Plan, PlannedCondition, PlannedEvent, View } from '../../controller/index.ts';
import { edit, remove, removeUnchanged, annotate } from '../../kube/index.ts';
import type { Step } from '../../kube/index.ts';
import { claimNameOf, claimUidOf, withoutClaim } from '../claim-ref.ts';
import { isRotated } from '../credentials.ts';
import { hasCredentials } from '../binding/match.ts';
import { targetGauges } from '../gauges.ts';
import {
  DEVSANDBOX,
  LAST_CLAIM,
  MAKE_AVAILABLE,
  NAMESPACE_PROVISIONER,
  PROVISIONED_BY,
  RECLAIM_POLICY,
  RECYCLED,
  TARGET_FINALIZER,
  TOOLCHAIN_FINALIZER,
} from '../names.ts';
import { Secret } from '../objects.ts';
import { backingProblem } from './backing.ts';
import type { BackingProblem } from './backing.ts';
import { besideOthers, condition, errorCondition, withError } from '../status.ts';
import { targetWarnings, warningEvents } from './target-warnings.ts';
import { claimOf, Claims, classOf, policyFor, requestOf, wasBound } from '../world.ts';

/** How long freeing may take before the target is called failed, and how often to look meanwhile. */
const STUCK_MS = 120_000;
const LOOK_AGAIN_MS = 30_000;
/** Phases that a target comes to without anything being wrong; in the first two nobody has it yet. */
const OPEN: ReadonlySet<string> = new Set(['Pending', 'Available']);
const PHASES: ReadonlySet<string> = new Set([...OPEN, 'Bound', 'Released']);

export function reclaimer(): ControllerDefinition {
  return defineController<DeploymentTarget>({
    name: 'reclaimer',
    kind: DeploymentTarget,
    gauges: targetGauges,
    finalizers: [TARGET_FINALIZER],
    plan: planTarget,
    failed: ({ status }, _failure, now) => ({
      status: {
        ...status,
        conditions: withError(status?.conditions, 'unexpected internal error occurred in DT controller', now),
      },
    }),
  });
}

/** Plans one target. */
function planTarget(view: View, target: DeploymentTarget): Plan {
  const ofClass = classOf(view, target.spec.deploymentTargetClassName);
  const policy = policyFor(view, target);
  if (target.metadata.deletionTimestamp !== undefined) return planTargetDeletion(view, target, ofClass, policy);

  const gone = backingProblem(view, target);
  const { phase, steps } = present(view, target, policy);
  if (gone?.isGone && isUntaken(view, target, phase)) return giveUp(target, gone);
  const problem = policyProblem(ofClass);
  const warnings = targetWarnings(view, target, phase);
  const ready = readiness(phase, problem, gone);
  return {
    // One edit of an object in a reconcile: the policy is written down when nothing else is.
    steps: steps.length > 0 ? steps : recordPolicy(target, ofClass),
    status: {
      ...target.status,
      phase,
      conditions: besideOthers(target.status?.conditions, [
        errorCondition(target.status?.conditions, problem, view.now()),
        ready,
        ...warnings,
      ]),
    },
    events: [...readyEvents(target, ready), ...warningEvents(target, warnings)],
  };
}

/** Whether a target is of use, and why not. */
function readiness(phase: Phase, problem: string | undefined, gone: BackingProblem | undefined): PlannedCondition {
  const isOfUse = phase === 'Available' || phase === 'Bound';
  if (isOfUse && gone !== undefined) return condition('Ready', false, gone.reason, gone.message);
  const missing = phase === 'Pending' ? 'the URL of the API server or the name of the Secret is missing' : '';
  return condition('Ready', isOfUse, phase, problem ?? gone?.message ?? missing);
}

/** Whether nobody has a target yet, also where it says that it is bound: its claim did not come to say so, too. */
function isUntaken(view: View, target: DeploymentTarget, phase: string): boolean {
  const claim = phase === 'Bound' ? claimOf(view, target) : undefined;
  return OPEN.has(phase) || (claim !== undefined && !wasBound(claim));
}

/** A target that nobody has yet, of a place that is gone, is never bound: whoever made it makes another. */
function giveUp(target: DeploymentTarget, { reason, message }: BackingProblem): Plan {
  return {
    steps: [removeUnchanged(DeploymentTarget, target)],
    events: [{ type: 'Warning', reason, note: `${message}: the target is deleted too` }],
  };
}

type Phase = 'Pending' | 'Available' | 'Bound' | 'Released' | 'Failed';

interface Present {
  readonly phase: Phase;
  readonly steps: readonly Step[];
}

/** The phase of a target that is not going, and what follows from it. The binder alone makes it `Bound`. */
function present(view: View, target: DeploymentTarget, policy: 'Delete' | 'Retain'): Present {
  const phase = target.status?.phase ?? '';
  if (phase === 'Released' || phase === 'Failed') return released(view, target, policy);
  const isReset = target.metadata.annotations?.[MAKE_AVAILABLE] !== undefined;
  const steps = isReset ? [annotate(DeploymentTarget, target, { [MAKE_AVAILABLE]: undefined })] : [];
  if (phase === 'Bound') return { phase: isClaimed(view, target) ? phase : 'Released', steps };
  return { phase: hasCredentials(target) ? 'Available' : 'Pending', steps };
}

/** Whether a bound target still has its claim. Other binders leave the reference empty: then the claim names it. */
function isClaimed(view: View, target: DeploymentTarget): boolean {
  if (claimNameOf(target) !== '' || claimUidOf(target) !== undefined) return claimOf(view, target) !== undefined;
  const { name, namespace } = target.metadata;
  return view.index(Claims, 'target', `${namespace}/${name}`).length > 0;
}

function released(view: View, target: DeploymentTarget, policy: 'Delete' | 'Retain'): Present {
  const phase = target.status!.phase as Phase;
  const { [MAKE_AVAILABLE]: reset, [RECYCLED]: recycled } = target.metadata.annotations ?? {};
  // Without any trace of a claim it was released on purpose; one of a claim that is there was written by somebody since.
  const isFree = claimNameOf(target) === '' && claimUidOf(target) === undefined;
  const claim = claimOf(view, target);
  // The reference goes next. Whoever made the target available before that would see it released again.
  if (claim?.metadata.deletionTimestamp !== undefined) return { phase, steps: [] };
  const isSettled = isFree || claim !== undefined;
  if (reset !== undefined && phase === 'Released' && (isSettled || claimNameOf(target) === '')) {
    // First the mark that it was used, then the phase; what the person said stays until that is done.
    if (recycled === undefined) return { phase, steps: [annotate(DeploymentTarget, target, { [RECYCLED]: 'true' })] };
    return { phase: isShut(view, target) ? 'Available' : phase, steps: [] };
  }
  if (isSettled) return { phase, steps: [] };
  const isOurs = target.metadata.annotations?.[PROVISIONED_BY] !== undefined;
  if (policy === 'Delete') return { phase, steps: isOurs ? [remove(DeploymentTarget, target)] : [] };
  return { phase, steps: [edit(DeploymentTarget, target, withoutClaim(target))] };
}

/** Whether a target is shut for whoever had it last, so that the next one may have it. */
function isShut(view: View, { metadata, spec }: DeploymentTarget): boolean {
  const { [LAST_CLAIM]: lastClaim, [PROVISIONED_BY]: provisioner } = metadata.annotations ?? {};
  if (provisioner !== NAMESPACE_PROVISIONER && provisioner !== DEVSANDBOX) return true;
  const secret = view.get(Secret, {
    name: spec.kubernetesCredentials.clusterCredentialsSecret,
    namespace: metadata.namespace,
  });
  return isRotated(secret, lastClaim);
}

/** What the class says about reclaiming is written on the target, so that its end does not depend on the class. */
function recordPolicy(target: DeploymentTarget, ofClass: DeploymentTargetClass | undefined): Step[] {
  const policy = ofClass?.spec.reclaimPolicy;
  if (policy === undefined || target.metadata.annotations?.[RECLAIM_POLICY] === policy) return [];
  return [annotate(DeploymentTarget, target, { [RECLAIM_POLICY]: policy })];
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
  const said = request.status?.conditions?.find(({ type }) => type === 'Ready');
  const stuckFor = view.now() - Date.parse(request.metadata.deletionTimestamp);
  const isStuck = stuckFor > STUCK_MS && said?.reason === 'UnableToTerminate';
  const phase = isStuck ? 'Failed' : target.status?.phase;
  const message = `waiting for SpaceRequest ${request.metadata.name} to be deleted${said?.message ? `: ${said.message}` : ''}`;
  const ready = condition('Ready', false, phase === 'Failed' ? 'Failed' : 'Terminating', message);
  return {
    status: {
      ...target.status,
      ...(phase !== undefined && { phase }),
      conditions: besideOthers(target.status?.conditions, [
        errorCondition(target.status?.conditions, undefined, view.now()),
        ready,
      ]),
    },
    ...(isStuck && { events: readyEvents(target, ready) }),
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

/** News of a target. Not only we write the phase: what we said of it last is in the condition. */
function readyEvents({ status }: DeploymentTarget, { reason, message }: PlannedCondition): PlannedEvent[] {
  const before = status?.conditions?.find(({ type }) => type === 'Ready');
  if (reason === before?.reason) return [];
  const isUsual = PHASES.has(reason);
  const note = isUsual ? `the target is ${reason.toLowerCase()}` : message;
  return [{ type: isUsual ? 'Normal' : 'Warning', reason, note }];
}
