// The sandbox provisioner, first half: makes a space request for a claim that waits for a target of one of its classes.
import { SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTargetClaim } from '../../api/targets.ts';
import type { DeploymentTargetClass } from '../../api/targets.ts';
import { defineController } from '../../controller/index.ts';
import type { ControllerDefinition, Plan, View } from '../../controller/index.ts';
import { make } from '../../kube/index.ts';
import {
  CLAIM_LABEL,
  CLAIM_UID,
  CLASS_NAME,
  DEVSANDBOX,
  digest,
  fitsLabel,
  joinName,
  LABEL_LENGTH,
  RECLAIM_POLICY,
  REQUESTED_NAMESPACE,
  SANDBOX_TIER,
} from '../names.ts';
import { classParameters } from '../provisioning/parameters.ts';
import { quotaProblem } from '../provisioning/quota.ts';
import { refusedTo } from '../provisioning/refusal.ts';
import { targetNameProblem } from '../provisioning/target-name.ts';
import { classToProvision } from '../provisioning/eligible.ts';
import type { Problem } from '../provisioning/eligible.ts';
import { ownRequests } from '../world.ts';

export function devsandboxRequest(): ControllerDefinition {
  return defineController<DeploymentTargetClaim>({
    name: 'devsandbox-request',
    kind: DeploymentTargetClaim,
    ownsStatus: false,
    // One at a time: two claims at once could both take the last slot of a quota.
    workers: 1,
    plan: planRequest,
    failed: (claim, { cause }, now) => refusedTo(claim, `unable to handle provisioning of SpaceRequest: ${cause}`, now),
  });
}

/** Plans the space request of one claim. */
export function planRequest(view: View, claim: DeploymentTargetClaim): Plan {
  const ofClass = classToProvision(view, claim, DEVSANDBOX);
  if (ofClass === undefined || ownRequests(view, claim).length > 0) return {};
  if (requestProblem(view, claim, ofClass) !== undefined) return {};
  return {
    steps: [make(SpaceRequest, requestFor(claim, ofClass))],
    events: [{ type: 'Normal', reason: 'Provisioning', note: `requesting a space of tier ${SANDBOX_TIER}` }],
  };
}

/** Why no space is requested, or no target made from it. */
export function requestProblem(
  view: View,
  claim: DeploymentTargetClaim,
  ofClass: DeploymentTargetClass,
): Problem | undefined {
  const { problem } = classParameters(ofClass);
  if (problem !== undefined) return { reason: 'InvalidParameters', message: problem };
  const requested = claim.metadata.annotations?.[REQUESTED_NAMESPACE];
  if (requested !== undefined && !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(requested)) {
    const message = `"${requested}" can't be part of the name of a namespace: use lower-case letters, digits and dashes`;
    return { reason: 'InvalidNamespaceName', message };
  }
  const { length } = claim.metadata.name;
  if (!fitsLabel(claim.metadata.name)) {
    const message = `the name of the claim has ${length} characters: use at most ${LABEL_LENGTH}, so that it fits into labels`;
    return { reason: 'NameTooLong', message };
  }
  return targetNameProblem(view, claim) ?? quotaProblem(view, claim, ofClass);
}

function requestFor(claim: DeploymentTargetClaim, ofClass: DeploymentTargetClass): SpaceRequest {
  const { name, namespace, uid = '', annotations } = claim.metadata;
  const requested = annotations?.[REQUESTED_NAMESPACE];
  return {
    apiVersion: 'toolchain.dev.openshift.com/v1alpha1',
    kind: 'SpaceRequest',
    metadata: {
      // Always the same for one claim, so that a stale cache can't make two requests.
      name: joinName(name, digest(uid)),
      namespace,
      labels: { [CLAIM_LABEL]: name },
      annotations: {
        [CLAIM_UID]: uid,
        [CLASS_NAME]: ofClass.metadata.name,
        [RECLAIM_POLICY]: ofClass.spec.reclaimPolicy,
        ...(requested !== undefined && { [REQUESTED_NAMESPACE]: requested }),
      },
    },
    spec: { tierName: SANDBOX_TIER, targetClusterRoles: [] },
  };
}
