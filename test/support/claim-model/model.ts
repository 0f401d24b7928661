// The states of claims and targets as a small state machine, written from the documentation and not from the code: the
// states, the allowed transitions, and what must hold when everything has settled.
import type { SpaceRequest } from '../../../src/api/spaces.ts';
import type { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from '../../../src/api/targets.ts';
import type { KubeObject } from '../../../src/kube/index.ts';
import type { Secret } from '../../../src/targets/objects.ts';

/** The objects of a world at one moment. */
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

/** The transitions of a deletion, from each of these phases. */
function deletions(phases: readonly string[]): string[] {
  return phases.flatMap((phase) => [`${phase} > ${phase} deleting`, `${phase} deleting > ${GONE}`]);
}

/** A deletion without a finalizer: not added yet, or removed. */
function removal(phase: string): string {
  return `${phase} > ${GONE}`;
}

/** All transitions of a claim. Its phase does not change while it is being deleted. */
export const CLAIM_TRANSITIONS: readonly string[] = [
  `${GONE} > new`,
  'new > Pending',
  'new > Bound',
  'Pending > Bound',
  'Bound > Lost',
  'Lost > Bound',
  ...deletions(['new', 'Pending', 'Bound', 'Lost']),
  ...['new', 'Pending', 'Bound', 'Lost'].map(removal),
];

/** All transitions of a target. While it is being deleted, its phase only changes to `Failed`. */
export const TARGET_TRANSITIONS: readonly string[] = [
  `${GONE} > new`,
  'new > Pending',
  'new > Available',
  'new > Bound',
  'Pending > Available',
  'Available > Pending',
  // A claim and a target that refer to each other are bound, whatever the phase.
  'Pending > Bound',
  'Available > Bound',
  'Released > Bound',
  'Bound > Released',
  // Its claim was deleted before the two were bound.
  'new > Released',
  'Pending > Released',
  'Available > Released',
  'Released > Available',
  ...deletions(['new', 'Pending', 'Available', 'Bound', 'Released']),
  'new deleting > Failed deleting',
  'Pending deleting > Failed deleting',
  'Available deleting > Failed deleting',
  'Bound deleting > Failed deleting',
  'Released deleting > Failed deleting',
  `Failed deleting > ${GONE}`,
  ...['new', 'Pending', 'Available', 'Bound', 'Released'].map(removal),
];

const PROVISIONED_BY = 'provisioner.appstudio.redhat.com/provisioned-by';
const BIND_COMPLETE = 'dt.appstudio.redhat.com/bind-complete';
const CLAIM_UID = 'dt.appstudio.redhat.com/claim-uid';
const PROVISIONER = 'provisioner.appstudio.redhat.com/dt-provisioner';

export function holderOf({ spec }: DeploymentTarget): string {
  return (typeof spec.claimRef === 'string' ? spec.claimRef : spec.claimRef?.name) ?? '';
}

/** The uid of the claim that a target is or was bound to. */
export function uidOf({ metadata }: DeploymentTarget): string | undefined {
  return metadata.annotations?.[CLAIM_UID];
}

/** Whether a target is bound to this claim (even if its reference was cleared), or reserved for its name. */
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

/** Whether the namespace and space request of a provisioned target exist. */
function hasNamespace({ namespaces, requests }: Facts, { metadata, spec }: DeploymentTarget): boolean {
  const isLive = (object: KubeObject | undefined): boolean =>
    object !== undefined && object.metadata.deletionTimestamp === undefined;
  const { [PROVISIONED_BY]: by } = metadata.annotations ?? {};
  if (by === undefined) return true;
  const exists = isLive(namespaces.get(spec.kubernetesCredentials.defaultNamespace));
  if (by === 'offshoot.dev/namespace') return exists;
  const request = requests.find(({ metadata: { labels } }) => labels?.['appstudio.openshift.io/dt'] === metadata.name);
  return exists && isLive(request);
}

/** Whether a claim can be bound to a target that is free or reserved for it. */
function canBind(facts: Facts, claim: DeploymentTargetClaim, target: DeploymentTarget): boolean {
  return (
    !isDeleting(target) &&
    hasNamespace(facts, target) &&
    (holderOf(target) === '' || isHeldBy(target, claim)) &&
    target.spec.deploymentTargetClassName === claim.spec.deploymentTargetClassName &&
    ['', 'Available'].includes(target.status?.phase ?? '') &&
    isUsable(target)
  );
}

/** The problems of a world in which all controllers run and are idle. */
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
  if (!wasBound(claim)) {
    if (state !== 'Pending') return say('it should be Pending');
    return couldHave(facts, claim, named).flatMap((target) => say(`it could have ${nameOf(target)}`));
  }
  if (named === undefined && (claim.spec.targetName ?? '') === '') return [];
  const isLost = named === undefined || (holderOf(named) !== '' && !isHeldBy(named, claim));
  if (isLost) return state === 'Lost' ? [] : say('its target is gone or belongs to another');
  // The phase of the claim does not change while its target is being deleted or released.
  if (isDeleting(named) || ['Failed', 'Released'].includes(named.status?.phase ?? '')) return [];
  // Other targets may be reserved for it, but not bound to it.
  const bound = held.filter((target) => target.status?.phase === 'Bound');
  if (bound.some((target) => target !== named))
    return state === 'Lost' ? [] : say(`it has ${bound.map(nameOf).join(', ')}`);
  if (holderOf(named) === '') return state === 'Lost' ? [] : say('its target does not refer to it');
  if (state !== 'Bound' || stateOf(named) !== 'Bound') return say(`its target is ${stateOf(named)}`);
  const [exists, saysReady] = [hasNamespace(facts, named), isReady(claim)];
  if (exists && !hasCredentials(facts, named)) return say('its credentials are dead');
  const { clusterCredentialsSecret: secret } = named.spec.kubernetesCredentials;
  const canBeUsed = exists && (secret === '' || facts.secrets.has(secret));
  return canBeUsed === saysReady
    ? []
    : say(`it is${saysReady ? '' : ' not'} ready, and its place with its Secret is${canBeUsed ? '' : ' not'} there`);
}

