// A claim that is bound, or was: is its target still there and still its own? Checks in a fixed order, each a pure
// function of what was read; the first that finds something decides.
import { annotate, timestamp } from '../../kube/index.ts';
import { DeploymentTargetClaim } from '../../api/targets.ts';
import type { DeploymentTarget } from '../../api/targets.ts';
import type { View } from '../../controller/index.ts';
import type { Step } from '../../kube/index.ts';
import { claimNameOf, claimUidOf, refersTo } from '../claim-ref.ts';
import { BIND_COMPLETE, BOUND_AT, PROVISIONER } from '../names.ts';
import type { Problem } from '../provisioning/eligible.ts';
import { backingProblem } from '../reclaim/backing.ts';
import type { BackingProblem } from '../reclaim/backing.ts';
import type { Settings } from '../settings.ts';
import { targetNamed, targetsReferringTo } from '../world.ts';
import { lockSteps, nameTarget, phaseSteps } from './bind-steps.ts';
import { provisionerOf } from './find-target.ts';
import { conflict } from './match.ts';
import type { Verdict } from './verdict.ts';

/** All that the checks look at. */
export interface BoundClaim {
  readonly claim: DeploymentTargetClaim;
  /** The target that the claim names; empty if it names none. */
  readonly named: string;
  /** The targets that refer to the claim. */
  readonly referring: readonly DeploymentTarget[];
  /** Of a claim that names no target: those that may be its own, which is one in order. */
  readonly candidates: readonly DeploymentTarget[];
  /** The target that the claim names or, if it names none, that refers to it. */
  readonly target: DeploymentTarget | undefined;
  /** What is wrong with what the target stands for. */
  readonly backing: BackingProblem | undefined;
  /** Edits of the claim that are due whatever else is found. */
  readonly stale: readonly Step[];
  readonly settings: Settings;
  readonly now: number;
}

/** What a check concludes; undefined: it has nothing to object, go on with the next. */
type Check = (bound: BoundClaim) => Verdict | undefined;

/** What a check that comes after `targetIsGone` looks at. */
interface WithTarget extends BoundClaim {
  readonly target: DeploymentTarget;
}

/** The checks in their order. */
export const upkeepChecks = {
  severalTargetsReferToIt,
  targetIsGone,
  targetBelongsToAnother: withTarget(targetBelongsToAnother),
  boundToAnotherTarget: withTarget(boundToAnotherTarget),
  lostTargetIsNotItsOwn: withTarget(lostTargetIsNotItsOwn),
  targetCannotBeUsed: withTarget(targetCannotBeUsed),
  annotationComesBeforeTheName: withTarget(annotationComesBeforeTheName),
  targetIsNotLocked: withTarget(targetIsNotLocked),
  stillBound: withTarget(stillBound),
} satisfies Readonly<Record<string, Check>>;

export type UpkeepCheck = keyof typeof upkeepChecks;

/** Looks after a claim that is bound, or was. */
export function upkeep(view: View, claim: DeploymentTargetClaim, settings: Settings): Verdict {
  return decide(boundClaim(view, claim, settings)).verdict;
}

/** The first check that finds something, and what it concludes. The last one always does. */
export function decide(bound: BoundClaim): { readonly check: UpkeepCheck; readonly verdict: Verdict } {
  for (const [check, examine] of Object.entries(upkeepChecks)) {
    const verdict = examine(bound);
    if (verdict !== undefined) return { check: check as UpkeepCheck, verdict };
  }
  throw new Error('no check of a bound claim decided');
}

/** Reads all that the checks look at. */
export function boundClaim(view: View, claim: DeploymentTargetClaim, settings: Settings): BoundClaim {
  const named = claim.spec.targetName ?? '';
  const referring = targetsReferringTo(view, claim);
  const locked = referring.filter((each) => claimUidOf(each) === claim.metadata.uid);
  const candidates = locked.length > 0 ? locked : referring;
  const target = named === '' ? candidates[0] : targetNamed(view, claim);
  return {
    claim,
    named,
    referring,
    candidates,
    target,
    backing: target && backingProblem(view, target),
    stale: staleAnnotation(view, claim, settings),
    settings,
    now: view.now(),
  };
}

function severalTargetsReferToIt({ claim, named, candidates, stale }: BoundClaim): Verdict | undefined {
  if (named !== '' || candidates.length < 2) return undefined;
  const message = `failed to get a DeploymentTarget for the given DeploymentTargetClaim ${claim.metadata.name}`;
  return { phase: undefined, steps: stale, problem: { reason: 'SeveralTargets', message } };
}

function targetIsGone({ claim, target, stale }: BoundClaim): Verdict | undefined {
  return target === undefined ? { phase: 'Lost', steps: stale, problem: notFound(claim) } : undefined;
}

