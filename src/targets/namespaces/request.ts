// The namespace provisioner, first part: makes a namespace for a claim that waits for a target of one of its classes.
import { DeploymentTargetClaim } from '../../api/targets.ts';
import type { DeploymentTargetClass } from '../../api/targets.ts';
import { defineController } from '../../controller/index.ts';
import type { ControllerDefinition, Plan, View } from '../../controller/index.ts';
import { make } from '../../kube/index.ts';
import {
  CLAIM_UID,
  CLASS_NAME,
  NAMESPACE_PROVISIONER,
  OF_CLAIM,
  OF_TARGET,
  PROBLEM,
  RECLAIM_POLICY,
  sandboxTarget,
} from '../names.ts';
import { Namespace } from '../objects.ts';
import { namespaceParameters } from '../provisioning/parameters.ts';
import { quotaProblem } from '../provisioning/quota.ts';
import { refusedTo } from '../provisioning/refusal.ts';
import { targetNameProblem } from '../provisioning/target-name.ts';
import { classToProvision } from '../provisioning/eligible.ts';
import type { Problem } from '../provisioning/eligible.ts';
import { MADE_BY, MADE_BY_LABEL, namespaceNameFor } from './names.ts';

export function namespaceRequests(): ControllerDefinition {
  return defineController<DeploymentTargetClaim>({
    name: 'namespace-requests',
    kind: DeploymentTargetClaim,
    ownsStatus: false,
    // One at a time: two claims at once could both take the last slot of a quota.
    workers: 1,
    plan: planNamespaceRequest,
    failed: (claim, { message }, now) => refusedTo(claim, message, now),
  });
}

/** Plans the namespace of one claim. */
export function planNamespaceRequest(view: View, claim: DeploymentTargetClaim): Plan {
  const ofClass = classToProvision(view, claim, NAMESPACE_PROVISIONER);
  if (ofClass === undefined || namespaceProblem(view, claim, ofClass) !== undefined) return {};
  const name = namespaceNameFor(claim);
  if (view.get(Namespace, { name }) !== undefined) return {};
  const { name: claimName, namespace: home, uid = '' } = claim.metadata;
  const namespace = namespaceFor(ofClass, name, {
    [OF_TARGET]: `${home}/${sandboxTarget(claimName)}`,
    [OF_CLAIM]: `${home}/${claimName}`,
    [CLAIM_UID]: uid,
  });
  return {
    steps: [make(Namespace, namespace)],
    events: [{ type: 'Normal', reason: 'Provisioning', note: `creating namespace ${name}` }],
  };
}

/** A namespace of a class. Its annotations say what it was made for; all later plans depend on them. */
export function namespaceFor(
  ofClass: DeploymentTargetClass,
  name: string,
  madeFor: Readonly<Record<string, string>>,
): Namespace {
  const { metadata, spec } = ofClass;
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name,
      labels: { ...namespaceParameters(ofClass).value?.labels, [MADE_BY_LABEL]: MADE_BY },
      annotations: { ...madeFor, [CLASS_NAME]: metadata.name, [RECLAIM_POLICY]: spec.reclaimPolicy },
    },
  };
}

/** Why no namespace is made for a claim, or no target from it. */
export function namespaceProblem(
  view: View,
  claim: DeploymentTargetClaim,
  ofClass: DeploymentTargetClass,
): Problem | undefined {
  const { problem } = namespaceParameters(ofClass);
  if (problem !== undefined) return { reason: 'InvalidParameters', message: problem };
  return nameProblem(view, claim) ?? targetNameProblem(view, claim) ?? quotaProblem(view, claim, ofClass);
}

function nameProblem(view: View, claim: DeploymentTargetClaim): Problem | undefined {
  const name = namespaceNameFor(claim);
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name) || name.startsWith('kube-')) {
    const message = `"${name}" can't be the name of a namespace for a claim: use at most 63 lower-case letters, digits and dashes, not beginning with kube-`;
    return { reason: 'InvalidNamespaceName', message };
  }
  const holder = view.get(Namespace, { name });
  if (holder === undefined) return undefined;
  const { [CLAIM_UID]: uid, [PROBLEM]: problem } = holder.metadata.annotations ?? {};
  if (uid !== claim.metadata.uid) {
    const message = `namespace ${name} exists already: request another name, or none`;
    return { reason: 'NamespaceTaken', message };
  }
  return problem === undefined ? undefined : { reason: 'UnableToProvision', message: `namespace ${name}: ${problem}` };
}
