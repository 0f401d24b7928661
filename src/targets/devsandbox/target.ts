// The sandbox provisioner, second half: makes a target from a ready space request, and deletes a request without a
// claim.
import { SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from '../../api/targets.ts';
import { defineController } from '../../controller/index.ts';
import type { ControllerDefinition, Plan, View } from '../../controller/index.ts';
import { edit, editPatch, make, remove, removeUnchanged, withAnnotations } from '../../kube/index.ts';
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
  fitsLabel,
  LAST_CLAIM,
  MADE_FROM,
  PROVISIONED_BY,
  PROVISIONER,
  RECLAIM_POLICY,
  sandboxTarget,
  TARGET_FINALIZER,
} from '../names.ts';
import type { Settings } from '../settings.ts';
import { targetNameProblem } from '../provisioning/target-name.ts';
import { isEnding } from '../provisioning/eligible.ts';
import { targetNameOn, withTargetName } from '../target-name.ts';
import {
  classOf,
  isUnnamedRequestOf,
  madeFromMark,
  madePlaceOf,
  mayStandFor,
  policyOfRequest,
  targetsReferringTo,
  wasBound,
} from '../world.ts';

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
  const target = targetOf(view, request, claim, claimName);
  const credentials = credentialsOf(request, target, settings);
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
  // A later request for the claim has an empty namespace, which a target with workloads must not get.
  if (target !== undefined) {
    return { steps: mayStandFor(request, target) ? keepSteps(request, target, credentials) : [] };
  }
  // No claim was bound to the space yet: once this request is deleted, another is made.
  if (isSpaceDeleted(request) && !wasBound(claim)) return { steps: [remove(SpaceRequest, request)] };
  if (credentials === undefined) return {};
  // The target was deleted by hand: the claim is Lost. Removing its name from the request makes a new target.
  const isComplete = claim.metadata.annotations?.[BIND_COMPLETE] !== undefined;
  if (isComplete && targetNameOn(request) !== undefined) return {};
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
  claimName: string,
): DeploymentTarget | undefined {
  const { namespace } = request.metadata;
  const name = targetNameOn(request);
  const labelled = name === undefined ? undefined : view.get(DeploymentTarget, { name, namespace });
  if (labelled !== undefined) return labelled;
  if (claim !== undefined) return targetsReferringTo(view, claim)[0];
  const unnamed = view.get(DeploymentTarget, { name: sandboxTarget(claimName), namespace });
  return name === undefined && unnamed !== undefined && isUnnamedRequestOf(request, unnamed) ? unnamed : undefined;
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
function credentialsOf(
  request: SpaceRequest,
  target: DeploymentTarget | undefined,
  { insecureTargets }: Settings,
): Credentials | undefined {
  const access = hasReadyCondition(request) ? accessOf(request, target) : undefined;
  return (
    access && {
      defaultNamespace: access.name,
      apiURL: request.status?.targetClusterURL ?? '',
      clusterCredentialsSecret: access.secretRef,
      allowInsecureSkipTLSVerify: insecureTargets,
    }
  );
}

/**
 * The namespace to deploy to: that of the target or, for a new one, the first by name, which is the default of a space.
 * Without a Secret its target is not bound.
 */
function accessOf(
  request: SpaceRequest,
  target: DeploymentTarget | undefined,
): { name: string; secretRef: string } | undefined {
  const byName = [...(request.status?.namespaceAccess ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
  const named = (place: string | undefined) => byName.find(({ name }) => name === place);
  const { defaultNamespace } = target?.spec.kubernetesCredentials ?? {};
  return named(defaultNamespace) ?? named(target && madePlaceOf(request, target)) ?? byName[0];
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
        [MADE_FROM]: madeFromMark(request, kubernetesCredentials.defaultNamespace),
        ...(policy !== undefined && { [RECLAIM_POLICY]: policy }),
      },
    },
    spec: { deploymentTargetClassName: className, kubernetesCredentials, claimRef: claimRefTo(name, claimRefShape) },
  };
}

/** Keeps a request and its target in sync: one edit of each in a reconcile. */
function keepSteps(request: SpaceRequest, target: DeploymentTarget, credentials: Credentials | undefined): Step[] {
  if (credentials === undefined) return isOurs(target) ? markSteps(request, target, request) : [];
  const steps = markSteps(request, target);
  return steps.length > 0 ? steps : followSteps(request, target, credentials);
}

/** Records on the request its target, and the last claim of that. */
function markSteps(
  request: SpaceRequest,
  target: DeploymentTarget,
  named = withTargetName(request, target.metadata.name),
): Step[] {
  const lastClaim = target.metadata.annotations?.[LAST_CLAIM];
  const step = edit(
    SpaceRequest,
    request,
    lastClaim === undefined ? named : withAnnotations(named, { [LAST_CLAIM]: lastClaim }),
  );
  return editPatch(step) === undefined ? [] : [step];
}

/** Updates the address of a target that we made; one that was created by hand is left alone. */
function followSteps(request: SpaceRequest, target: DeploymentTarget, desired: Credentials): Step[] {
  if (!isOurs(target) || target.metadata.deletionTimestamp !== undefined) return [];
  const { allowInsecureSkipTLSVerify: _insecure, ...address } = desired;
  const kubernetesCredentials = { ...target.spec.kubernetesCredentials, ...address };
  // Earlier versions and other operators do not record it.
  const { [MADE_FROM]: madeFrom = madeFromMark(request, desired.defaultNamespace) } = target.metadata.annotations ?? {};
  const marked = withAnnotations(target, { [MADE_FROM]: madeFrom });
  return [edit(DeploymentTarget, target, { ...marked, spec: { ...target.spec, kubernetesCredentials } })];
}

function isOurs(target: DeploymentTarget): boolean {
  return target.metadata.annotations?.[PROVISIONED_BY] === DEVSANDBOX;
}