function notFound({ metadata: { name, namespace } }: DeploymentTargetClaim): Problem {
  const message = `DeploymentTarget not found for a bounded DeploymentTargetClaim ${name} in namespace ${namespace}`;
  return { reason: 'Lost', message };
}

function targetBelongsToAnother({ claim, target, stale }: WithTarget): Verdict | undefined {
  if (claimNameOf(target) === '' || refersTo(target, claim)) return undefined;
  const message = conflict(claim, target) ?? notFound(claim).message;
  return { phase: 'Lost', steps: stale, problem: { reason: 'ClaimMisbound', message } };
}

function boundToAnotherTarget({ claim, named, referring, target, stale }: WithTarget): Verdict | undefined {
  const other = referring.find(({ metadata, status }) => metadata.name !== named && status?.phase === 'Bound');
  if (named === '' || other === undefined || target.status?.phase === 'Bound') return undefined;
  const message = `DeploymentTargetClaim ${claim.metadata.name} names DeploymentTarget ${named} and is bound to ${other.metadata.name}: a claim has one target`;
  return { phase: 'Lost', steps: stale, problem: { reason: 'ClaimMisbound', message } };
}

/** A target of the name that came back is not the one that was lost, unless it says so or any will do. */
function lostTargetIsNotItsOwn({ claim, target, settings, stale }: WithTarget): Verdict | undefined {
  const mayHeal = settings.lostHeals === 'name' || refersTo(target, claim);
  if (claim.status?.phase !== 'Lost' || mayHeal) return undefined;
  return { phase: 'Lost', steps: stale, problem: notFound(claim) };
}

/** The phase of the claim stays until the target is gone. */
function targetCannotBeUsed({ target, stale }: WithTarget): Verdict | undefined {
  const { metadata, status } = target;
  const unready = (reason: Problem['reason'], is: string): Verdict => ({
    phase: undefined,
    steps: stale,
    unready: { reason, message: `DeploymentTarget ${metadata.name} is ${is}` },
    target,
  });
  if (metadata.deletionTimestamp !== undefined) return unready('TargetDeleting', 'being deleted');
  const phase = status?.phase ?? '';
  if (phase === 'Failed') return unready('TargetFailed', phase);
  return phase === 'Released' ? unready('TargetReleased', phase) : undefined;
}

/** One edit of the claim in a reconcile, and its name comes before its phase. */
function annotationComesBeforeTheName({ named, stale, target }: WithTarget): Verdict | undefined {
  return named === '' && stale.length > 0 ? { phase: undefined, steps: stale, target } : undefined;
}

/** The claim says that it is bound when its target does, not before. */
function targetIsNotLocked(bound: WithTarget): Verdict | undefined {
  const { claim, target, settings } = bound;
  const lock = lockSteps(claim, target, settings);
  return lock.length > 0 ? { phase: undefined, steps: [...claimEdits(bound), ...lock], target } : undefined;
}

/** It keeps its target, and gets nothing else in its stead where what that stands for is gone. */
function stillBound(bound: WithTarget): Verdict {
  const { claim, target, backing, settings } = bound;
  const steps = [...claimEdits(bound), ...phaseSteps(claim, target, settings)];
  if (backing === undefined) return { phase: 'Bound', steps, target };
  const whatToDo = backing.isGone ? ': delete the claim and create another' : '';
  const unready = { reason: backing.reason, message: `${backing.message}${whatToDo}` };
  return { phase: 'Bound', steps, unready, target };
}

/** The one edit that the claim gets in this reconcile: a stale annotation, the name of its target, that binding is complete. */
function claimEdits({ claim, named, target, stale, now }: WithTarget): readonly Step[] {
  if (stale.length > 0) return stale;
  if (named === '') return [nameTarget(claim, target)];
  const { [BIND_COMPLETE]: isComplete, [BOUND_AT]: boundAt = timestamp(now) } = claim.metadata.annotations ?? {};
  return isComplete === undefined
    ? [annotate(DeploymentTargetClaim, claim, { [BIND_COMPLETE]: 'true', [BOUND_AT]: boundAt })]
    : [];
}

/** The provisioner annotation of a bound claim says who provisions its class, as long as it has one. */
function staleAnnotation(view: View, claim: DeploymentTargetClaim, settings: Settings): Step[] {
  const before = claim.metadata.annotations?.[PROVISIONER];
  if (before === undefined) return [];
  const className = claim.spec.deploymentTargetClassName;
  if (className === '') return [annotate(DeploymentTargetClaim, claim, { [PROVISIONER]: undefined })];
  const current = provisionerOf(view, className, settings);
  return current === undefined || current === before
    ? []
    : [annotate(DeploymentTargetClaim, claim, { [PROVISIONER]: current })];
}

/** A check of a claim that has a target; whether it has one was checked before. */
function withTarget(check: (bound: WithTarget) => Verdict | undefined): Check {
  return (bound) => (bound.target === undefined ? undefined : check({ ...bound, target: bound.target }));
}
