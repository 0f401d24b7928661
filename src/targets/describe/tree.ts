// The tree of a claim: its target, and below that the space request, the namespace and the Secret, every part with its
// state and the reasons why it is not ready. `offshoot claim describe` and `offshoot target describe` print it.
import type { SpaceRequest } from '../../api/spaces.ts';
import type { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import { conditionsOf } from '../../controller/conditions.ts';
import type { Event } from '../../kube/events.ts';
import { keyOf } from '../../kube/objects.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { TOKEN_EXPIRES } from '../../kube/write/service-account-token.ts';
import { claimNameOf } from '../claim-ref.ts';
import { EXPIRES_AT, MAKE_AVAILABLE, TTL } from '../names.ts';
import { namespaceProblems, phaseOf, problemOf, reasonText, warningsOf } from './state.ts';
import { isNamespaceTarget } from './world.ts';
import type { ClaimWorld, TargetParts, TargetWorld } from './world.ts';
import { notSeenYet } from '../../api/description/controllers-hint.ts';
import { recentEvents } from '../../api/description/events.ts';
import type { RecentEvent } from '../../api/description/events.ts';
import { node } from '../../api/description/tree.ts';
import type { Description, TreeNode } from '../../api/description/tree.ts';

const NO_CONTROLLER = notSeenYet('targets');

const RELEASED = `its claim is gone, and workloads may still run there: check, then annotate it with ${MAKE_AVAILABLE}=true`;

/** Describes a claim. */
export function describeClaim(world: ClaimWorld): Description {
  const { claim } = world;
  const target = world.target === undefined ? absentTarget(world) : targetNode(world, world.target);
  const childrenWithReasons = (target.children ?? [])
    .filter(({ reasons }) => reasons !== undefined)
    .map(({ name }) => name.slice(name.indexOf('/') + 1));
  const tree = node('Claim', keyOf(claim.metadata), phaseOf(claim), {
    detail: claimDetail(claim),
    reasons: claimReasons(world, childrenWithReasons),
    children: [target],
  });
  return { tree, events: eventsIn(world, claim) };
}

/** Describes a target. */
export function describeTarget(world: TargetWorld): Description {
  const { target, claim } = world;
  const { children = [], ...rest } = targetNode(world, target);
  const claimName = claimNameOf(target);
  const holder = claim === undefined ? reservation(target, claimName) : [claimLeaf(claim)];
  return {
    tree: node(rest.kind, rest.name, rest.state, { ...rest, children: [...holder, ...children] }),
    events: eventsIn(world, target),
  };
}

function claimDetail({ metadata, spec }: DeploymentTargetClaim): string {
  const expires = metadata.annotations?.[EXPIRES_AT];
  const ttl = spec.ttl ?? metadata.annotations?.[TTL];
  const lifetime = expires === undefined ? ttl && `expires ${ttl} after it is bound` : `expires ${expires}`;
  const className = spec.deploymentTargetClassName;
  return [className === '' ? 'no class' : `class ${className}`, lifetime].filter(Boolean).join(', ');
}

/** Reasons that the parts below do not give; `childrenWithReasons` names the parts that give some. */
function claimReasons(
  { claim, ofClass, target, events }: ClaimWorld,
  childrenWithReasons: readonly string[],
): string[] {
  if (claim.metadata.deletionTimestamp !== undefined) {
    return [target === undefined ? finalizersOf(claim) : `waits until target ${target.metadata.name} is reclaimed`];
  }
  if (claim.status?.phase === undefined) return [NO_CONTROLLER];
  const problem = problemOf(claim);
  if (problem !== undefined) {
    return childrenWithReasons.some((name) => problem.includes(`SpaceRequest ${name}:`)) ? [] : [problem];
  }
  if (claim.status.phase === 'Bound') return warningsAbove(claim);
  const warnings = warningsAbout(claim, events);
  if (warnings.length > 0 || childrenWithReasons.length > 0 || target !== undefined) return warnings;
  return ofClass === undefined ? [] : [`waits for provisioner ${ofClass.spec.provisioner}`];
}

/** Warnings of a claim or target, but for the missing Secret, which has a line of its own below them. */
function warningsAbove(object: DeploymentTargetClaim | DeploymentTarget): string[] {
  return warningsOf(object).filter((warning) => !warning.startsWith('SecretNotFound:'));
}

function claimLeaf(claim: DeploymentTargetClaim): TreeNode {
  const problem = problemOf(claim);
  const reasons = problem === undefined ? [] : [problem];
  return node('Claim', keyOf(claim.metadata), phaseOf(claim), { detail: claimDetail(claim), reasons });
}

/** The claim that a target names, where it does not exist or was created after the one that the target had. */
function reservation({ metadata, status }: DeploymentTarget, claimName: string): TreeNode[] {
  if (claimName === '') return [];
  const detail = status?.phase === 'Available' ? 'the target is reserved for it' : 'the target was bound to it';
  return [node('Claim', `${metadata.namespace}/${claimName}`, 'absent', { detail })];
}

/** The node in place of a target that does not exist. */
function absentTarget(world: ClaimWorld): TreeNode {
  const { claim } = world;
  const { namespace } = claim.metadata;
  const { targetName = '', deploymentTargetClassName: className } = claim.spec;
  const children = partNodes(world);
  if (targetName !== '') {
    const reasons = [`no target with this name exists in namespace ${namespace}: create it, or claim another`];
    return node('Target', `${namespace}/${targetName}`, 'missing', { reasons, children });
  }
  if (claim.metadata.deletionTimestamp !== undefined) return node('Target', 'none', 'absent', { children });
  const cannotBeProvisioned = className === '' && claim.status?.phase !== undefined;
  const reasons = cannotBeProvisioned
    ? [`no target without a class is free in namespace ${namespace}: create one, or claim one of a class`]
    : [];
  return node('Target', 'none', 'waiting', { detail: cannotBeProvisioned ? '' : 'not created yet', reasons, children });
}

function targetNode(parts: TargetParts, target: DeploymentTarget): TreeNode {
  const { apiURL, defaultNamespace } = target.spec.kubernetesCredentials;
  const where = [defaultNamespace && `namespace ${defaultNamespace}`, apiURL && `at ${apiURL}`];
  return node('Target', keyOf(target.metadata), phaseOf(target), {
    detail: where.filter(Boolean).join(' '),
    reasons: targetReasons(parts, target),
    children: partNodes(parts),
  });
}

function targetReasons({ events, requests }: TargetParts, target: DeploymentTarget): string[] {
  const { phase } = target.status ?? {};
  const problem = problemOf(target);
  const problems = problem === undefined ? [] : [problem];
  if (target.metadata.deletionTimestamp !== undefined) {
    const ready = conditionsOf(target).find(({ type, status }) => type === 'Ready' && status === 'False');
    const waits = requests.length > 0 ? 'waits until its space request is gone' : finalizersOf(target);
    return [...problems, ready?.message || waits];
  }
  if (phase === undefined) return [NO_CONTROLLER];
  if (phase === 'Available' || phase === 'Bound' || problems.length > 0) return [...problems, ...warningsAbove(target)];
  if (phase === 'Released') return [RELEASED];
  const { apiURL, clusterCredentialsSecret } = target.spec.kubernetesCredentials;
  if (apiURL === '') return ['spec.kubernetesCredentials.apiURL is empty'];
  if (clusterCredentialsSecret === '') return ['spec.kubernetesCredentials.clusterCredentialsSecret is empty'];
  return warningsAbout(target, events);
}

/** Below a target: its space requests with their namespaces, a namespace of this cluster, or only its Secret. */
function partNodes(parts: TargetParts): TreeNode[] {
  const { target, requests, namespaces } = parts;
  const requested = requests.map((request) => requestNode(parts, request));
  const access = requests.flatMap(({ status }) => status?.namespaceAccess ?? []);
  const secret = target?.spec.kubernetesCredentials.clusterCredentialsSecret ?? '';
  const secretNodes = secret === '' ? [] : [secretNode(parts, secret, target!.metadata.namespace!)];
  const made = madeNamespaces(parts, new Set(access.map(({ name }) => name)));
  if (made.length > 0) {
    return [...requested, ...made.map((name) => namespaceNode(name, namespaces.get(name), {}, secretNodes))];
  }
  return access.some(({ secretRef }) => secretRef === secret) ? requested : [...requested, ...secretNodes];
}

function madeNamespaces({ target, namespaces }: TargetParts, requested: ReadonlySet<string>): string[] {
  const ofTarget =
    target !== undefined && isNamespaceTarget(target) ? [target.spec.kubernetesCredentials.defaultNamespace] : [];
  return [...new Set([...ofTarget, ...namespaces.keys()])].filter((name) => !requested.has(name));
}

function requestNode(parts: TargetParts, request: SpaceRequest): TreeNode {
  const { metadata, spec, status } = request;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const stalled = status?.conditions?.find(({ type, status: is }) => type === 'Stalled' && is === 'True');
  const isReady = ready?.status === 'True';
  const state = ready?.reason ?? (metadata.deletionTimestamp === undefined ? 'Pending' : 'Deleting');
  const elsewhere = status?.targetClusterURL;
  return node('SpaceRequest', keyOf(metadata), state, {
    detail: `tier ${spec.tierName}`,
    reasons: isReady ? [] : requestReasons(parts, request, stalled ?? ready),
    children: (status?.namespaceAccess ?? []).map(({ name, secretRef }) =>
      namespaceNode(
        name,
        parts.namespaces.get(name),
        { elsewhere },
        secretRef === '' ? [] : [secretNode(parts, secretRef, metadata.namespace!)],
      ),
    ),
  });
}

function requestReasons(
  { events }: TargetParts,
  request: SpaceRequest,
  condition: { readonly reason?: string | undefined; readonly message?: string | undefined } | undefined,
): string[] {
  if (condition === undefined && request.metadata.deletionTimestamp === undefined) return [NO_CONTROLLER];
  return condition?.message ? [condition.message] : warningsAbout(request, events);
}

/** A namespace that is not in this cluster may be in the one that its space request names. */
function namespaceNode(
  name: string,
  found: KubeObject | 'hidden' | undefined,
  { elsewhere }: { readonly elsewhere?: string | undefined },
  children: readonly TreeNode[],
): TreeNode {
  if (found === 'hidden') return node('Namespace', name, 'hidden', { detail: 'not visible to you', children });
  if (found === undefined) {
    if (elsewhere !== undefined) {
      return node('Namespace', name, 'elsewhere', { detail: `not in this cluster; look at ${elsewhere}`, children });
    }
    return node('Namespace', name, 'missing', { reasons: ['no namespace with this name exists'], children });
  }
  const { phase = 'Active' } = (found as KubeObject & { readonly status?: { readonly phase?: string } }).status ?? {};
  return node('Namespace', name, phase, { reasons: namespaceProblems(found), children });
}

function secretNode({ secrets, target }: TargetParts, name: string, namespace: string): TreeNode {
  const secret = secrets.get(name);
  const key = `${namespace}/${name}`;
  if (secret === 'hidden') return node('Secret', key, 'hidden', { detail: 'not visible to you' });
  // The Secret is deleted before the namespace that it gives access to.
  if (secret === undefined && target?.metadata.deletionTimestamp !== undefined) return node('Secret', key, 'gone');
  if (secret === undefined) return node('Secret', key, 'missing', { reasons: ['no Secret with this name exists'] });
  if (!secret.data?.['kubeconfig']) return node('Secret', key, 'incomplete', { reasons: ['it has no key kubeconfig'] });
  const expires = secret.metadata.annotations?.[TOKEN_EXPIRES];
  return node('Secret', key, 'present', { detail: expires === undefined ? '' : `token until ${expires}` });
}

function finalizersOf({ metadata }: KubeObject): string {
  return `waits for the finalizers ${(metadata.finalizers ?? []).join(', ')}`;
}

/** The last warning Event about an object, used where its conditions say nothing. */
function warningsAbout(object: KubeObject, events: readonly Event[]): string[] {
  const last = events.findLast(({ type, regarding }) => type === 'Warning' && isAbout(object, regarding));
  return last === undefined ? [] : [reasonText({ reason: last.reason, message: last.note })];
}

function isAbout({ kind, metadata }: KubeObject, regarding: Event['regarding']): boolean {
  return regarding.kind === kind && regarding.name === metadata.name;
}

/** Recent Events; those about other objects than the root name the object. */
function eventsIn({ events }: TargetParts, root: KubeObject): readonly RecentEvent[] {
  return recentEvents(
    events.map((event) => {
      const { kind, name } = event.regarding;
      return isAbout(root, event.regarding) ? event : { ...event, note: `${kind} ${name}: ${event.note}` };
    }),
  );
}