function wasBound(claim: DeploymentTargetClaim): boolean {
  return claim.metadata.annotations?.[BIND_COMPLETE] !== undefined || ['Bound', 'Lost'].includes(stateOf(claim));
}

/** Whether a claim exists that a target was bound to, whatever the target refers to now. */
function wasTakenFrom({ claims }: Facts, target: DeploymentTarget): boolean {
  return [...claims.values()].some((claim) => wasBound(claim) && claim.spec.targetName === nameOf(target));
}

/** Whether the credentials of a target are unchanged, and for an account that exists. */
function hasCredentials({ secrets, accounts }: Facts, { metadata, spec }: DeploymentTarget): boolean {
  if (metadata.annotations?.[PROVISIONED_BY] === undefined) return true;
  const secret = secrets.get(spec.kubernetesCredentials.clusterCredentialsSecret);
  const account = secret?.metadata.annotations?.['offshoot.dev/token-account'];
  return accounts.has(account) && secret?.data?.['kubeconfig'] !== 'Z2FyYmFnZQ==';
}

function isReady({ status }: Stateful): boolean {
  return status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}

/** Targets to which an unbound claim should have been bound. */
function couldHave(
  facts: Facts,
  claim: DeploymentTargetClaim,
  named: DeploymentTarget | undefined,
): DeploymentTarget[] {
  if ((claim.spec.targetName ?? '') !== '') {
    if (named === undefined || isDeleting(named)) return [];
    return (isHeldBy(named, claim) && hasNamespace(facts, named)) || canBind(facts, claim, named) ? [named] : [];
  }
  const isMarked = claim.metadata.annotations?.[PROVISIONER] !== undefined;
  return [...facts.targets.values()].filter(
    (target) => canBind(facts, claim, target) && (!isMarked || isHeldBy(target, claim)),
  );
}

function wrongWithTarget(facts: Facts, target: DeploymentTarget): string[] {
  const state = stateOf(target);
  const say = (problem: string): string[] => [`target ${nameOf(target)} is ${state}: ${problem}`];
  const holder = facts.claims.get(holderOf(target));
  const claim = holder !== undefined && isHeldBy(target, holder) ? holder : undefined;
  switch (state) {
    case 'Bound': {
      // Somebody changed its claimRef: while its claim exists, it is neither released nor ready.
      if (claim === undefined) return wasTakenFrom(facts, target) && !isReady(target) ? [] : say('it has no claim');
      const isTheirs = claim.status?.phase !== 'Bound' || claim.spec.targetName === nameOf(target);
      return isTheirs ? [] : say(`its claim has ${claim.spec.targetName}`);
    }
    case 'Available':
      if (!hasNamespace(facts, target)) return say('its place is gone');
      return isUsable(target) ? [] : say('it has no credentials');
    case 'Pending':
      return isUsable(target) ? say('it has credentials') : [];
    case 'Released':
      return [];
    default:
      return isDeleting(target) ? [] : say('there is no such state');
  }
}
