// The binder: brings a claim and a target together, one to one. The reference from the target to the claim is the lock
// and is written first; everything else follows from it, one step at a time, so that a crash between any two writes
// ends in the same state.
import { DeploymentTarget, DeploymentTargetClaim } from '../api/targets.ts';
import { defineController } from '../controller/index.ts';
import type { ControllerDefinition, Plan, PlannedEvent, View } from '../controller/index.ts';
import { edit, editStatus, parseDuration, remove } from '../kube/index.ts';
import type { Step } from '../kube/index.ts';
import { claimNameOf, refersTo, withClaim } from './claim-ref.ts';
import { planClaimDeletion } from './claim-deletion.ts';
import { bestMatch, conflict, mismatch } from './match.ts';
import { BIND_COMPLETE, BOUND_BY_CONTROLLER, CLAIM_FINALIZER, CLAIM_UID, EXPIRES_AT, PROVISIONER } from './names.ts';
import { progressOf } from './progress.ts';
import type { Settings } from './settings.ts';
import { condition, errorCondition } from './status.ts';
import { claimTables, classOf, targetNamed, targetsReferringTo } from './world.ts';

type Phase = 'Pending' | 'Bound' | 'Lost';

/** What a pass found out about a claim. */
interface Verdict {
  readonly phase: Phase | undefined;
  readonly steps?: readonly Step[];
  /** What is wrong. */
  readonly problem?: string | undefined;
}

export function binder(settings: Settings): ControllerDefinition {
  return defineController<DeploymentTargetClaim>({
    name: 'binder',
    kind: DeploymentTargetClaim,
    finalizers: [CLAIM_FINALIZER],
    reads: claimTables,
    plan: (view, claim) => planClaim(view, claim, settings),
  });
}

/** Plans one claim. */
function planClaim(view: View, claim: DeploymentTargetClaim, settings: Settings): Plan {
  if (claim.metadata.deletionTimestamp !== undefined) return planClaimDeletion(view, claim, settings);
  const life = lifeOf(view, claim);
  if (life.expired) {
    return {
      steps: [remove(DeploymentTargetClaim, claim)],
      events: [{ type: 'Normal', reason: 'Expired', note: `the claim has lived for ${claim.spec.ttl}` }],
    };
  }
  const isComplete = claim.metadata.annotations?.[BIND_COMPLETE] !== undefined;
  const verdict = isComplete ? upkeep(view, claim, settings) : findTarget(view, claim, settings);
  const phase = verdict.phase ?? claim.status?.phase;
  const progress = phase === 'Pending' ? progressOf(view, claim, settings) : undefined;
  const problem = verdict.problem ?? progress?.problem;
  const conditions = [
    errorCondition(problem),
    condition('Ready', phase === 'Bound', phase ?? 'Pending', problem ?? ''),
    ...(progress?.conditions ?? []),
  ];
  const lookAgainMs = Math.min(life.leftMs ?? Infinity, progress?.lookAgainMs ?? Infinity);
  return {
    steps: [...(verdict.steps ?? []), ...(verdict.steps?.length ? [] : life.steps)],
    status: { ...claim.status, ...(phase !== undefined && { phase }), conditions },
    events: [...transition(claim, phase, verdict.problem), ...(progress?.events ?? [])],
    ...(Number.isFinite(lookAgainMs) && { requeueAfterMs: lookAgainMs }),
  };
}

/** A claim that is bound, or was: is its target still there and still its own? */
function upkeep(view: View, claim: DeploymentTargetClaim, settings: Settings): Verdict {
  const steps = annotationSteps(view, claim, settings);
  const { name, namespace } = claim.metadata;
  const referring = targetsReferringTo(view, claim);
  const named = claim.spec.targetName ?? '';
  const target = named === '' ? referring[0] : targetNamed(view, claim);
  if (named === '' && referring.length > 1) {
    return {
      phase: undefined,
      steps,
      problem: `failed to get a DeploymentTarget for the given DeploymentTargetClaim ${name}`,
    };
  }
  const gone = `DeploymentTarget not found for a bounded DeploymentTargetClaim ${name} in namespace ${namespace}`;
  if (target === undefined) return { phase: 'Lost', steps, problem: gone };
  const held = claimNameOf(target) !== '' && !refersTo(target, claim);
  if (held) return { phase: 'Lost', steps, problem: conflict(claim, target) ?? gone };
  const mayHeal = settings.lostHeals === 'name' || refersTo(target, claim);
  if (claim.status?.phase === 'Lost' && !mayHeal) return { phase: 'Lost', steps, problem: gone };
  const final =
    target.metadata.deletionTimestamp !== undefined || ['Failed', 'Released'].includes(target.status?.phase ?? '');
  if (final) return { phase: undefined, steps };
  return { phase: 'Bound', steps: [...steps, ...lockSteps(claim, target), ...phaseSteps(claim, target)] };
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
    const found = bestMatch(claim, view.list(DeploymentTarget, { namespace: claim.metadata.namespace! }));
    return found === undefined ? markForProvisioning(view, claim, settings) : bind(claim, found);
  }
  const target = targetNamed(view, claim);
  if (target === undefined) return { phase: 'Pending' };
  const holder = claimNameOf(target);
  if (holder !== '' && !refersTo(target, claim)) {
    return {
      phase: 'Pending',
      problem: 'DeploymentTargetClaim wants to claim a DeploymentTarget that is already claimed',
    };
  }
  if (target.metadata.deletionTimestamp !== undefined) {
    return { phase: 'Pending', problem: `DeploymentTarget ${named} is being deleted` };
  }
  // A claim and a target that name each other are bound whatever else differs: somebody wanted it so.
  const problem = holder === '' ? mismatch(claim, target) : undefined;
  if (problem !== undefined) {
    return {
      phase: 'Pending',
      problem: `DeploymentTarget does not match the specified DeploymentTargetClaim: ${problem}`,
    };
  }
  return bind(claim, target);
}

