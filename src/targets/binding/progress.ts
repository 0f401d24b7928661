// Progress of provisioning for a pending claim, for its status, which the binder writes.
import type { SpaceRequest } from '../../api/spaces.ts';
import type { DeploymentTargetClaim, DeploymentTargetClass } from '../../api/targets.ts';
import type { PlannedCondition, PlannedEvent, View } from '../../controller/index.ts';
import { parseDuration } from '../../kube/index.ts';
import { requestProblem } from '../devsandbox/request.ts';
import { hasCredentials } from './match.ts';
import { DEVSANDBOX, NAMESPACE_PROVISIONER, PROVISIONER } from '../names.ts';
import { namespaceProblem } from '../namespaces/request.ts';
import { classParameters } from '../provisioning/parameters.ts';
import { PROVISIONED, refusalOn } from '../provisioning/refusal.ts';
import type { Settings } from '../settings.ts';
import type { SpaceReason } from '../reasons.ts';
import { condition } from '../status.ts';
import type { Problem } from '../provisioning/eligible.ts';
import { classOf, isProvidedFor, ownRequests, targetsReferringTo } from '../world.ts';

export interface Progress {
  readonly conditions: readonly PlannedCondition[];
  readonly events: readonly PlannedEvent[];
  /** Why no target can be made. */
  readonly problem?: Problem;
  /** When to check again even if nothing changes. */
  readonly lookAgainMs?: number;
}

const NO_PROGRESS: Progress = { conditions: [], events: [] };

/** The progress of provisioning for a pending claim. */
export function progressOf(view: View, claim: DeploymentTargetClaim, settings: Settings): Progress {
  const ofClass = classOf(view, claim.spec.deploymentTargetClassName);
  if (ofClass === undefined || claim.metadata.annotations?.[PROVISIONER] === undefined) return NO_PROGRESS;
  const problem = problemOf(view, claim, ofClass);
  if (problem !== undefined) return stuck(claim, problem);
  const made = targetsReferringTo(view, claim).find((target) => !hasCredentials(target));
  if (made !== undefined) {
    const message = `DeploymentTarget ${made.metadata.name} does not have cluster credentials`;
    return stuck(claim, { reason: 'NoCredentials', message });
  }
  const refused = isProvidedFor(view, claim) ? undefined : refusalOn(claim);
  if (refused !== undefined) return stuck(claim, refused);
  const [request] = ownRequests(view, claim);
  const requested = request && requestProgress(request);
  if (requested?.isFailure) return stuck(claim, requested);
  const leftMs = deadlineOf(view, claim, ofClass, request, settings) - view.now();
  if (leftMs <= 0) {
    const message = `${ofClass.spec.provisioner} did not create a target in time${requested === undefined ? '' : `; ${requested.message}`}`;
    return stuck(claim, { reason: 'DeadlineExceeded', message });
  }
  const conditions =
    requested === undefined ? [] : [condition(PROVISIONED, requested.isDone, requested.reason, requested.message)];
  return { conditions, events: [], lookAgainMs: leftMs };
}

/** Why the provisioner of a class makes nothing for a claim. Nothing is known about provisioners of others. */
function problemOf(view: View, claim: DeploymentTargetClaim, ofClass: DeploymentTargetClass): Problem | undefined {
  switch (ofClass.spec.provisioner) {
    case DEVSANDBOX:
      return requestProblem(view, claim, ofClass);
    case NAMESPACE_PROVISIONER:
      return namespaceProblem(view, claim, ofClass);
    default:
      return undefined;
  }
}

function stuck(claim: DeploymentTargetClaim, { reason, message }: Problem): Progress {
  const before = claim.status?.conditions?.find(({ type }) => type === PROVISIONED);
  const isNew = before?.reason !== reason || before.message !== message;
  return {
    conditions: [condition(PROVISIONED, false, reason, message)],
    events: isNew ? [{ type: 'Warning', reason, note: message }] : [],
    problem: { reason, message },
  };
}

interface RequestProgress extends Problem {
  readonly isDone: boolean;
  readonly isFailure: boolean;
}

/** The progress of a space request, from its Ready condition. */
function requestProgress({ metadata, status }: SpaceRequest): RequestProgress | undefined {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready === undefined) return undefined;
  const { reason = '', message } = ready;
  return {
    // Another operator may write any text; the reason of a claim's condition must be one word.
    reason: (/^[A-Za-z](\w*)$/.test(reason) ? reason : 'Unknown') as SpaceReason,
    message: `SpaceRequest ${metadata.name}${message ? `: ${message}` : ''}`,
    isDone: ready.status === 'True',
    isFailure: ready.status !== 'True' && reason.startsWith('UnableTo'),
  };
}

/** When a target should exist: counted from its request or, without one, from when the claim began to wait. */
function deadlineOf(
  view: View,
  claim: DeploymentTargetClaim,
  ofClass: DeploymentTargetClass,
  request: SpaceRequest | undefined,
  { provisioningDeadlineMs }: Settings,
): number {
  const { provisioningDeadline } = classParameters(ofClass).value ?? {};
  const deadlineMs = parseDuration(provisioningDeadline ?? '') ?? provisioningDeadlineMs;
  const conditions = claim.status?.conditions ?? [];
  const isQueued = conditions.some(({ type, reason }) => type === PROVISIONED && reason === 'QuotaExceeded');
  const waiting = conditions.find(({ type, status }) => type === 'Ready' && status === 'False');
  const since = request?.metadata.creationTimestamp ?? (isQueued ? undefined : waiting?.lastTransitionTime);
  return (since === undefined ? view.now() : Date.parse(since)) + deadlineMs;
}
