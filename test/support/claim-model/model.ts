// The lives of claims and targets as a small state machine, written from what was promised and not from the code: which
// states there are, which may follow which, and what must hold once nothing is left to do.
import type { SpaceRequest } from '../../../src/api/spaces.ts';
import type { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from '../../../src/api/targets.ts';
import type { KubeObject } from '../../../src/kube/index.ts';
import type { Secret } from '../../../src/targets/objects.ts';

/** Everything that is decided about, at one moment. */
export interface Facts {
  readonly claims: ReadonlyMap<string, DeploymentTargetClaim>;
  readonly targets: ReadonlyMap<string, DeploymentTarget>;
  readonly classes: ReadonlyMap<string, DeploymentTargetClass>;
  readonly namespaces: ReadonlyMap<string, KubeObject>;
  readonly requests: readonly SpaceRequest[];
  readonly secrets: ReadonlyMap<string, Secret>;
  /** The uids of all service accounts. */
  readonly accounts: ReadonlySet<string | undefined>;
}

type Stateful = DeploymentTargetClaim | DeploymentTarget;

const GONE = 'gone';

/** `new` before it has a phase; ` deleting` is added while it is held by finalizers. */
export function stateOf(object: Stateful | undefined): string {
  if (object === undefined) return GONE;
  const phase = object.status?.phase ?? 'new';
  return object.metadata.deletionTimestamp === undefined ? phase : `${phase} deleting`;
}

/** From each of the phases of something that is deleted by a person, it goes. */
function goes(phases: readonly string[]): string[] {
  return phases.flatMap((phase) => [`${phase} > ${phase} deleting`, `${phase} deleting > ${GONE}`]);
}

/** Nobody has put a finalizer on it yet, or somebody took it away. */
function vanishes(phase: string): string {
  return `${phase} > ${GONE}`;
}

/** All there is in the life of a claim. While it is deleted its phase stays. */
export const CLAIM_TRANSITIONS: readonly string[] = [
  `${GONE} > new`,
  'new > Pending',
  'new > Bound',
  'Pending > Bound',
  'Bound > Lost',
  'Lost > Bound',
  ...goes(['new', 'Pending', 'Bound', 'Lost']),
  ...['new', 'Pending', 'Bound', 'Lost'].map(vanishes),
];

/** All there is in the life of a target. The only phase that a deleted one comes to is `Failed`. */
export const TARGET_TRANSITIONS: readonly string[] = [
  `${GONE} > new`,
  'new > Pending',
  'new > Available',
  'new > Bound',
  'Pending > Available',
  'Available > Pending',
  // A claim and a target that name each other are bound, whatever the phase.
  'Pending > Bound',
  'Available > Bound',
  'Released > Bound',
  'Bound > Released',
  // Its claim went before the two were bound.
  'new > Released',
  'Pending > Released',
  'Available > Released',
  'Released > Available',
  ...goes(['new', 'Pending', 'Available', 'Bound', 'Released']),
  'new deleting > Failed deleting',
  'Pending deleting > Failed deleting',
  'Available deleting > Failed deleting',
  'Bound deleting > Failed deleting',
  'Released deleting > Failed deleting',
  `Failed deleting > ${GONE}`,
  ...['new', 'Pending', 'Available', 'Bound', 'Released'].map(vanishes),
];

const PROVISIONED_BY = 'provisioner.appstudio.redhat.com/provisioned-by';
const BIND_COMPLETE = 'dt.appstudio.redhat.com/bind-complete';
const CLAIM_UID = 'dt.appstudio.redhat.com/claim-uid';
const PROVISIONER = 'provisioner.appstudio.redhat.com/dt-provisioner';

export function holderOf({ spec }: DeploymentTarget): string {
  return (typeof spec.claimRef === 'string' ? spec.claimRef : spec.claimRef?.name) ?? '';
}

/** The very claim that a target is or was bound to. */
export function uidOf({ metadata }: DeploymentTarget): string | undefined {
  return metadata.annotations?.[CLAIM_UID];
}

/** Whether a target is held by this very claim, or reserved for one of its name; also if the reference was cleared. */
export function isHeldBy(target: DeploymentTarget, claim: DeploymentTargetClaim): boolean {
  const uid = uidOf(target);
  if (holderOf(target) === '') return uid !== undefined && uid === claim.metadata.uid;
  return holderOf(target) === claim.metadata.name && (uid === undefined || uid === claim.metadata.uid);
}

const isDeleting = ({ metadata }: Stateful): boolean => metadata.deletionTimestamp !== undefined;
const nameOf = ({ metadata }: Stateful): string => metadata.name;

function isUsable({ spec }: DeploymentTarget): boolean {
  const { apiURL, clusterCredentialsSecret } = spec.kubernetesCredentials;
  return apiURL !== '' && clusterCredentialsSecret !== '';
}

/** Whether the place that a target stands for is there, as far as it was made here. */
function hasPlace({ namespaces, requests }: Facts, { metadata, spec }: DeploymentTarget): boolean {
  const isLive = (object: KubeObject | undefined): boolean =>
    object !== undefined && object.metadata.deletionTimestamp === undefined;
  const { [PROVISIONED_BY]: by } = metadata.annotations ?? {};
  if (by === undefined) return true;
  const isThere = isLive(namespaces.get(spec.kubernetesCredentials.defaultNamespace));
  if (by === 'offshoot.dev/namespace') return isThere;
  const request = requests.find(({ metadata: { labels } }) => labels?.['appstudio.openshift.io/dt'] === metadata.name);
  return isThere && isLive(request);
}

/** Whether a claim could be bound to a target that is free or reserved for it. */
function fits(facts: Facts, claim: DeploymentTargetClaim, target: DeploymentTarget): boolean {
  return (
    !isDeleting(target) &&
    hasPlace(facts, target) &&
    (holderOf(target) === '' || isHeldBy(target, claim)) &&
    target.spec.deploymentTargetClassName === claim.spec.deploymentTargetClassName &&
    ['', 'Available'].includes(target.status?.phase ?? '') &&
    isUsable(target)
  );
}

/** What is wrong with a world in which all controllers run and nothing is left to do; empty when nothing is. */
export function wrongWhenSettled(facts: Facts): string[] {
  return [
    ...[...facts.claims.values()].flatMap((claim) => wrongWithClaim(facts, claim)),
    ...[...facts.targets.values()].flatMap((target) => wrongWithTarget(facts, target)),
  ];
}

function wrongWithClaim(facts: Facts, claim: DeploymentTargetClaim): string[] {
  const state = stateOf(claim);
  const say = (problem: string): string[] => [`claim ${nameOf(claim)} is ${state}: ${problem}`];
  const held = [...facts.targets.values()].filter((target) => isHeldBy(target, claim));
  if (isDeleting(claim)) return held.some(isDeleting) ? [] : say('nothing holds it');
  const named = facts.targets.get(claim.spec.targetName ?? '');
  const wasBound = claim.metadata.annotations?.[BIND_COMPLETE] !== undefined || state === 'Bound' || state === 'Lost';
  if (!wasBound) {
    if (state !== 'Pending') return say('it should be Pending');
    return couldHave(facts, claim, named).flatMap((target) => say(`it could have ${nameOf(target)}`));
  }
  if (named === undefined && (claim.spec.targetName ?? '') === '') return [];
  const isLost = named === undefined || (holderOf(named) !== '' && !isHeldBy(named, claim));
  if (isLost) return state === 'Lost' ? [] : say('its target is gone or belongs to another');
  // The phase of the claim stays while its target is on the way out.
  if (isDeleting(named) || ['Failed', 'Released'].includes(named.status?.phase ?? '')) return [];
  // Others may be reserved for it, but not bound to it.
  const bound = held.filter((target) => target.status?.phase === 'Bound');
  if (bound.some((target) => target !== named))
    return state === 'Lost' ? [] : say(`it has ${bound.map(nameOf).join(', ')}`);
  if (holderOf(named) === '') return state === 'Lost' ? [] : say('its target does not refer to it');
  if (state !== 'Bound' || stateOf(named) !== 'Bound') return say(`its target is ${stateOf(named)}`);
  const [isThere, isSaid] = [hasPlace(facts, named), isReady(claim)];
  if (isThere && !hasCredentials(facts, named)) return say('its credentials are dead');
  return isThere === isSaid
    ? []
    : say(`it is${isSaid ? '' : ' not'} ready, and its place is${isThere ? '' : ' not'} there`);
}

/** Whether the credentials of a target are as they were issued, and for an account that is there. */
function hasCredentials({ secrets, accounts }: Facts, { metadata, spec }: DeploymentTarget): boolean {
  if (metadata.annotations?.[PROVISIONED_BY] === undefined) return true;
  const secret = secrets.get(spec.kubernetesCredentials.clusterCredentialsSecret);
  const account = secret?.metadata.annotations?.['offshoot.dev/token-account'];
  return accounts.has(account) && secret?.data?.['kubeconfig'] !== 'Z2FyYmFnZQ==';
}

function isReady({ status }: Stateful): boolean {
  return status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}

/** Targets that a claim that is not bound should not have been left without. */
function couldHave(
  facts: Facts,
  claim: DeploymentTargetClaim,
  named: DeploymentTarget | undefined,
): DeploymentTarget[] {
  if ((claim.spec.targetName ?? '') !== '') {
    if (named === undefined || isDeleting(named)) return [];
    return (isHeldBy(named, claim) && hasPlace(facts, named)) || fits(facts, claim, named) ? [named] : [];
  }
  const isMarked = claim.metadata.annotations?.[PROVISIONER] !== undefined;
  return [...facts.targets.values()].filter(
    (target) => fits(facts, claim, target) && (!isMarked || isHeldBy(target, claim)),
  );
}

function wrongWithTarget(facts: Facts, target: DeploymentTarget): string[] {
  const state = stateOf(target);
  const say = (problem: string): string[] => [`target ${nameOf(target)} is ${state}: ${problem}`];
  const holder = facts.claims.get(holderOf(target));
  const claim = holder !== undefined && isHeldBy(target, holder) ? holder : undefined;
  switch (state) {
    case 'Bound': {
      if (claim === undefined) return say('it has no claim');
      const isTheirs = claim.status?.phase !== 'Bound' || claim.spec.targetName === nameOf(target);
      return isTheirs ? [] : say(`its claim has ${claim.spec.targetName}`);
    }
    case 'Available':
      if (!hasPlace(facts, target)) return say('its place is gone');
      return isUsable(target) ? [] : say('it has no credentials');
    case 'Pending':
      return isUsable(target) ? say('it has credentials') : [];
    case 'Released':
      return [];
    default:
      return isDeleting(target) ? [] : say('there is no such state');
  }
}
