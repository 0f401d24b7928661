// Which target a claim may have, and which it gets.
import type { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import { matches, parseSelector } from '../../kube/index.ts';
import type { Selector } from '../../kube/index.ts';
import { claimNameOf, claimUidOf, refersTo } from '../claim-ref.ts';
import { PROVISIONED_BY, PROVISIONER, RECYCLED, REQUESTED_NAMESPACE, sandboxTarget, SELECTOR } from '../names.ts';

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
  const isOpen = phase === '' || phase === 'Available' || (phase === 'Bound' && isLockedFor(target, claim));
  if (!isOpen) return 'DeploymentTarget is not in Available phase';
  return hasCredentials(target) ? undefined : 'DeploymentTarget does not have cluster credentials';
}

/** Whether a target is bound to this very claim already, which does not know it yet: the process ended in between. */
function isLockedFor(target: DeploymentTarget, claim: DeploymentTargetClaim): boolean {
  const uid = claimUidOf(target);
  return uid !== undefined && uid === claim.metadata.uid && refersTo(target, claim);
}

/** Whether a target says how to reach it. The Secret itself may still be missing: whoever deploys will tell. */
export function hasCredentials({ spec }: DeploymentTarget): boolean {
  const { apiURL, clusterCredentialsSecret } = spec.kubernetesCredentials;
  return apiURL !== '' && clusterCredentialsSecret !== '';
}

/** Why references of a claim and a target stand against binding them; unrelated ones do not. */
export function conflict(claim: DeploymentTargetClaim, target: DeploymentTarget): string | undefined {
  const asked = claim.spec.targetName ?? '';
  const held = claimNameOf(target);
  const { name } = target.metadata;
  const wantsIt = asked === '' || asked === name;
  const isFree = held === '' || refersTo(target, claim);
  if (wantsIt === isFree) return undefined;
  const problem = wantsIt
    ? 'DeploymentTarget has a claimRef to another DeploymentTargetClaim'
    : 'DeploymentTargetClaim targets a DeploymentTarget that is already claimed';
  return `cannot bind DeploymentTargetClaim ${claim.metadata.name} with target "${asked}" to DeploymentTarget ${name} with claim ref "${held}": ${problem}`;
}

/** The labels that a claim wants its target to have, or what is wrong with how it says so. */
export function selectorOf({ metadata }: DeploymentTargetClaim): Selector | string {
  try {
    return parseSelector(metadata.annotations?.[SELECTOR] ?? '');
  } catch (error) {
    return `annotation ${SELECTOR}: ${(error as Error).message}`;
  }
}

interface Choice {
  readonly selector: Selector;
  /** Whether the claim may have a target that a person made and reserved for nobody. */
  readonly allowStaticMatch: boolean;
}

/**
 * The best target for a claim that names none. A claim that is being provisioned for takes only the target that was
 * made for it, or the one that keeps it from being made.
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
    (mayTake(target) || isInTheWay(claim, target)) && isAsAsked(target, selector, requested);
  const candidates = targets.filter((target) => {
    if (target.metadata.deletionTimestamp !== undefined || mismatch(claim, target) !== undefined) return false;
    return refersTo(target, claim) || fits(target);
  });
  return candidates.sort(byRank((target) => rank(claim, target, selector, requested)))[0];
}

/** An earlier claim of the name left its target, in place of which no other can be made: it is this claim's, or goes. */
function isInTheWay({ metadata }: DeploymentTargetClaim, target: DeploymentTarget): boolean {
  return target.metadata.name === sandboxTarget(metadata.name) && originOf(target) !== 'person';
}

/** Whether a claim would be given a target that somebody had, once that is made available. */
export function couldTakeOver(claim: DeploymentTargetClaim, target: DeploymentTarget): boolean {
  const selector = selectorOf(claim);
  return (
    originOf(target) !== 'person' &&
    target.spec.deploymentTargetClassName === claim.spec.deploymentTargetClassName &&
    typeof selector !== 'string' &&
    isAsAsked(target, selector, claim.metadata.annotations?.[REQUESTED_NAMESPACE])
  );
}

/** Whether a target has the labels and the name that a claim asks for. */
function isAsAsked(target: DeploymentTarget, selector: Selector, requested: string | undefined): boolean {
  return nameDistance(target, requested) !== undefined && matches(selector, target.metadata.labels);
}

type Origin = 'person' | 'provisioned' | 'recycled';
const ORIGINS: readonly Origin[] = ['person', 'provisioned', 'recycled'];

/** Where a target comes from: somebody brought it, it was made for claims, or somebody had it before. */
function originOf({ metadata }: DeploymentTarget): Origin {
  if (metadata.annotations?.[RECYCLED] !== undefined) return 'recycled';
  return metadata.annotations?.[PROVISIONED_BY] === undefined ? 'person' : 'provisioned';
}

/** How near a target is to the name that was asked for; undefined if it has another. Spaces put their own before it. */
function nameDistance({ spec }: DeploymentTarget, requested: string | undefined): number | undefined {
  const name = spec.kubernetesCredentials.defaultNamespace;
  if (requested === undefined || name === requested) return 0;
  return name.endsWith(`-${requested}`) ? 1 : undefined;
}

/**
 * What decides, most important first: whether it is reserved for the claim, the name that was asked for, how few labels
 * it has beyond those that were selected, where it comes from, its age, its name.
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

/** Compares by the first part of their ranks that differs. */
function byRank<T>(rankOf: (each: T) => readonly (number | string)[]): (a: T, b: T) => number {
  return (a, b) => {
    const [left, right] = [rankOf(a), rankOf(b)];
    const at = left.findIndex((part, i) => part !== right[i]);
    return at < 0 ? 0 : left[at]! < right[at]! ? -1 : 1;
  };
}
