// The reclaimer: sets whether a target can be claimed, and frees what is behind a target when it is deleted.
import { SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget } from '../../api/targets.ts';
import type { DeploymentTargetClass } from '../../api/targets.ts';
import { defineController } from '../../controller/index.ts';
import type { ControllerDefinition, Plan, PlannedCondition, PlannedEvent, View } from '../../controller/index.ts';
import { edit, remove, removeUnchanged, annotate } from '../../kube/index.ts';
import type { Step } from '../../kube/index.ts';
import { claimNameOf, isProvisioned, isTraced, withoutClaim } from '../claim-ref.ts';
import { isRotated } from '../credentials.ts';
import { hasCredentials } from '../binding/match.ts';
import { targetGauges } from '../gauges.ts';
import {
  CLAIM_UID,
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
import { credentialsLastMs, mainProblem, secretProblem } from './secret.ts';
import { besideOthers, condition, errorCondition, withError } from '../status.ts';
import { claimOf, Claims, classOf, holderOf, policyFor, policyOfRequest, requestOf, wasBound } from '../world.ts';

/** How long freeing may take before the target becomes Failed, and how often to check meanwhile. */
const STUCK_MS = 120_000;
const LOOK_AGAIN_MS = 30_000;
/** Phases without an error; in the first two, no claim has the target yet. */
const UNCLAIMED: ReadonlySet<string> = new Set(['Pending', 'Available']);
const PHASES: ReadonlySet<string> = new Set([...UNCLAIMED, 'Bound', 'Released']);

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
  if (gone?.isGone && isUntaken(view, target, phase)) return deleteGone(target, gone);
  const problem = policyProblem(ofClass);
  const warnings = targetWarnings(view, target, phase);
  const ready =
    misbound(view, target, phase) ?? withoutAccess(view, target, phase, gone) ?? readiness(phase, problem, gone);
  const lastMs = credentialsLastMs(view, target);
  return {
    // One edit of an object in a reconcile: the policy is recorded when there is no other edit.
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
    events: [...readyEvents(target, ready, phase), ...warningEvents(target, warnings)],
    ...(Number.isFinite(lastMs) && { requeueAfterMs: lastMs }),
  };
}

/** Whether a target can be used, and why not. */
function readiness(phase: Phase, problem: string | undefined, gone: BackingProblem | undefined): PlannedCondition {
  const isUsable = phase === 'Available' || phase === 'Bound';
  if (isUsable && gone !== undefined) return condition('Ready', false, gone.reason, gone.message);
  const missing = phase === 'Pending' ? 'the URL of the API server or the name of the Secret is missing' : '';
  return condition('Ready', isUsable, phase, problem ?? gone?.message ?? missing);
}

/** The claimRef of a bound target was changed to another claim. What its claim deployed there is not reclaimed. */
function misbound(view: View, target: DeploymentTarget, phase: Phase): PlannedCondition | undefined {
  const named = claimNameOf(target);
  if (phase !== 'Bound' || named === '' || claimOf(view, target) !== undefined) return undefined;
  const holder = holderOf(view, target);
  if (holder === undefined) return undefined;
  const { name } = holder.metadata;
  const message = `spec.claimRef is ${JSON.stringify(named)}, but the target is bound to DeploymentTargetClaim ${name}, which exists: set spec.claimRef to ${JSON.stringify(name)}, or delete that claim to release the target`;
  return condition('Ready', false, 'ClaimMisbound', message);
}

/** A target that nobody can deploy to, although its phase says that it can be claimed or is bound. */
function withoutAccess(
  view: View,
  target: DeploymentTarget,
  phase: Phase,
  gone: BackingProblem | undefined,
): PlannedCondition | undefined {
  const noAccess = secretProblem(view, target);
  if (noAccess === undefined || (phase !== 'Available' && phase !== 'Bound')) return undefined;
  const useless = phase === 'Bound' ? mainProblem(gone, noAccess) : (gone ?? noAccess);
  if (useless === undefined || useless === gone) return undefined;
  return condition('Ready', false, useless.reason, `${phaseNote(phase)}, but ${useless.message}`);
}

function phaseNote(phase: string): string {
  return `the target is ${phase.toLowerCase()}`;
}

