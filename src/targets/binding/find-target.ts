// Finds a target for a claim that is not bound yet. If none fits, the provisioner of its class should make one.
import { annotate } from '../../kube/index.ts';
import type { Step } from '../../kube/index.ts';
import { DeploymentTargetClaim } from '../../api/targets.ts';
import type { DeploymentTarget } from '../../api/targets.ts';
import type { View } from '../../controller/index.ts';
import { claimNameOf, refersTo } from '../claim-ref.ts';
import { PROVISIONER } from '../names.ts';
import type { Problem } from '../provisioning/eligible.ts';
import { classParameters } from '../provisioning/parameters.ts';
import { backingProblem, bindingProblem } from '../reclaim/backing.ts';
import { mainProblem, secretProblem } from '../reclaim/secret.ts';
import type { Settings } from '../settings.ts';
import { claimsNaming, classOf, targetNamed, targetsFor } from '../world.ts';
import { lockSteps, nameTarget, phaseSteps } from './bind-steps.ts';
import { bestMatch, mismatch, selectorOf } from './match.ts';

/** What was found out about a claim, bound or not. The binder writes it as the status. */
export interface Verdict {
  /** Undefined: unchanged. */
  readonly phase: 'Pending' | 'Bound' | 'Lost' | undefined;
  readonly steps?: readonly Step[];
  /** An error. */
  readonly problem?: Problem;
  /** Why the claim can't be used, without an error. */
  readonly unready?: Problem;
  /** The target of the claim. */
  readonly target?: DeploymentTarget;
}

/** Finds a target for a claim and takes the next step on the way to being bound to it. */
export function findTarget(view: View, claim: DeploymentTargetClaim, settings: Settings): Verdict {
  const named = claim.spec.targetName ?? '';
  if (named === '') return findAnyTarget(view, claim, settings);
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
  // A claim and a target that name each other are bound whatever else differs: somebody asked for it.
  const problem = isReferring ? undefined : mismatch(claim, target);
  if (problem !== undefined) {
    return pending('TargetMismatch', `DeploymentTarget does not match the specified DeploymentTargetClaim: ${problem}`);
  }
  const backing = bindingProblem(view, target);
  if (backing !== undefined) return pending(backing.reason, backing.message);
  return bind(view, claim, target, settings);
}

/** The best target for a claim that names none, or a new one. */
function findAnyTarget(view: View, claim: DeploymentTargetClaim, settings: Settings): Verdict {
  const selector = selectorOf(claim);
  if (typeof selector === 'string') return pending('InvalidSelector', selector);
  const ofClass = classOf(view, claim.spec.deploymentTargetClassName);
  const allowStaticMatch = ofClass === undefined || (classParameters(ofClass).value?.allowStaticMatch ?? false);
  const targets = targetsFor(view, claim).filter(
    (target) => bindingProblem(view, target) === undefined && !isForAnother(view, claim, target),
  );
  const found = bestMatch(claim, targets, { selector, allowStaticMatch });
  return found === undefined ? markForProvisioning(view, claim, settings) : bind(view, claim, found, settings);
}

/** Whether another claim names a target that is free, and can have it: somebody asked for exactly that. */
function isForAnother(view: View, claim: DeploymentTargetClaim, target: DeploymentTarget): boolean {
  return (
    !refersTo(target, claim) &&
    claimsNaming(view, target).some(
      (other) => other.metadata.deletionTimestamp === undefined && mismatch(other, target) === undefined,
    )
  );
}

function pending(reason: Problem['reason'], message: string): Verdict {
  return { phase: 'Pending', problem: { reason, message } };
}

/** The next step on the way to being bound. */
function bind(view: View, claim: DeploymentTargetClaim, target: DeploymentTarget, settings: Settings): Verdict {
  const lock = lockSteps(claim, target, settings);
  if (lock.length > 0) return { phase: undefined, steps: lock };
  const steps = phaseSteps(claim, target, settings);
  if ((claim.spec.targetName ?? '') === '') {
    return { phase: undefined, steps: [...steps, nameTarget(claim, target)] };
  }
  const unready = mainProblem(backingProblem(view, target), secretProblem(view, target));
  return { phase: 'Bound', steps, target, ...(unready && { unready }) };
}

/** No target fits: marks the claim, so that the provisioner of its class makes one. */
function markForProvisioning(view: View, claim: DeploymentTargetClaim, settings: Settings): Verdict {
  const className = claim.spec.deploymentTargetClassName;
  if (className === '') return { phase: 'Pending' };
  if (classOf(view, className) === undefined) {
    const message = `unable to handle provisioning of SpaceRequest: DeploymentTargetClaim ${claim.metadata.name} does not have a matching DeploymentTargetClass ${className}: the resource could not be found on the cluster`;
    return pending('ClassNotFound', message);
  }
  const provisioner = provisionerOf(view, className, settings)!;
  const isMarked = claim.metadata.annotations?.[PROVISIONER] === provisioner;
  return {
    phase: 'Pending',
    steps: isMarked ? [] : [annotate(DeploymentTargetClaim, claim, { [PROVISIONER]: provisioner })],
  };
}

/** The provisioner annotation for claims of this class; undefined if it is not known. */
export function provisionerOf(view: View, className: string, settings: Settings): string | undefined {
  const found = classOf(view, className);
  if (settings.provisionerAnnotation === 'class') return className;
  return found?.spec.provisioner;
}
