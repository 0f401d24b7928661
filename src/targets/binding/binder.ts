// The binder: brings a claim and a target together, one to one. The reference from the target to the claim is the lock
// and is written first; everything else follows from it, one step at a time, so that a crash between any two writes
// ends in the same state.
import { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import { defineController } from '../../controller/index.ts';
import type { ControllerDefinition, Plan, PlannedCondition, PlannedEvent, View } from '../../controller/index.ts';
import { edit, editStatus, removeUnchanged } from '../../kube/index.ts';
import type { Step } from '../../kube/index.ts';
import { claimFailure } from './claim-failure.ts';
import { claimNameOf, claimUidOf, refersTo, withClaim } from '../claim-ref.ts';
import { planClaimDeletion } from './claim-deletion.ts';
import { expiryOf } from './expiry.ts';
import type { Expiry } from './expiry.ts';
import { bestMatch, conflict, mismatch, selectorOf } from './match.ts';
import { BIND_COMPLETE, BOUND_AT, BOUND_BY_CONTROLLER, CLAIM_FINALIZER, EXPIRES_AT, PROVISIONER } from '../names.ts';
import { classParameters } from '../provisioning/parameters.ts';
import { backingProblem } from '../reclaim/backing.ts';
import { progressOf } from './progress.ts';
import type { Settings } from '../settings.ts';
import { besideOthers, condition, errorCondition, timeText, withError } from '../status.ts';
import type { Problem } from '../provisioning/eligible.ts';
import { claimTables, classOf, targetNamed, targetsFor, targetsReferringTo } from '../world.ts';

type Phase = 'Pending' | 'Bound' | 'Lost';

/** What a pass found out about a claim. */
interface Verdict {
  /** Undefined: as it was. */
  readonly phase: Phase | undefined;
  readonly steps?: readonly Step[];
  /** What is wrong. */
  readonly problem?: Problem;
  /** Why the claim is of no use, where nothing is wrong with it. */
  readonly unready?: Problem;
  /** The target that it has. */
  readonly target?: DeploymentTarget;
}

export function binder(settings: Settings): ControllerDefinition {
  return defineController<DeploymentTargetClaim>({
    name: 'binder',
    kind: DeploymentTargetClaim,
    finalizers: [CLAIM_FINALIZER],
    reads: claimTables,
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
      events: [{ type: 'Normal', reason: 'Expired', note: `the claim has lived for ${expiry.ttl}` }],
    };
  }
  // The phase says so before the mark does: if the target goes in between, the claim has lost it.
  const isComplete =
    claim.metadata.annotations?.[BIND_COMPLETE] !== undefined || ['Bound', 'Lost'].includes(claim.status?.phase ?? '');
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
      said?.reason ?? phase ?? 'Pending',
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
  return isTold ? [] : [annotate(claim, { [BOUND_AT]: boundAt ?? begun, [EXPIRES_AT]: expiresAt })];
}

/** What is odd about a claim and does not keep it from being of use. */
function warnings(
  claim: DeploymentTargetClaim,
  target: DeploymentTarget | undefined,
  expiry: Expiry,
): PlannedCondition[] {
  const [wanted, found] = [claim, target].map((each) => each?.spec.deploymentTargetClassName);
  const told: PlannedCondition[] = [];
  if (found !== undefined && found !== wanted) {
    const message = `the claim asks for class "${wanted}", and DeploymentTarget ${target?.metadata.name} is of class "${found}": the claim keeps it`;
    told.push(condition('ClassMatches', false, 'ClassDiffers', message));
  }
  if (expiry.problem !== undefined) told.push(condition('Expires', false, 'InvalidTTL', expiry.problem));
  return told;
}

/** A claim that is bound, or was: is its target still there and still its own? */
function upkeep(view: View, claim: DeploymentTargetClaim, settings: Settings): Verdict {
  const steps = annotationSteps(view, claim, settings);
  const { name, namespace } = claim.metadata;
  const referring = targetsReferringTo(view, claim);
  const named = claim.spec.targetName ?? '';
  const locked = referring.filter((each) => claimUidOf(each) === claim.metadata.uid);
  const [found, second] = locked.length > 0 ? locked : referring;
  const target = named === '' ? found : targetNamed(view, claim);
  if (named === '' && second !== undefined) {
    const message = `failed to get a DeploymentTarget for the given DeploymentTargetClaim ${name}`;
    return { phase: undefined, steps, problem: { reason: 'SeveralTargets', message } };
  }
  const gone = {
    reason: 'Lost',
    message: `DeploymentTarget not found for a bounded DeploymentTargetClaim ${name} in namespace ${namespace}`,
  };
  if (target === undefined) return { phase: 'Lost', steps, problem: gone };
  const held = claimNameOf(target) !== '' && !refersTo(target, claim);
  if (held) {
    const message = conflict(claim, target) ?? gone.message;
    return { phase: 'Lost', steps, problem: { reason: 'ClaimMisbound', message } };
  }
  const other = referring.find(({ metadata, status }) => metadata.name !== named && status?.phase === 'Bound');
  if (named !== '' && other !== undefined && target.status?.phase !== 'Bound') {
    const message = `DeploymentTargetClaim ${name} names DeploymentTarget ${named} and is bound to ${other.metadata.name}: a claim has one target`;
    return { phase: 'Lost', steps, problem: { reason: 'ClaimMisbound', message } };
  }
  const mayHeal = settings.lostHeals === 'name' || refersTo(target, claim);
  if (claim.status?.phase === 'Lost' && !mayHeal) return { phase: 'Lost', steps, problem: gone };
  const unready = uselessness(target);
  if (unready !== undefined) return { phase: undefined, steps, unready, target };
  // One edit of the claim in a pass, and its name comes before its phase.
  if (named === '' && steps.length > 0) return { phase: undefined, steps, target };
  if (named === '') steps.push(nameTarget(claim, target));
  const isMarked = claim.metadata.annotations?.[BIND_COMPLETE] !== undefined;
  if (!isMarked && steps.length === 0) steps.push(annotate(claim, boundMarks(view, claim)));
  const lock = lockSteps(claim, target, settings);
  // The claim says that it is bound when its target does, not before.
  if (lock.length > 0) return { phase: undefined, steps: [...steps, ...lock], target };
  const bound = { phase: 'Bound', steps: [...steps, ...phaseSteps(claim, target, settings)], target } as const;
  const place = backingProblem(view, target);
  if (place === undefined) return bound;
  // It keeps its target, and gets no other place behind its back.
  const whatToDo = place.isGone ? ': delete the claim and make another' : '';
  return { ...bound, unready: { reason: place.reason, message: `${place.message}${whatToDo}` } };
}

/** Binding is complete, and the expiry of the claim begins. */
function boundMarks(view: View, { metadata }: DeploymentTargetClaim): Marks {
  return { [BIND_COMPLETE]: 'true', [BOUND_AT]: metadata.annotations?.[BOUND_AT] ?? timeText(view.now()) };
}

/** Why a target that a claim has is of no use any more: the phase of the claim stays until the target is gone. */
function uselessness({ metadata, status }: DeploymentTarget): Problem | undefined {
  const phase = status?.phase ?? '';
  if (metadata.deletionTimestamp !== undefined) {
    return { reason: 'TargetDeleting', message: `DeploymentTarget ${metadata.name} is being deleted` };
  }
  if (phase !== 'Failed' && phase !== 'Released') return undefined;
  return { reason: `Target${phase}`, message: `DeploymentTarget ${metadata.name} is ${phase}` };
}

/** The provisioner annotation of a bound claim says who provisions its class, as long as it has one. */
function annotationSteps(view: View, claim: DeploymentTargetClaim, settings: Settings): Step[] {
  const before = claim.metadata.annotations?.[PROVISIONER];
  if (before === undefined) return [];
  const className = claim.spec.deploymentTargetClassName;
  if (className === '') return [annotate(claim, { [PROVISIONER]: undefined })];
  const wanted = provisionerOf(view, className, settings);
  return wanted === undefined || wanted === before ? [] : [annotate(claim, { [PROVISIONER]: wanted })];
}

function provisionerOf(view: View, className: string, settings: Settings): string | undefined {
  const found = classOf(view, className);
  if (settings.provisionerAnnotation === 'class') return className;
  return found?.spec.provisioner;
}

/** A claim that is not bound yet: is there a target for it? */
function findTarget(view: View, claim: DeploymentTargetClaim, settings: Settings): Verdict {
  const named = claim.spec.targetName ?? '';
  if (named === '') {
    const selector = selectorOf(claim);
    if (typeof selector === 'string') return pending('InvalidSelector', selector);
    const ofClass = classOf(view, claim.spec.deploymentTargetClassName);
    const allowStaticMatch = ofClass === undefined || (classParameters(ofClass).value?.allowStaticMatch ?? false);
    const targets = targetsFor(view, claim).filter((target) => backingProblem(view, target) === undefined);
    const found = bestMatch(claim, targets, { selector, allowStaticMatch });
    return found === undefined ? markForProvisioning(view, claim, settings) : bind(claim, found, settings);
  }
  const target = targetNamed(view, claim);
  if (target === undefined) {
    return {
      phase: 'Pending',
      unready: { reason: 'TargetNotFound', message: `waiting for DeploymentTarget ${named}` },
    };
  }
  const isReferring = refersTo(target, claim);
  if (claimNameOf(target) !== '' && !isReferring) {
    return pending('TargetClaimed', 'DeploymentTargetClaim wants to claim a DeploymentTarget that is already claimed');
  }
  if (target.metadata.deletionTimestamp !== undefined) {
    return pending('TargetDeleting', `DeploymentTarget ${named} is being deleted`);
  }
  // A claim and a target that name each other are bound whatever else differs: somebody wanted it so.
  const problem = isReferring ? undefined : mismatch(claim, target);
  if (problem !== undefined) {
    return pending('TargetMismatch', `DeploymentTarget does not match the specified DeploymentTargetClaim: ${problem}`);
  }
  const gone = backingProblem(view, target);
  if (gone !== undefined) return pending(gone.reason, gone.message);
  return bind(claim, target, settings);
}

function pending(reason: string, message: string): Verdict {
  return { phase: 'Pending', problem: { reason, message } };
}

/** The next step on the way to being bound: the lock, the target's phase, the claim's reference, its phase, the end. */
function bind(claim: DeploymentTargetClaim, target: DeploymentTarget, settings: Settings): Verdict {
  const lock = lockSteps(claim, target, settings);
  if (lock.length > 0) return { phase: undefined, steps: lock };
  const steps = phaseSteps(claim, target, settings);
  if ((claim.spec.targetName ?? '') === '') {
    return { phase: undefined, steps: [...steps, nameTarget(claim, target)] };
  }
  return { phase: 'Bound', steps, target };
}

/** The claim names the target that was found for it. */
function nameTarget(claim: DeploymentTargetClaim, target: DeploymentTarget): Step {
  const annotations = { ...claim.metadata.annotations, [BOUND_BY_CONTROLLER]: 'true' };
  const spec = { ...claim.spec, targetName: target.metadata.name };
  return edit(DeploymentTargetClaim, claim, { ...claim, metadata: { ...claim.metadata, annotations }, spec });
}

function lockSteps(claim: DeploymentTargetClaim, target: DeploymentTarget, { claimRefShape }: Settings): Step[] {
  const isLocked = claimNameOf(target) === claim.metadata.name && claimUidOf(target) === claim.metadata.uid;
  return isLocked ? [] : [edit(DeploymentTarget, target, withClaim(target, claim, claimRefShape))];
}

function phaseSteps(claim: DeploymentTargetClaim, target: DeploymentTarget, settings: Settings): Step[] {
  if (target.status?.phase === 'Bound' || lockSteps(claim, target, settings).length > 0) return [];
  return [editStatus(DeploymentTarget, target, { ...target.status, phase: 'Bound' })];
}

/** No target fits: whoever provisions the class shall make one. */
function markForProvisioning(view: View, claim: DeploymentTargetClaim, settings: Settings): Verdict {
  const className = claim.spec.deploymentTargetClassName;
  if (className === '') return { phase: 'Pending' };
  if (classOf(view, className) === undefined) {
    const message = `unable to handle provisioning of SpaceRequest: DeploymentTargetClaim ${claim.metadata.name} does not have a matching DeploymentTargetClass ${className}: the resource could not be found on the cluster`;
    return pending('ClassNotFound', message);
  }
  const wanted = provisionerOf(view, className, settings)!;
  const isMarked = claim.metadata.annotations?.[PROVISIONER] === wanted;
  return { phase: 'Pending', steps: isMarked ? [] : [annotate(claim, { [PROVISIONER]: wanted })] };
}

type Marks = Readonly<Record<string, string | undefined>>;

function annotate(claim: DeploymentTargetClaim, changes: Marks): Step {
  const annotations = { ...claim.metadata.annotations, ...changes } as Record<string, string>;
  return edit(DeploymentTargetClaim, claim, { ...claim, metadata: { ...claim.metadata, annotations } });
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