/** Whether no claim has a target yet. It may already be Bound while its claim is not: binding was interrupted. */
function isUntaken(view: View, target: DeploymentTarget, phase: string): boolean {
  const claim = phase === 'Bound' ? claimOf(view, target) : undefined;
  return UNCLAIMED.has(phase) || (claim !== undefined && !wasBound(claim));
}

/** Deletes a target without a claim whose namespace or space is gone: its provisioner makes another. */
function deleteGone(target: DeploymentTarget, { reason, message }: BackingProblem): Plan {
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

/** The phase of a target that is not being deleted, and the steps for it. Only the binder sets `Bound`. */
function present(view: View, target: DeploymentTarget, policy: 'Delete' | 'Retain'): Present {
  const phase = target.status?.phase ?? '';
  if (phase === 'Released' || phase === 'Failed') return released(view, target, policy);
  // While its claim is being deleted, the target is about to be released: then it is made available.
  const isReset = target.metadata.annotations?.[MAKE_AVAILABLE] !== undefined && !isLosingClaim(view, target);
  const isLost = phase === 'Bound' && !isClaimed(view, target);
  const marks = { ...(isReset && { [MAKE_AVAILABLE]: undefined }), ...(isLost && traceOfUnknown(target)) };
  const steps = Object.keys(marks).length === 0 ? [] : [annotate(DeploymentTarget, target, marks)];
  if (phase === 'Bound') return { phase: isLost ? 'Released' : phase, steps };
  return { phase: hasCredentials(target) ? 'Available' : 'Pending', steps };
}

/** Whether a bound target still has its claim. If it refers to none, the claim names the target. */
function isClaimed(view: View, target: DeploymentTarget): boolean {
  if (isTraced(target)) {
    return claimOf(view, target) !== undefined || holderOf(view, target) !== undefined;
  }
  const { name, namespace } = target.metadata;
  return view.index(Claims, 'target', `${namespace}/${name}`).length > 0;
}

/** A trace of a claim on a target that another binder bound without one: releasing it revokes the claim's access. */
function traceOfUnknown(target: DeploymentTarget): Record<string, string> {
  return isTraced(target) || !isProvisioned(target) ? {} : { [CLAIM_UID]: 'unknown' };
}

function isLosingClaim(view: View, target: DeploymentTarget): boolean {
  return claimOf(view, target)?.metadata.deletionTimestamp !== undefined;
}

function released(view: View, target: DeploymentTarget, policy: 'Delete' | 'Retain'): Present {
  const phase = target.status!.phase as Phase;
  const { [MAKE_AVAILABLE]: reset, [RECYCLED]: recycled } = target.metadata.annotations ?? {};
  // Without a claimRef and uid it was released on purpose; a claimRef to an existing claim was written by hand since.
  const isFree = !isTraced(target);
  const claim = claimOf(view, target);
  // The binder clears the claimRef next. A target made available before that would be released again.
  if (isLosingClaim(view, target)) return { phase, steps: [] };
  const isSettled = isFree || claim !== undefined;
  if (reset !== undefined && phase === 'Released' && (isSettled || claimNameOf(target) === '')) {
    // The uid of a claim that is gone becomes its mark: without it, the users of that claim would keep their access.
    if (!isSettled) return { phase, steps: [edit(DeploymentTarget, target, withoutClaim(target))] };
    // First the recycled annotation, then the phase; the make-available annotation stays until both are written.
    if (recycled === undefined) return { phase, steps: [annotate(DeploymentTarget, target, { [RECYCLED]: 'true' })] };
    return { phase: isAccessRevoked(view, target) ? 'Available' : phase, steps: [] };
  }
  // Its claimRef was changed while its claim exists: what is behind it is reclaimed when that claim is gone.
  if (isSettled || holderOf(view, target) !== undefined) return { phase, steps: [] };
  if (policy === 'Delete') return { phase, steps: isProvisioned(target) ? [remove(DeploymentTarget, target)] : [] };
  return { phase, steps: [edit(DeploymentTarget, target, withoutClaim(target))] };
}

/** Whether the users of the last claim have no access any more, so that the next claim may have the target. */
function isAccessRevoked(view: View, { metadata, spec }: DeploymentTarget): boolean {
  const { [LAST_CLAIM]: lastClaim, [PROVISIONED_BY]: provisioner } = metadata.annotations ?? {};
  if (provisioner !== NAMESPACE_PROVISIONER && provisioner !== DEVSANDBOX) return true;
  const secret = view.get(Secret, {
    name: spec.kubernetesCredentials.clusterCredentialsSecret,
    namespace: metadata.namespace,
  });
  return isRotated(secret, lastClaim);
}

/** Records the reclaim policy of the class on the target, so that its deletion does not depend on the class. */
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
  // The target may be of another class than the claim that the space was requested for, which may be gone.
  const isKept = policy === 'Retain' || (request && policyOfRequest(view, request)) === 'Retain';
  if (request === undefined || isKept) return { finished: true };
  if (request.metadata.deletionTimestamp === undefined) return { steps: [releaseRequest(request)] };
  const requestReady = request.status?.conditions?.find(({ type }) => type === 'Ready');
  const stuckFor = view.now() - Date.parse(request.metadata.deletionTimestamp);
  const isStuck = stuckFor > STUCK_MS && requestReady?.reason === 'UnableToTerminate';
  const phase = isStuck ? 'Failed' : target.status?.phase;
  const message = `waiting for SpaceRequest ${request.metadata.name} to be deleted${requestReady?.message ? `: ${requestReady.message}` : ''}`;
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
    ...(isStuck && { events: readyEvents(target, ready, 'Failed') }),
    requeueAfterMs: LOOK_AGAIN_MS,
  };
}

