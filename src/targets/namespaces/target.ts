// The namespace provisioner, second part: turns a namespace that was made for a claim or the pool into a target, with
// an account, limits and credentials that are renewed.
import { DeploymentTarget } from '../../api/targets.ts';
import type { DeploymentTargetClass } from '../../api/targets.ts';
import { defineController } from '../../controller/index.ts';
import type { ControllerDefinition, Plan, View } from '../../controller/index.ts';
import { edit, make, own, parseDuration, remove, removeUnchanged, token } from '../../kube/index.ts';
import type { KubeObject, Step } from '../../kube/index.ts';
import { claimNameOf, claimRefTo } from '../claim-ref.ts';
import { freshForMs, isIssuedByUs, issuedFor } from '../credentials.ts';
import {
  CLAIM_UID,
  fitsLabel,
  LAST_CLAIM,
  NAMESPACE_PROVISIONER,
  OF_TARGET,
  PROVISIONED_BY,
  PROVISIONER,
  RECLAIM_POLICY,
  RECYCLED,
  TARGET_FINALIZER,
} from '../names.ts';
import { Namespace, Secret, ServiceAccount } from '../objects.ts';
import type { NamespaceContent } from '../objects.ts';
import { namespaceParameters } from '../provisioning/parameters.ts';
import type { NamespaceParameters } from '../provisioning/parameters.ts';
import type { Settings } from '../settings.ts';
import { classOf, reclaimPolicyOf } from '../world.ts';
import { accountOf, limitsOf } from './contents.ts';
import {
  ACCOUNT,
  MADE_BY,
  MADE_BY_LABEL,
  NAMESPACE_FINALIZER,
  OF_NAMESPACE,
  secretNameFor,
  TARGET_MADE,
} from './names.ts';
import { acceptedContents, recordProblem } from './refused.ts';
import { isFree, provisionedNamespaceOf } from './world.ts';
import type { ProvisionedNamespace } from './world.ts';

export function namespaceTargets(settings: Settings): ControllerDefinition {
  return defineController<Namespace>({
    // Also the field manager of existing objects, so it must not change.
    name: 'namespace-targets',
    kind: Namespace,
    ownsStatus: false,
    plan: (view, namespace) => planNamespaceTarget(view, namespace, settings),
    failed: (namespace, { message }) => ({ steps: [recordProblem(namespace, message)] }),
  });
}

/** Plans one namespace. */
export function planNamespaceTarget(view: View, namespace: Namespace, settings: Settings): Plan {
  const provisioned = provisionedNamespaceOf(view, namespace);
  if (provisioned === undefined || namespace.metadata.deletionTimestamp !== undefined) return {};
  const ofClass = classOf(view, provisioned.className);
  const policy = reclaimPolicyOf(ofClass?.spec.reclaimPolicy, namespace.metadata.annotations?.[RECLAIM_POLICY]);
  if (isAbandoned(provisioned, ofClass, policy)) return { steps: deleteAbandoned(view, provisioned) };
  // The target was deleted by force. Its claim is Lost, and the namespace may hold workloads.
  if (provisioned.target === undefined && provisioned.wasMade) {
    // A target that was only changed may still have its claim, which uses the credentials.
    const isUsed = provisioned.claim !== undefined || provisioned.isClaimed;
    return { steps: isUsed ? [] : secretDeletion(view, provisioned) };
  }
  const home = view.get(Namespace, { name: provisioned.targetRef.namespace });
  const isEnding = [provisioned.target, home].some((each) => each?.metadata.deletionTimestamp !== undefined);
  if (isEnding || provisioned.isNameTaken) return {};

  const parameters = ofClass && namespaceParameters(ofClass).value;
  const { name } = namespace.metadata;
  const { account, remove: outdated, contents: ofAccount } = accountIn(view, provisioned);
  const contents = [...ofAccount, ...(parameters === undefined ? [] : limitsOf(name, parameters))];
  const all = contents.map(({ kind, object }) => own(kind, object));
  // Credentials are for one account, which must exist first, and a target has credentials from the beginning.
  if (account === undefined) return { steps: [...outdated, ...all] };
  const { steps, freshForMs } = credentials(view, provisioned, account, parameters, settings);
  // What is refused later must not delay new credentials; a new target waits for all of it.
  const isNew = provisioned.target === undefined;
  const { steps: accepted, problem } = isNew ? { steps: all, problem: undefined } : acceptedContents(view, contents);
  return {
    steps: [
      ...accepted,
      ...steps,
      ...targetSteps(provisioned, settings),
      recordProblem(namespace, problem, markOf(provisioned)),
    ],
    ...(freshForMs !== undefined && { requeueAfterMs: freshForMs }),
  };
}

