// Checks whether a claim that is or was bound still has its target. The checks run in a fixed order, each a pure
// function of what was read; the first that finds something decides.
import { annotate, timestamp } from '../../kube/index.ts';
import { DeploymentTargetClaim } from '../../api/targets.ts';
import type { DeploymentTarget } from '../../api/targets.ts';
import type { View } from '../../controller/index.ts';
import type { Step } from '../../kube/index.ts';
import { claimNameOf, claimUidOf, refersTo } from '../claim-ref.ts';
import { BIND_COMPLETE, BOUND_AT, PROVISIONER } from '../names.ts';
import { START_AGAIN } from '../describe/state.ts';
import type { Problem } from '../provisioning/eligible.ts';
import { backingProblem } from '../reclaim/backing.ts';
import type { BackingProblem } from '../reclaim/backing.ts';
import { mainProblem, secretProblem } from '../reclaim/secret.ts';
import type { SecretProblem } from '../reclaim/secret.ts';
import type { Settings } from '../settings.ts';
import { targetNamed, targetsReferringTo } from '../world.ts';
import { lockSteps, nameTarget, phaseSteps } from './bind-steps.ts';
import { boundSince } from './expiry.ts';
import { provisionerOf } from './find-target.ts';
import type { Verdict } from './find-target.ts';
import { conflict } from './match.ts';

/** The input of the checks. */
export interface BoundClaim {
  readonly claim: DeploymentTargetClaim;
  /** The target that the claim names; empty if it names none. */
  readonly named: string;
  /** The targets that refer to the claim. */
  readonly referring: readonly DeploymentTarget[];
  /** For a claim that names no target: the targets that may be its own; normally one. */
  readonly candidates: readonly DeploymentTarget[];
  /** The target that the claim names or, if it names none, the one that refers to it. */
  readonly target: DeploymentTarget | undefined;
  /** Why the space or namespace behind the target can't be used. */
  readonly backing: BackingProblem | undefined;
  /** Why nobody can use the credentials of the target. */
  readonly noAccess: SecretProblem | undefined;
  /** Edits of stale annotations of the claim, due whatever else is found. */
  readonly stale: readonly Step[];
  readonly settings: Settings;
  readonly now: number;
}

/** The verdict of a check; undefined: found nothing, go on with the next. */
type Check = (bound: BoundClaim) => Verdict | undefined;

/** The input of the checks that come after `targetIsGone`. */
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

/** Plans a claim that is or was bound. */
export function upkeep(view: View, claim: DeploymentTargetClaim, settings: Settings): Verdict {
  return decide(boundClaim(view, claim, settings)).verdict;
}

/** The first check that finds something, and its verdict. The last check always does. */
export function decide(bound: BoundClaim): { readonly check: UpkeepCheck; readonly verdict: Verdict } {
  for (const [check, examine] of Object.entries(upkeepChecks)) {
    const verdict = examine(bound);
    if (verdict !== undefined) return { check: check as UpkeepCheck, verdict };
  }
  throw new Error('no check of a bound claim decided');
}

/** Reads the input of the checks. */
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
    noAccess: target && secretProblem(view, target),
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
  const message = `DeploymentTargetClaim ${claim.metadata.name} names DeploymentTarget ${named} and is bound to ${other.metadata.name}: a claim has one target; set spec.targetName back to ${other.metadata.name}`;
  return { phase: 'Lost', steps: stale, problem: { reason: 'ClaimMisbound', message } };
}

/** A recreated target of the same name is not the lost one, unless it refers to the claim or the name is enough. */
function lostTargetIsNotItsOwn({ claim, target, settings, stale }: WithTarget): Verdict | undefined {
  const mayHeal = settings.lostHeals === 'name' || refersTo(target, claim);
  if (claim.status?.phase !== 'Lost' || mayHeal) return undefined;
  return { phase: 'Lost', steps: stale, problem: notFound(claim) };
}

/** The claim keeps its phase until the target is gone. */
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

/** A reconcile edits the claim only once, and the target's name is written before the phase. */
function annotationComesBeforeTheName({ named, stale, target }: WithTarget): Verdict | undefined {
  return named === '' && stale.length > 0 ? { phase: undefined, steps: stale, target } : undefined;
}

/** The claim becomes Bound only after its target refers to it. */
function targetIsNotLocked(bound: WithTarget): Verdict | undefined {
  const { claim, target, settings } = bound;
  const lock = lockSteps(claim, target, settings);
  return lock.length > 0 ? { phase: undefined, steps: [...claimEdits(bound), ...lock], target } : undefined;
}

/** The claim keeps its target, and gets no replacement when the namespace behind it is gone. */
function stillBound(bound: WithTarget): Verdict {
  const { claim, target, backing, noAccess, settings } = bound;
  const steps = [...claimEdits(bound), ...phaseSteps(claim, target, settings)];
  const problem = mainProblem(backing, noAccess);
  if (problem === undefined) return { phase: 'Bound', steps, target };
  const whatToDo = backing?.isGone ? `: ${START_AGAIN}` : '';
  const unready = { reason: problem.reason, message: `${problem.message}${whatToDo}` };
  return { phase: 'Bound', steps, unready, target };
}

/** The one edit of the claim in this reconcile: a stale annotation, the name of its target, or bind-complete. */
function claimEdits({ claim, named, target, stale, now }: WithTarget): readonly Step[] {
  if (stale.length > 0) return stale;
  if (named === '') return [nameTarget(claim, target)];
  const { [BIND_COMPLETE]: isComplete, [BOUND_AT]: boundAt = boundSince(claim) ?? timestamp(now) } =
    claim.metadata.annotations ?? {};
  return isComplete === undefined
    ? [annotate(DeploymentTargetClaim, claim, { [BIND_COMPLETE]: 'true', [BOUND_AT]: boundAt })]
    : [];
}

/** Updates the provisioner annotation of a bound claim to that of its class, and removes it without a class. */
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

/** A check that needs a target; `targetIsGone` comes before it. */
function withTarget(check: (bound: WithTarget) => Verdict | undefined): Check {
  return (bound) => (bound.target === undefined ? undefined : check({ ...bound, target: bound.target }));
}
