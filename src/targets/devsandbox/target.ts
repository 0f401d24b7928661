// The sandbox provisioner, second half: a space request that is ready becomes a target; one that nobody waits for goes.
import { SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from '../../api/targets.ts';
import { defineController } from '../../controller/index.ts';
import type { ControllerDefinition, Plan, View } from '../../controller/index.ts';
import { edit, make, remove, removeUnchanged, withAnnotations } from '../../kube/index.ts';
import type { Step } from '../../kube/index.ts';
import { claimNameOf, claimRefTo, refersTo } from '../claim-ref.ts';
import { hasReadyCondition } from '../spaces/conditions.ts';
import { isSpaceDeleted } from '../spaces/deleted.ts';
import {
  BIND_COMPLETE,
  CLAIM_LABEL,
  CLAIM_UID,
  CLASS_NAME,
  DEVSANDBOX,
  LABEL_LENGTH,
  LAST_CLAIM,
  PROVISIONED_BY,
  PROVISIONER,
  RECLAIM_POLICY,
  sandboxTarget,
  TARGET_FINALIZER,
  TARGET_LABEL,
} from '../names.ts';
import type { Settings } from '../settings.ts';
import { targetNameProblem } from '../provisioning/target-name.ts';
import { isEnding } from '../provisioning/eligible.ts';
import { classOf, mayStandFor, reclaimPolicyOf, targetsReferringTo, wasBound } from '../world.ts';

export function devsandboxTarget(settings: Settings): ControllerDefinition {
  return defineController<SpaceRequest>({
    name: 'devsandbox-target',
    kind: SpaceRequest,
    ownsStatus: false,
    plan: (view, request) => planRequestedTarget(view, request, settings),
  });
}

/** Plans the target of one space request. */
export function planRequestedTarget(view: View, request: SpaceRequest, settings: Settings): Plan {
  const claimName = request.metadata.labels?.[CLAIM_LABEL] ?? '';
  if (request.metadata.deletionTimestamp !== undefined || claimName === '') return {};
  const claim = claimOf(view, request, claimName);
  const target = targetOf(view, request, claim);
  const credentials = credentialsOf(request, settings);
  if (claim === undefined) {
    const steps = orphanSteps(view, request, target, claimName);
    const isKept = steps.length === 0 && target !== undefined && mayStandFor(request, target);
    return { steps: isKept ? keepSteps(request, target, credentials) : steps };
  }
  const isOver = claim.metadata.deletionTimestamp !== undefined || isEnding(view, request.metadata.namespace);
  if (isOver) return {};
  if (target !== undefined) return { steps: keepSteps(request, target, credentials) };
  // Nobody has had the space yet: when this one is gone, another is asked for.
  if (isSpaceDeleted(request) && !wasBound(claim)) return { steps: [remove(SpaceRequest, request)] };
  if (credentials === undefined) return {};
  // Somebody deleted the target: the claim has lost it, and whoever wants it back takes the label off the request.
  const isComplete = claim.metadata.annotations?.[BIND_COMPLETE] !== undefined;
  const isLabelled = request.metadata.labels?.[TARGET_LABEL] !== undefined || !fitsLabel(sandboxTarget(claimName));
  if (isComplete && isLabelled) return {};
  if (targetNameProblem(view, claim) !== undefined) return {};
  const made = targetFor(view, request, claim, credentials, settings);
  return {
    steps: [make(DeploymentTarget, made), ...markSteps(request, made)],
    events: [{ type: 'Normal', reason: 'TargetMade', note: `created DeploymentTarget ${made.metadata.name}` }],
  };
}

/** The claim that a request was made for. Another one that came later by the name is not it. */
function claimOf(view: View, request: SpaceRequest, name: string): DeploymentTargetClaim | undefined {
  const { namespace, annotations } = request.metadata;
  const claim = view.get(DeploymentTargetClaim, { name, namespace });
  const uid = annotations?.[CLAIM_UID];
  return uid === undefined || uid === claim?.metadata.uid ? claim : undefined;
}

function targetOf(
  view: View,
  request: SpaceRequest,
  claim: DeploymentTargetClaim | undefined,
): DeploymentTarget | undefined {
  const { namespace, labels } = request.metadata;
  const name = labels?.[TARGET_LABEL];
  const labelled = name === undefined ? undefined : view.get(DeploymentTarget, { name, namespace });
  return labelled ?? (claim && targetsReferringTo(view, claim)[0]);
}

/** A request whose claim is gone goes, unless its class keeps what it made. If it became a target, that goes first. */
function orphanSteps(
  view: View,
  request: SpaceRequest,
  labelled: DeploymentTarget | undefined,
  claimName: string,
): Step[] {
  if (orphanPolicy(view, request) !== 'Delete') return [];
  const { namespace } = request.metadata;
  const made = labelled ?? view.get(DeploymentTarget, { name: sandboxTarget(claimName), namespace });
  const isFor = made !== undefined && claimNameOf(made) === claimName;
  if (made === undefined || !isOurs(made) || (labelled === undefined && !isFor)) {
    return [remove(SpaceRequest, request)];
  }
  const current = view.get(DeploymentTargetClaim, { name: claimName, namespace });
  const isHeld = !isFor || (current !== undefined && refersTo(made, current));
  const isGoing = made.metadata.deletionTimestamp !== undefined;
  return isHeld || isGoing ? [] : [removeUnchanged(DeploymentTarget, made)];
}

/** What the class of the claim says of reclaiming. A request that does not tell its class must suit all of ours. */
function orphanPolicy(view: View, request: SpaceRequest): 'Delete' | 'Retain' {
  const className = request.metadata.annotations?.[CLASS_NAME];
  if (className !== undefined) {
    const recorded = request.metadata.annotations?.[RECLAIM_POLICY];
    return reclaimPolicyOf(classOf(view, className)?.spec.reclaimPolicy, recorded);
  }
  const ours = view.list(DeploymentTargetClass).filter(({ spec }) => spec.provisioner === DEVSANDBOX);
  return ours.length > 0 && ours.every(({ spec }) => spec.reclaimPolicy === 'Delete') ? 'Delete' : 'Retain';
}

/** Where to deploy to, once the request is ready. */
function credentialsOf(request: SpaceRequest, { insecureTargets }: Settings): Credentials | undefined {
  const access = hasReadyCondition(request) ? accessOf(request) : undefined;
  return (
    access && {
      defaultNamespace: access.name,
      apiURL: request.status?.targetClusterURL ?? '',
      clusterCredentialsSecret: access.secretRef,
      allowInsecureSkipTLSVerify: insecureTargets,
    }
  );
}

/** The namespace to deploy to: the first, which spaces call their default. Without a Secret its target is not bound. */
function accessOf({ status }: SpaceRequest): { name: string; secretRef: string } | undefined {
  const byName = [...(status?.namespaceAccess ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
  return byName[0];
}

type Credentials = DeploymentTarget['spec']['kubernetesCredentials'];

/** A target that is ready to be bound. Its status is not ours to write. */
function targetFor(
  view: View,
  request: SpaceRequest,
  claim: DeploymentTargetClaim,
  kubernetesCredentials: Credentials,
  { claimRefShape }: Settings,
): DeploymentTarget {
  const { name, namespace, uid = '' } = claim.metadata;
  const className = claim.spec.deploymentTargetClassName;
  const policy = classOf(view, className)?.spec.reclaimPolicy ?? request.metadata.annotations?.[RECLAIM_POLICY];
  return {
    apiVersion: 'appstudio.redhat.com/v1alpha1',
    kind: 'DeploymentTarget',
    metadata: {
      name: sandboxTarget(name),
      namespace,
      // The reclaimer would put it there: one write less, and no race with the binder.
      finalizers: [TARGET_FINALIZER],
      ...(className !== '' && fitsLabel(className) && { labels: { [PROVISIONER]: className } }),
      annotations: {
        [PROVISIONED_BY]: DEVSANDBOX,
        [CLAIM_UID]: uid,
        ...(policy !== undefined && { [RECLAIM_POLICY]: policy }),
      },
    },
    spec: { deploymentTargetClassName: className, kubernetesCredentials, claimRef: claimRefTo(name, claimRefShape) },
  };
}

/** What does not fit is found by the claim instead. */
function fitsLabel(name: string): boolean {
  return name.length <= LABEL_LENGTH;
}

/** A request and its target are kept in step: one edit of each in a reconcile. */
function keepSteps(request: SpaceRequest, target: DeploymentTarget, credentials: Credentials | undefined): Step[] {
  if (credentials === undefined) return isOurs(target) ? markSteps(request, target, request.metadata.labels) : [];
  const steps = markSteps(request, target);
  return steps.length > 0 ? steps : followSteps(target, credentials);
}

/** The request says which target it became, and who had that last. */
function markSteps(
  request: SpaceRequest,
  { metadata: { name, annotations } }: DeploymentTarget,
  labels = fitsLabel(name) ? { ...request.metadata.labels, [TARGET_LABEL]: name } : request.metadata.labels,
): Step[] {
  const lastClaim = annotations?.[LAST_CLAIM];
  const isMarked =
    labels?.[TARGET_LABEL] === request.metadata.labels?.[TARGET_LABEL] &&
    (lastClaim === undefined || request.metadata.annotations?.[LAST_CLAIM] === lastClaim);
  if (isMarked) return [];
  const marked = lastClaim === undefined ? request : withAnnotations(request, { [LAST_CLAIM]: lastClaim });
  return [edit(SpaceRequest, request, { ...marked, metadata: { ...marked.metadata, ...(labels && { labels }) } })];
}

/** Our target follows where its space moves; one that a person made stays as that person wrote it. */
function followSteps(target: DeploymentTarget, desired: Credentials): Step[] {
  if (!isOurs(target) || target.metadata.deletionTimestamp !== undefined) return [];
  const { allowInsecureSkipTLSVerify: _insecure, ...address } = desired;
  const kubernetesCredentials = { ...target.spec.kubernetesCredentials, ...address };
  return [edit(DeploymentTarget, target, { ...target, spec: { ...target.spec, kubernetesCredentials } })];
}

function isOurs(target: DeploymentTarget): boolean {
  return target.metadata.annotations?.[PROVISIONED_BY] === DEVSANDBOX;
}
