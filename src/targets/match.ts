// Which target a claim may have, and which it gets.
import type { DeploymentTarget, DeploymentTargetClaim } from '../api/targets.ts';
import { matches, parseSelector } from '../kube/index.ts';
import { claimNameOf, refersTo } from './claim-ref.ts';
import { PROVISIONER, REQUESTED_NAMESPACE, SELECTOR } from './names.ts';

/** Why a claim can't have a target; undefined when it can. The texts are contract. */
export function mismatch(claim: DeploymentTargetClaim, target: DeploymentTarget): string | undefined {
  const problem = difference(claim, target);
  if (problem === undefined) return conflict(claim, target);
  const { name, namespace } = claim.metadata;
  return `DeploymentTarget ${target.metadata.name} does not match DeploymentTargetClaim ${name} in namespace ${namespace}: ${problem}`;
}

function difference(claim: DeploymentTargetClaim, target: DeploymentTarget): string | undefined {
  if (claimNameOf(target) !== '' && !refersTo(target, claim)) {
    return "DeploymentTarget already references another DeploymentTargetClaim via DeploymentTarget's .spec.claimRef field";
  }
  if (target.spec.deploymentTargetClassName !== claim.spec.deploymentTargetClassName) {
    return 'deploymentTargetClassName does not match';
  }
  const phase = target.status?.phase ?? '';
  if (phase !== '' && phase !== 'Available') return 'DeploymentTarget is not in Available phase';
  return hasCredentials(target) ? undefined : 'DeploymentTarget does not have cluster credentials';
}

/** Whether a target says how to reach it. The Secret itself may still be missing: whoever deploys will tell. */
export function hasCredentials({ spec }: DeploymentTarget): boolean {
  const { apiURL, clusterCredentialsSecret } = spec.kubernetesCredentials;
  return apiURL !== '' && clusterCredentialsSecret !== '';
}

/** Why references of a claim and a target stand against binding them; unrelated ones do not. */
export function conflict(claim: DeploymentTargetClaim, target: DeploymentTarget): string | undefined {
  const wanted = claim.spec.targetName ?? '';
  const held = claimNameOf(target);
  const { name } = target.metadata;
  const wantsIt = wanted === '' || wanted === name;
  const isFree = held === '' || refersTo(target, claim);
  if (wantsIt === isFree) return undefined;
  const problem = wantsIt
    ? 'DeploymentTarget has a claimRef to another DeploymentTargetClaim'
    : 'DeploymentTargetClaim targets a DeploymentTarget that is already claimed';
  return `cannot bind DeploymentTargetClaim ${claim.metadata.name} with target "${wanted}" to DeploymentTarget ${name} with claim ref "${held}": ${problem}`;
}

/**
 * The best target for a claim that names none: one that is reserved for it, otherwise the oldest that fits. A claim
 * that is being provisioned for takes only the target that was made for it.
 */
export function bestMatch(
  claim: DeploymentTargetClaim,
  targets: readonly DeploymentTarget[],
): DeploymentTarget | undefined {
  const provisioned = claim.metadata.annotations?.[PROVISIONER] !== undefined;
  const selector = parseSelector(claim.metadata.annotations?.[SELECTOR] ?? '');
  const requested = claim.metadata.annotations?.[REQUESTED_NAMESPACE];
  // Spaces put their own name before the one that was asked for.
  const hasName = ({ spec }: DeploymentTarget): boolean => {
    const name = spec.kubernetesCredentials.defaultNamespace;
    return requested === undefined || name === requested || name.endsWith(`-${requested}`);
  };
  const candidates = targets.filter((target) => {
    if (target.metadata.deletionTimestamp !== undefined || mismatch(claim, target) !== undefined) return false;
    return refersTo(target, claim) || (!provisioned && hasName(target) && matches(selector, target.metadata.labels));
  });
  const rank = (target: DeploymentTarget): string =>
    [refersTo(target, claim) ? 0 : 1, target.metadata.creationTimestamp ?? '', target.metadata.name].join(' ');
  return candidates.sort((a, b) => (rank(a) < rank(b) ? -1 : 1))[0];
}
