// The binder: binds claims and targets, one to one. The reference from the target to the claim is the lock and is
// written first; everything else follows from it, one step at a time, so that a crash between any two writes ends in
// the same state.
import { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import { defineController } from '../../controller/index.ts';
import type {
  ControllerDefinition,
  Failure,
  Plan,
  PlannedCondition,
  PlannedEvent,
  View,
} from '../../controller/index.ts';
import { annotate, removeUnchanged, timestamp } from '../../kube/index.ts';
import type { Edit, Step } from '../../kube/index.ts';
import { claimNameOf } from '../claim-ref.ts';
import { claimGauges } from '../gauges.ts';
import { BIND_COMPLETE, BOUND_AT, CLAIM_FINALIZER, EXPIRES_AT, PROVISIONER } from '../names.ts';
import { credentialsLastMs } from '../reclaim/secret.ts';
import type { Settings } from '../settings.ts';
import { besideOthers, condition, errorCondition, withError } from '../status.ts';
import { wasBound } from '../world.ts';
import { planClaimDeletion } from './claim-deletion.ts';
import { expiryOf } from './expiry.ts';
import type { Expiry } from './expiry.ts';
import { findTarget } from './find-target.ts';
import type { Verdict } from './find-target.ts';
import { progressOf } from './progress.ts';
import { upkeep } from './upkeep.ts';

export function binder(settings: Settings): ControllerDefinition {
  return defineController<DeploymentTargetClaim>({
    name: 'binder',
    kind: DeploymentTargetClaim,
    finalizers: [CLAIM_FINALIZER],
    gauges: claimGauges,
    plan: (view, claim) => planClaim(view, claim, settings),
    failed: (claim, failure, now) => ({
      status: { ...claim.status, conditions: withError(claim.status?.conditions, claimFailure(claim, failure), now) },
    }),
  });
}

/** Plans one claim. */
function planClaim(view: View, claim: DeploymentTargetClaim, settings: Settings): Plan {
  if (claim.metadata.deletionTimestamp !== undefined) return planClaimDeletion(view, claim, settings);
  const expiry = expiryOf(view, claim);
  const leftMs = expiry.endMs === undefined ? Infinity : view.untilExpiry(expiry.endMs);
  if (leftMs <= 0) {
    return {
      // Fails if the claim has changed: its ttl may have been extended at the last moment.
      steps: [removeUnchanged(DeploymentTargetClaim, claim)],
      events: [{ type: 'Normal', reason: 'Expired', note: `the claim has expired after ${expiry.ttl}` }],
    };
  }
  const isComplete = wasBound(claim);
  const verdict = isComplete ? upkeep(view, claim, settings) : findTarget(view, claim, settings);
  const phase = verdict.phase ?? claim.status?.phase;
  const progress = phase === 'Pending' ? progressOf(view, claim, settings) : undefined;
  const problem = verdict.problem ?? progress?.problem;
  const error = `${isComplete ? 'failed to process bound DeploymentTargetClaim: ' : ''}${problem?.message}`;
  const explanation = problem ?? verdict.unready;
  const conditions = besideOthers(claim.status?.conditions, [
    errorCondition(claim.status?.conditions, problem && error, view.now()),
    condition(
      'Ready',
      phase === 'Bound' && explanation === undefined,
      explanation?.reason ?? (phase as Verdict['phase']) ?? 'Pending',
      explanation?.message ?? '',
    ),
    ...(progress?.conditions ?? []),
    ...warnings(claim, verdict.target, expiry),
  ]);
  const steps = [...(verdict.steps ?? [])];
  if (steps.length === 0) steps.push(...expirySteps(claim, expiry, view.now()));
  const lastMs = verdict.target === undefined ? Infinity : credentialsLastMs(view, verdict.target);
  const lookAgainMs = Math.min(leftMs, lastMs, progress?.lookAgainMs ?? Infinity);
  return {
    steps,
    // A claim that is about to be bound has nothing to report yet.
    ...((phase !== undefined || problem !== undefined) && {
      status: { ...claim.status, ...(phase !== undefined && { phase }), conditions },
    }),
    events: [...transition(claim, phase, verdict), ...(progress?.events ?? [])],
    ...(Number.isFinite(lookAgainMs) && { requeueAfterMs: lookAgainMs }),
  };
}

/** Records when the claim was bound and expires. The former is never removed: a new time to live counts from it too. */
function expirySteps(claim: DeploymentTargetClaim, { ttl, problem, boundAt, expiresAt }: Expiry, now: number): Step[] {
  const before = claim.metadata.annotations ?? {};
  // Nothing says when the claim was bound: it lives too long rather than too short.
  const isUnknown = ttl !== undefined && problem === undefined && wasBound(claim);
  const since = boundAt ?? before[BOUND_AT] ?? (isUnknown ? timestamp(now) : undefined);
  const isRecorded = since === before[BOUND_AT] && expiresAt === before[EXPIRES_AT];
  return isRecorded ? [] : [annotate(DeploymentTargetClaim, claim, { [BOUND_AT]: since, [EXPIRES_AT]: expiresAt })];
}

/** Conditions about a claim that do not prevent its use. */
function warnings(
  claim: DeploymentTargetClaim,
  target: DeploymentTarget | undefined,
  expiry: Expiry,
): PlannedCondition[] {
  const [asked, found] = [claim, target].map((each) => each?.spec.deploymentTargetClassName);
  const conditions: PlannedCondition[] = [];
  if (found !== undefined && found !== asked) {
    const message = `the claim asks for class "${asked}", and DeploymentTarget ${target?.metadata.name} is of class "${found}": the claim keeps it`;
    conditions.push(condition('ClassMatches', false, 'ClassDiffers', message));
  }
  if (expiry.problem !== undefined) conditions.push(condition('Expires', false, 'InvalidTTL', expiry.problem));
  return conditions;
}

/** Events about a claim: a new phase, and a new problem. */
function transition(
  claim: DeploymentTargetClaim,
  phase: string | undefined,
  { problem, unready }: Verdict,
): PlannedEvent[] {
  const explanation = problem ?? unready;
  const events: PlannedEvent[] = [];
  if (phase !== undefined && phase !== claim.status?.phase) {
    const note = explanation?.reason === phase ? explanation.message : `the claim is ${phase.toLowerCase()}`;
    events.push({ type: phase === 'Lost' ? 'Warning' : 'Normal', reason: phase, note });
  }
  const before = claim.status?.conditions?.find(({ type }) => type === 'Ready');
  if (explanation !== undefined && explanation.reason !== phase && explanation.message !== before?.message) {
    const type = problem === undefined && phase === 'Pending' ? 'Normal' : 'Warning';
    events.push({ type, reason: explanation.reason, note: explanation.message });
  }
  return events;
}

/** The error message for a write of the binder that the server refused. These messages are contract. */
function claimFailure(claim: DeploymentTargetClaim, { step, cause }: Failure): string {
  const { name, namespace, deletionTimestamp, finalizers = [], annotations } = claim.metadata;
  const edited = step?.do === 'edit' ? step : undefined;
  if (deletionTimestamp !== undefined) {
    return (edited && releaseFailure(edited, cause)) ?? 'unexpected internal error occurred in DTC controller';
  }
  if (!finalizers.includes(CLAIM_FINALIZER)) {
    return `failed to add finalizer ${CLAIM_FINALIZER} to DeploymentTargetClaim ${name} in namespace ${namespace}: ${cause}`;
  }
  if (annotations?.[BIND_COMPLETE] !== undefined) return `failed to process bound DeploymentTargetClaim: ${cause}`;
  const isMarking =
    edited?.kind === DeploymentTargetClaim &&
    edited.to.metadata.annotations?.[PROVISIONER] !== annotations?.[PROVISIONER];
  if (isMarking) return `failed to handle DeploymentTargetClaim for dynamic provisioning: ${cause}`;
  return 'unexpected internal error occurred in DTC controller';
}

function releaseFailure({ kind, to, subresource }: Edit, cause: string): string | undefined {
  if (kind !== DeploymentTarget) return undefined;
  const { name, namespace } = to.metadata;
  if (subresource) return `failed to update DeploymentTarget ${name} in namespace ${namespace} to Released status`;
  return claimNameOf(to as DeploymentTarget) === '' ? `failed to update the claimRef: ${cause}` : undefined;
}
