// Which target a claim may have, and which it gets.
import type { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import { matches, parseSelector } from '../../kube/index.ts';
import type { Selector } from '../../kube/index.ts';
import { claimNameOf, claimUidOf, isProvisioned, refersTo } from '../claim-ref.ts';
import { PROVISIONER, RECYCLED, REQUESTED_NAMESPACE, sandboxTarget, SELECTOR } from '../names.ts';

/** Why a claim can't have a target; undefined when it can. The messages are contract. */
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
  const isOpen = phase === '' || phase === 'Available' || (phase === 'Bound' && isLockedFor(target, claim));
  if (!isOpen) return 'DeploymentTarget is not in Available phase';
  return hasCredentials(target) ? undefined : 'DeploymentTarget does not have cluster credentials';
}

/** Whether a target is bound to this very claim, and only the claim is not updated: the process crashed in between. */
function isLockedFor(target: DeploymentTarget, claim: DeploymentTargetClaim): boolean {
  const uid = claimUidOf(target);
  return uid !== undefined && uid === claim.metadata.uid && refersTo(target, claim);
}

/** Whether a target says how to reach it. The Secret itself may still be missing: the deployer reports that. */
export function hasCredentials({ spec }: DeploymentTarget): boolean {
  const { apiURL, clusterCredentialsSecret } = spec.kubernetesCredentials;
  return apiURL !== '' && clusterCredentialsSecret !== '';
}

/** Why the references of a claim and a target forbid binding them; unrelated ones do not. */
export function conflict(claim: DeploymentTargetClaim, target: DeploymentTarget): string | undefined {
  const requestedTarget = claim.spec.targetName ?? '';
  const claimName = claimNameOf(target);
  const { name } = target.metadata;
  const wantsIt = requestedTarget === '' || requestedTarget === name;
  const isFree = claimName === '' || refersTo(target, claim);
  if (wantsIt === isFree) return undefined;
  const problem = wantsIt
    ? 'DeploymentTarget has a claimRef to another DeploymentTargetClaim'
    : 'DeploymentTargetClaim targets a DeploymentTarget that is already claimed';
  return `cannot bind DeploymentTargetClaim ${claim.metadata.name} with target "${requestedTarget}" to DeploymentTarget ${name} with claim ref "${claimName}": ${problem}`;
}

/** The label selector of a claim for its target, or the error if it is invalid. */
export function selectorOf({ metadata }: DeploymentTargetClaim): Selector | string {
  try {
    return parseSelector(metadata.annotations?.[SELECTOR] ?? '');
  } catch (error) {
    return `annotation ${SELECTOR}: ${(error as Error).message}`;
  }
}

interface Choice {
  readonly selector: Selector;
  /** Whether the claim may have a target that was created by hand and is not reserved. */
  readonly allowStaticMatch: boolean;
}

/**
 * The best target for a claim that names none. A claim that is marked for provisioning takes only the target that was
 * made for it, or the one whose name blocks making it.
 */
export function bestMatch(
  claim: DeploymentTargetClaim,
  targets: readonly DeploymentTarget[],
  { selector, allowStaticMatch }: Choice,
): DeploymentTarget | undefined {
  const { [PROVISIONER]: mark, [REQUESTED_NAMESPACE]: requested } = claim.metadata.annotations ?? {};
  const mayTake = (target: DeploymentTarget): boolean =>
    mark === undefined && (allowStaticMatch || originOf(target) === 'provisioned');
  const fits = (target: DeploymentTarget): boolean =>
    (mayTake(target) || blocksNewTarget(claim, target)) && isAsRequested(target, selector, requested);
  const candidates = targets.filter((target) => {
    if (target.metadata.deletionTimestamp !== undefined || mismatch(claim, target) !== undefined) return false;
    return refersTo(target, claim) || fits(target);
  });
  return candidates.sort(byRank((target) => rank(claim, target, selector, requested)))[0];
}

/** A target that an earlier claim of the same name left: its name blocks a new one, so this claim takes it. */
function blocksNewTarget({ metadata }: DeploymentTargetClaim, target: DeploymentTarget): boolean {
  return target.metadata.name === sandboxTarget(metadata.name) && originOf(target) !== 'person';
}

/** Whether a claim could get a used target once that is made available again. */
export function couldTakeOver(claim: DeploymentTargetClaim, target: DeploymentTarget): boolean {
  const selector = selectorOf(claim);
  return (
    originOf(target) !== 'person' &&
    target.spec.deploymentTargetClassName === claim.spec.deploymentTargetClassName &&
    typeof selector !== 'string' &&
    isAsRequested(target, selector, claim.metadata.annotations?.[REQUESTED_NAMESPACE])
  );
}

/** Whether a target has the labels and the namespace that a claim asks for. */
function isAsRequested(target: DeploymentTarget, selector: Selector, requested: string | undefined): boolean {
  return nameDistance(target, requested) !== undefined && matches(selector, target.metadata.labels);
}

type Origin = 'person' | 'provisioned' | 'recycled';
const ORIGINS: readonly Origin[] = ['person', 'provisioned', 'recycled'];

/** Where a target comes from: created by hand, provisioned for claims, or used by an earlier claim. */
function originOf(target: DeploymentTarget): Origin {
  if (target.metadata.annotations?.[RECYCLED] !== undefined) return 'recycled';
  return isProvisioned(target) ? 'provisioned' : 'person';
}

/** How well the namespace of a target fits the requested name; undefined if it does not. Spaces add a prefix. */
function nameDistance({ spec }: DeploymentTarget, requested: string | undefined): number | undefined {
  const name = spec.kubernetesCredentials.defaultNamespace;
  if (requested === undefined || name === requested) return 0;
  return name.endsWith(`-${requested}`) ? 1 : undefined;
}

/**
 * Ranks a target, most important first: whether it is reserved for the claim, the requested namespace, how few labels
 * it has beyond the selector, where it comes from, its age, its name.
 */
function rank(
  claim: DeploymentTargetClaim,
  target: DeploymentTarget,
  selector: Selector,
  requested: string | undefined,
): readonly (number | string)[] {
  const { labels = {}, creationTimestamp = '', name } = target.metadata;
  return [
    refersTo(target, claim) ? 0 : 1,
    nameDistance(target, requested) ?? 2,
    selector.length === 0 ? 0 : Object.keys(labels).length,
    ORIGINS.indexOf(originOf(target)),
    creationTimestamp,
    name,
  ];
}

/** Compares by the first part of the ranks that differs. */
function byRank<T>(rankOf: (each: T) => readonly (number | string)[]): (a: T, b: T) => number {
  return (a, b) => {
    const [left, right] = [rankOf(a), rankOf(b)];
    const at = left.findIndex((part, i) => part !== right[i]);
    return at < 0 ? 0 : left[at]! < right[at]! ? -1 : 1;
  };
}
