// The progress of a claim towards a target, which `--wait` shows.
import type { SpaceRequest } from '../../api/spaces.ts';
import { DEVSANDBOX, NAMESPACE_PROVISIONER } from '../names.ts';
import { problemOf, phaseOf, reasonText } from './state.ts';
import type { ClaimWorld } from './world.ts';
import type { ProgressStep } from '../../api/description/tree.ts';

export type ClaimProgress = Pick<ClaimWorld, 'claim' | 'ofClass' | 'target' | 'requests' | 'namespaces'>;

/** The steps of a claim: accepted, what its class provisions, the target, bound. */
export function claimSteps(world: ClaimProgress): readonly ProgressStep[] {
  const provisioner = world.ofClass?.spec.provisioner;
  const isSandbox = provisioner === DEVSANDBOX;
  return [
    claimStep(world),
    ...(isSandbox ? [requestStep(world)] : []),
    ...(isSandbox || provisioner === NAMESPACE_PROVISIONER ? [namespaceStep(world)] : []),
    targetStep(world),
    boundStep(world),
  ];
}

function claimStep({ claim }: ClaimProgress): ProgressStep {
  const label = 'Claim';
  if (claim.status?.phase === undefined) return { label, state: 'waiting', note: 'waits for the controller' };
  const problem = problemOf(claim);
  return problem === undefined ? { label, state: 'done', note: 'accepted' } : { label, state: 'failed', note: problem };
}

function requestStep(world: ClaimProgress): ProgressStep {
  const label = 'Space request';
  const [request] = world.requests;
  if (request === undefined) return isBound(world) ? notNeeded(label) : waitsFor(label, 'the provisioner');
  const { name } = request.metadata;
  const ready = readyOf(request);
  if (ready?.status === 'True') return { label, state: 'done', note: `ready (SpaceRequest ${name})` };
  const isFailure = ready?.reason?.startsWith('UnableTo') ?? false;
  const reason = reasonText(ready ?? {}) || 'waits for the controller';
  return { label, state: isFailure ? 'failed' : 'working', note: `${reason} (SpaceRequest ${name})` };
}

function namespaceStep(world: ClaimProgress): ProgressStep {
  const label = 'Namespace';
  const { requests, namespaces, ofClass } = world;
  const access = requests.flatMap(({ status }) => status?.namespaceAccess ?? []);
  const names = new Set([...access.map(({ name }) => name), ...namespaces.keys()]);
  if (names.size > 0) return { label, state: 'done', note: `made (Namespace ${[...names].join(', ')})` };
  if (isBound(world)) return notNeeded(label);
  return waitsFor(label, ofClass?.spec.provisioner === DEVSANDBOX ? 'the space request' : 'the provisioner');
}

function targetStep({ claim, ofClass, target }: ClaimProgress): ProgressStep {
  const label = 'Target';
  if (target === undefined) {
    const { targetName = '' } = claim.spec;
    if (targetName !== '') return waitsFor(label, `DeploymentTarget ${targetName}`);
    return waitsFor(label, ofClass === undefined ? 'one that is free' : 'one that is free, or made for it');
  }
  const phase = phaseOf(target);
  const note = `${phase.toLowerCase()} (DeploymentTarget ${target.metadata.name})`;
  if (['Failed', 'Released', 'Deleting'].includes(phase)) return { label, state: 'failed', note };
  return { label, state: phase === 'Pending' ? 'working' : 'done', note };
}

function boundStep({ claim, target }: ClaimProgress): ProgressStep {
  const label = 'Bound';
  if (claim.status?.phase === 'Bound')
    return { label, state: 'done', note: `to ${claim.spec.targetName ?? 'a target'}` };
  if (claim.status?.phase === 'Lost') return { label, state: 'failed', note: 'its target is gone' };
  return waitsFor(label, target === undefined ? 'a target' : 'the binder');
}

function isBound({ claim }: ClaimProgress): boolean {
  return claim.status?.phase === 'Bound';
}

function readyOf({ status }: SpaceRequest) {
  return status?.conditions?.find(({ type }) => type === 'Ready');
}

/** A target already existed. */
function notNeeded(label: string): ProgressStep {
  return { label, state: 'done', note: 'not needed' };
}

function waitsFor(label: string, what: string): ProgressStep {
  return { label, state: 'waiting', note: `waits for ${what}` };
}