/** Deletes the space request; a finalizer keeps it so that it can report progress. */
function releaseRequest(request: SpaceRequest): Step {
  const finalizers = request.metadata.finalizers ?? [];
  if (finalizers.includes(TOOLCHAIN_FINALIZER)) return remove(SpaceRequest, request);
  const metadata = { ...request.metadata, finalizers: [...finalizers, TOOLCHAIN_FINALIZER] };
  return edit(SpaceRequest, request, { ...request, metadata });
}

/** Events about a target. Others write the phase too, so the last reported one is that of the condition. */
function readyEvents(
  { status }: DeploymentTarget,
  { reason, message }: PlannedCondition,
  phase: Phase,
): PlannedEvent[] {
  const before = status?.conditions?.find(({ type }) => type === 'Ready');
  // A missing Secret has a warning of its own.
  const isUsual = PHASES.has(reason) || reason === 'SecretNotFound';
  if (!isUsual) return reason === before?.reason ? [] : [{ type: 'Warning', reason, note: message }];
  const note = phaseNote(phase);
  const isReported = before?.reason === phase || before?.message.startsWith(`${note}, but `);
  return isReported ? [] : [{ type: 'Normal', reason: phase, note }];
}

/** Warnings that do not prevent claiming a target: conditions that exist only while there is one. */
function targetWarnings(view: View, target: DeploymentTarget, phase: string): PlannedCondition[] {
  const warnings = [secretWarning(view, target), reservationWarning(view, target, phase)];
  return warnings.filter((each) => each !== undefined);
}

function secretWarning(view: View, target: DeploymentTarget): PlannedCondition | undefined {
  const missing = secretProblem(view, target);
  if (missing?.reason !== 'SecretNotFound') return undefined;
  return condition('SecretFound', false, missing.reason, missing.message);
}

/** A target that is reserved for a claim which has or names another one will never be bound. */
function reservationWarning(view: View, target: DeploymentTarget, phase: string): PlannedCondition | undefined {
  const claim = phase === 'Available' ? claimOf(view, target) : undefined;
  const named = claim?.spec.targetName ?? '';
  if (named === '' || named === target.metadata.name) return undefined;
  const message = `the target is reserved for DeploymentTargetClaim ${claim?.metadata.name}, which has or wants DeploymentTarget ${named}`;
  return condition('Reserved', false, 'ClaimElsewhere', message);
}

/** Events for new warnings. */
function warningEvents({ status }: DeploymentTarget, warnings: readonly PlannedCondition[]): PlannedEvent[] {
  const isNew = ({ type, message }: PlannedCondition): boolean =>
    !status?.conditions?.some((before) => before.type === type && before.message === message);
  return warnings.filter(isNew).map(({ reason, message }) => ({ type: 'Warning', reason, note: message }));
}
