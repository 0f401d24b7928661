// The binder: brings a claim and a target together, one to one. The reference from the target to the claim is the lock
// and is written first; everything else follows from it, one step at a time, so that a crash between any two writes
// ends in the same state.
import { DeploymentTargetClaim } from '../../api/targets.ts';
import type { DeploymentTarget } from '../../api/targets.ts';
import { defineController } from '../../controller/index.ts';
import type { ControllerDefinition, Plan, PlannedCondition, PlannedEvent, View } from '../../controller/index.ts';
import { removeUnchanged, annotate } from '../../kube/index.ts';
import type { Step } from '../../kube/index.ts';
import { claimGauges } from '../gauges.ts';
import { BOUND_AT, CLAIM_FINALIZER, EXPIRES_AT } from '../names.ts';
import type { Settings } from '../settings.ts';
import { besideOthers, condition, errorCondition, withError } from '../status.ts';
import { wasBound } from '../world.ts';
import { planClaimDeletion } from './claim-deletion.ts';
import { claimFailure } from './claim-failure.ts';
import { expiryOf } from './expiry.ts';
import type { Expiry } from './expiry.ts';
import { findTarget } from './find-target.ts';
import { progressOf } from './progress.ts';
import { upkeep } from './upkeep.ts';
import type { Verdict } from './verdict.ts';

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
  if (expiry.leftMs !== undefined && expiry.leftMs <= 0) {
    return {
      // Whoever makes it live longer at the last moment has not been heard yet.
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
  const said = problem ?? verdict.unready;
  const conditions = besideOthers(claim.status?.conditions, [
    errorCondition(claim.status?.conditions, problem && error, view.now()),
    condition(
      'Ready',
      phase === 'Bound' && said === undefined,
      said?.reason ?? (phase as Verdict['phase']) ?? 'Pending',
      said?.message ?? '',
    ),
    ...(progress?.conditions ?? []),
    ...warnings(claim, verdict.target, expiry),
  ]);
  const steps = [...(verdict.steps ?? [])];
  if (steps.length === 0) steps.push(...expirySteps(claim, expiry));
  const lookAgainMs = Math.min(expiry.leftMs ?? Infinity, progress?.lookAgainMs ?? Infinity);
  return {
    steps,
    // Of a claim that is about to be bound there is nothing to say yet.
    ...((phase !== undefined || problem !== undefined) && {
      status: { ...claim.status, ...(phase !== undefined && { phase }), conditions },
    }),
    events: [...transition(claim, phase, verdict), ...(progress?.events ?? [])],
    ...(Number.isFinite(lookAgainMs) && { requeueAfterMs: lookAgainMs }),
  };
}

/** When it ends, and when it began: that is never taken back, so that another time to live counts from it too. */
function expirySteps(claim: DeploymentTargetClaim, { boundAt, expiresAt }: Expiry): Step[] {
  const { [BOUND_AT]: begun, [EXPIRES_AT]: end } = claim.metadata.annotations ?? {};
  const isTold = (boundAt ?? begun) === begun && expiresAt === end;
  return isTold
    ? []
    : [annotate(DeploymentTargetClaim, claim, { [BOUND_AT]: boundAt ?? begun, [EXPIRES_AT]: expiresAt })];
}

/** What is odd about a claim and does not keep it from being of use. */
function warnings(
  claim: DeploymentTargetClaim,
  target: DeploymentTarget | undefined,
  expiry: Expiry,
): PlannedCondition[] {
  const [asked, found] = [claim, target].map((each) => each?.spec.deploymentTargetClassName);
  const told: PlannedCondition[] = [];
  if (found !== undefined && found !== asked) {
    const message = `the claim asks for class "${asked}", and DeploymentTarget ${target?.metadata.name} is of class "${found}": the claim keeps it`;
    told.push(condition('ClassMatches', false, 'ClassDiffers', message));
  }
  if (expiry.problem !== undefined) told.push(condition('Expires', false, 'InvalidTTL', expiry.problem));
  return told;
}

/** News about a claim: a phase that it comes to, and what keeps it from being of use. */
function transition(
  claim: DeploymentTargetClaim,
  phase: string | undefined,
  { problem, unready }: Verdict,
): PlannedEvent[] {
  const said = problem ?? unready;
  const events: PlannedEvent[] = [];
  if (phase !== undefined && phase !== claim.status?.phase) {
    const note = said?.reason === phase ? said.message : `the claim is ${phase.toLowerCase()}`;
    events.push({ type: phase === 'Lost' ? 'Warning' : 'Normal', reason: phase, note });
  }
  const before = claim.status?.conditions?.find(({ type }) => type === 'Ready');
  if (said !== undefined && said.reason !== phase && said.message !== before?.message) {
    const type = problem === undefined && phase === 'Pending' ? 'Normal' : 'Warning';
    events.push({ type, reason: said.reason, note: said.message });
  }
  return events;
}