/** The next step on the way to being bound: the lock, the target's phase, the claim's reference, its phase, the end. */
function bind(claim: DeploymentTargetClaim, target: DeploymentTarget): Verdict {
  const lock = lockSteps(claim, target);
  if (lock.length > 0) return { phase: undefined, steps: lock };
  const steps = phaseSteps(claim, target);
  if ((claim.spec.targetName ?? '') === '') {
    const annotations = { ...claim.metadata.annotations, [BOUND_BY_CONTROLLER]: 'true' };
    const next = {
      ...claim,
      metadata: { ...claim.metadata, annotations },
      spec: { ...claim.spec, targetName: target.metadata.name },
    };
    return { phase: undefined, steps: [...steps, edit(DeploymentTargetClaim, claim, next)] };
  }
  if (claim.status?.phase === 'Bound') steps.push(annotate(claim, { [BIND_COMPLETE]: 'true' }));
  return { phase: 'Bound', steps };
}

function lockSteps(claim: DeploymentTargetClaim, target: DeploymentTarget): Step[] {
  const isLocked = refersTo(target, claim) && target.metadata.annotations?.[CLAIM_UID] === claim.metadata.uid;
  return isLocked ? [] : [edit(DeploymentTarget, target, withClaim(target, claim))];
}

function phaseSteps(claim: DeploymentTargetClaim, target: DeploymentTarget): Step[] {
  if (target.status?.phase === 'Bound' || lockSteps(claim, target).length > 0) return [];
  return [editStatus(DeploymentTarget, target, { ...target.status, phase: 'Bound' })];
}

/** No target fits: whoever provisions the class shall make one. */
function markForProvisioning(view: View, claim: DeploymentTargetClaim, settings: Settings): Verdict {
  const className = claim.spec.deploymentTargetClassName;
  if (className === '') return { phase: 'Pending' };
  if (classOf(view, className) === undefined) {
    const problem = `unable to handle provisioning of SpaceRequest: DeploymentTargetClaim ${claim.metadata.name} does not have a matching DeploymentTargetClass ${className}: the resource could not be found on the cluster`;
    return { phase: 'Pending', problem };
  }
  const wanted = provisionerOf(view, className, settings)!;
  const isMarked = claim.metadata.annotations?.[PROVISIONER] === wanted;
  return { phase: 'Pending', steps: isMarked ? [] : [annotate(claim, { [PROVISIONER]: wanted })] };
}

function annotate(claim: DeploymentTargetClaim, changes: Readonly<Record<string, string | undefined>>): Step {
  const annotations = { ...claim.metadata.annotations, ...changes } as Record<string, string>;
  return edit(DeploymentTargetClaim, claim, { ...claim, metadata: { ...claim.metadata, annotations } });
}

interface Life {
  readonly expired: boolean;
  readonly leftMs?: number;
  readonly steps: readonly Step[];
}

/** How long a claim with a time to live still has, counted from when it was bound. */
function lifeOf(view: View, claim: DeploymentTargetClaim): Life {
  const { ttl } = claim.spec;
  const ready = claim.status?.conditions?.find(({ type }) => type === 'Ready');
  if (ttl === undefined || ready?.status !== 'True') return { expired: false, steps: [] };
  const lifeMs = parseDuration(ttl);
  if (lifeMs === undefined) return { expired: false, steps: [] };
  const end = Date.parse(ready.lastTransitionTime) + lifeMs;
  const expiresAt = `${new Date(end).toISOString().slice(0, 19)}Z`;
  const isTold = claim.metadata.annotations?.[EXPIRES_AT] === expiresAt;
  const leftMs = end - view.now();
  return { expired: leftMs <= 0, leftMs, steps: isTold ? [] : [annotate(claim, { [EXPIRES_AT]: expiresAt })] };
}

function transition(
  claim: DeploymentTargetClaim,
  phase: string | undefined,
  problem: string | undefined,
): PlannedEvent[] {
  const before = claim.status?.conditions?.find(({ type }) => type === 'ErrorOccurred');
  const events: PlannedEvent[] = [];
  if (phase !== undefined && phase !== claim.status?.phase) {
    const type = phase === 'Lost' ? 'Warning' : 'Normal';
    events.push({ type, reason: phase, note: problem ?? `the claim is ${phase.toLowerCase()}` });
  } else if (problem !== undefined && problem !== before?.message) {
    events.push({ type: 'Warning', reason: 'Problem', note: problem });
  }
  return events;
}