/** Records the target that was made for a namespace. */
function markOf({ target }: ProvisionedNamespace): Record<string, string> {
  return target === undefined ? {} : { [TARGET_MADE]: target.metadata.uid ?? 'true' };
}

interface Account {
  /** Undefined until it is created, or recreated. */
  readonly account: KubeObject | undefined;
  /** Removes an account of the last claim, which revokes its tokens. */
  readonly remove: readonly Step[];
  readonly contents: readonly NamespaceContent[];
}

/** The account of a namespace. It is recreated after each claim. */
function accountIn(view: View, { namespace, target }: ProvisionedNamespace): Account {
  const lastClaim = target?.metadata.annotations?.[LAST_CLAIM];
  const { name } = namespace.metadata;
  const live = view.get(ServiceAccount, { name: ACCOUNT, namespace: name });
  const isOutdated = live !== undefined && live.metadata.annotations?.[LAST_CLAIM] !== lastClaim;
  return {
    account: isOutdated ? undefined : live,
    remove: isOutdated ? [remove(ServiceAccount, live)] : [],
    contents: accountOf(name, lastClaim),
  };
}

/** Whether no claim has a namespace or will have it, and its contents need not be kept. */
function isAbandoned(
  provisioned: ProvisionedNamespace,
  ofClass: DeploymentTargetClass | undefined,
  policy: 'Delete' | 'Retain',
): boolean {
  const { claim, claimRef, target, isNameTaken, wasMade, namespace } = provisioned;
  // Its target may have been changed, so that it is not recognised: what a claim deployed must not be deleted.
  if (isNameTaken && wasMade) return false;
  const claimUid = namespace.metadata.annotations?.[CLAIM_UID];
  if (target === undefined && wasMade && policy === 'Retain') return false;
  if (claimRef === undefined)
    return (target === undefined && wasMade) || (ofClass === undefined && isFree(provisioned));
  if (target === undefined) return claim === undefined || claim.metadata.deletionTimestamp !== undefined;
  // A target that was bound is reclaimed by its class, even if it is reserved again.
  const { [RECYCLED]: recycled, [LAST_CLAIM]: lastClaim, [CLAIM_UID]: uid } = target.metadata.annotations ?? {};
  const wasReleased = recycled !== undefined || lastClaim !== undefined;
  const wasBound = wasReleased || ['Bound', 'Released', 'Failed'].includes(target.status?.phase ?? '');
  const isFor = claimNameOf(target) === claimRef.name && (uid ?? claimUid) === claimUid;
  return claim === undefined && !wasBound && isFor;
}

/** Deletes an abandoned namespace, or its target if it has one, which deletes the namespace. */
function deleteAbandoned(view: View, provisioned: ProvisionedNamespace): Step[] {
  const { namespace, target } = provisioned;
  if (target !== undefined) {
    return target.metadata.deletionTimestamp === undefined ? [removeUnchanged(DeploymentTarget, target)] : [];
  }
  return [...secretDeletion(view, provisioned), remove(Namespace, namespace)];
}

