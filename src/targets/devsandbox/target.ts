// The sandbox provisioner, second half: makes a target from a ready space request, and deletes a request without a
// claim.
import { SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from '../../api/targets.ts';
import { defineController } from '../../controller/index.ts';
import type { ControllerDefinition, Plan, View } from '../../controller/index.ts';
import { edit, make, remove, removeUnchanged, withAnnotations } from '../../kube/index.ts';
import type { Step } from '../../kube/index.ts';
import { ARRIVAL_MS } from '../arrival.ts';
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
import { classOf, mayStandFor, policyOfRequest, targetsReferringTo, wasBound } from '../world.ts';

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
    // Somebody else made it, perhaps together with its claim or a class that says Retain: they may not be observed yet.
    const isOthers = request.metadata.annotations?.[CLASS_NAME] === undefined;
    const leftMs = steps.length > 0 && isOthers ? ARRIVAL_MS - view.heldFor('its claim does not exist') : 0;
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    const isKept = steps.length === 0 && target !== undefined && mayStandFor(request, target);
    return { steps: isKept ? keepSteps(request, target, credentials) : steps };
  }
  const isOver = claim.metadata.deletionTimestamp !== undefined || isEnding(view, request.metadata.namespace);
  if (isOver) return {};
  if (target !== undefined) return { steps: keepSteps(request, target, credentials) };
  // No claim was bound to the space yet: once this request is deleted, another is made.
  if (isSpaceDeleted(request) && !wasBound(claim)) return { steps: [remove(SpaceRequest, request)] };
  if (credentials === undefined) return {};
  // The target was deleted by hand: the claim is Lost. Removing the label from the request makes a new target.
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

/** The claim that a request was made for; not a later claim of the same name. */
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

/** Deletes a request without a claim, unless its class says Retain. Its target is deleted first. */
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
  const isDeleting = made.metadata.deletionTimestamp !== undefined;
  return isHeld || isDeleting ? [] : [removeUnchanged(DeploymentTarget, made)];
}

/** The reclaim policy of the claim's class. If the request does not name its class, all of ours must say Delete. */
function orphanPolicy(view: View, request: SpaceRequest): 'Delete' | 'Retain' {
  const policy = policyOfRequest(view, request);
  if (policy !== undefined) return policy;
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

/** The namespace to deploy to: the first by name, the default of a space. Without a Secret its target is not bound. */
function accessOf({ status }: SpaceRequest): { name: string; secretRef: string } | undefined {
  const byName = [...(status?.namespaceAccess ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
  return byName[0];
}

type Credentials = DeploymentTarget['spec']['kubernetesCredentials'];

/** A target that is ready to be bound. The binder and the reclaimer write its status. */
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
      // The reclaimer would add it: this saves a write, and a race with the binder.
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

/** Whether a name fits into a label. If not, the claim is used to find the object. */
function fitsLabel(name: string): boolean {
  return name.length <= LABEL_LENGTH;
}

/** Keeps a request and its target in sync: one edit of each in a reconcile. */
function keepSteps(request: SpaceRequest, target: DeploymentTarget, credentials: Credentials | undefined): Step[] {
  if (credentials === undefined) return isOurs(target) ? markSteps(request, target, request.metadata.labels) : [];
  const steps = markSteps(request, target);
  return steps.length > 0 ? steps : followSteps(target, credentials);
}

/** Records on the request its target, and the last claim of that. */
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

/** Updates the address of a target that we made; one that was created by hand is left alone. */
function followSteps(target: DeploymentTarget, desired: Credentials): Step[] {
  if (!isOurs(target) || target.metadata.deletionTimestamp !== undefined) return [];
  const { allowInsecureSkipTLSVerify: _insecure, ...address } = desired;
  const kubernetesCredentials = { ...target.spec.kubernetesCredentials, ...address };
  return [edit(DeploymentTarget, target, { ...target, spec: { ...target.spec, kubernetesCredentials } })];
}

function isOurs(target: DeploymentTarget): boolean {
  return target.metadata.annotations?.[PROVISIONED_BY] === DEVSANDBOX;
}