function secretDeletion(view: View, { namespace, targetRef }: ProvisionedNamespace): Step[] {
  const secret = view.get(Secret, secretRefOf(targetRef, namespace));
  return secret?.metadata.labels?.[MADE_BY_LABEL] === MADE_BY ? [remove(Secret, secret)] : [];
}

/** Where the credentials for a namespace are: in the namespace of its target. */
function secretRefOf(
  target: { readonly name: string; readonly namespace: string },
  namespace: Namespace,
): { name: string; namespace: string } {
  return { name: secretNameFor(target.name, namespace.metadata.name), namespace: target.namespace };
}

interface Credentials {
  readonly steps: readonly Step[];
  readonly freshForMs?: number;
}

function credentials(
  view: View,
  { namespace, targetRef }: ProvisionedNamespace,
  account: KubeObject,
  parameters: NamespaceParameters | undefined,
  { tokenLifetimeMs, cluster }: Settings,
): Credentials {
  const ref = secretRefOf(targetRef, namespace);
  const issued = issuedFor(account, cluster);
  const live = view.get(Secret, ref);
  // Credentials that somebody else issued are left alone.
  if (live?.data?.['kubeconfig'] !== undefined && !isIssuedByUs(live)) return { steps: [] };
  const fresh = live === undefined ? 0 : freshForMs(live, issued, view.now());
  if (fresh > 0) return { steps: [], freshForMs: fresh };
  const lifetimeMs = parseDuration(parameters?.tokenLifetime ?? '') ?? tokenLifetimeMs;
  const { name } = namespace.metadata;
  const ofTarget = `${targetRef.namespace}/${targetRef.name}`;
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      ...ref,
      labels: { [MADE_BY_LABEL]: MADE_BY },
      annotations: { [OF_TARGET]: ofTarget, [OF_NAMESPACE]: name, ...issued },
    },
    type: 'Opaque',
  };
  const step = token(Secret, secret, {
    serviceAccount: { name: ACCOUNT, namespace: name },
    expirationSeconds: Math.floor(lifetimeMs / 1000),
    cluster,
  });
  return { steps: [step], freshForMs: lifetimeMs / 2 };
}

/** Makes the target once, and then updates only its credentials, such as the address of the API server. */
function targetSteps(provisioned: ProvisionedNamespace, { cluster, claimRefShape, insecureTargets }: Settings): Step[] {
  const { namespace, target, targetRef, className, claim } = provisioned;
  const { annotations = {} } = namespace.metadata;
  const kubernetesCredentials = {
    defaultNamespace: namespace.metadata.name,
    apiURL: cluster.server,
    clusterCredentialsSecret: secretRefOf(targetRef, namespace).name,
    allowInsecureSkipTLSVerify: target?.spec.kubernetesCredentials.allowInsecureSkipTLSVerify ?? insecureTargets,
  };
  if (target !== undefined) {
    return [edit(DeploymentTarget, target, { ...target, spec: { ...target.spec, kubernetesCredentials } })];
  }
  const made: DeploymentTarget = {
    apiVersion: 'appstudio.redhat.com/v1alpha1',
    kind: 'DeploymentTarget',
    metadata: {
      ...targetRef,
      finalizers: [NAMESPACE_FINALIZER, TARGET_FINALIZER],
      ...(fitsLabel(className) && { labels: { [PROVISIONER]: className } }),
      annotations: {
        [PROVISIONED_BY]: NAMESPACE_PROVISIONER,
        ...(annotations[RECLAIM_POLICY] && { [RECLAIM_POLICY]: annotations[RECLAIM_POLICY] }),
        ...(claim?.metadata.uid && { [CLAIM_UID]: claim.metadata.uid }),
      },
    },
    spec: {
      deploymentTargetClassName: className,
      kubernetesCredentials,
      ...(claim && { claimRef: claimRefTo(claim.metadata.name, claimRefShape) }),
    },
  };
  return [make(DeploymentTarget, made)];
}
