// How the provisioning of a pending claim goes on, for its status: the binder owns that and asks here.
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
  /** What keeps a target from being made. */
  readonly problem?: Problem;
  /** When there may be more to tell even if nothing changes. */
  readonly lookAgainMs?: number;
}

const NOTHING: Progress = { conditions: [], events: [] };

/** What there is to tell about the provisioning of a claim that is pending. */
export function progressOf(view: View, claim: DeploymentTargetClaim, settings: Settings): Progress {
  const ofClass = classOf(view, claim.spec.deploymentTargetClassName);
  if (ofClass === undefined || claim.metadata.annotations?.[PROVISIONER] === undefined) return NOTHING;
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
  const asked = request && requestProgress(request);
  if (asked?.isFailure) return stuck(claim, asked);
  const leftMs = deadlineOf(view, claim, ofClass, request, settings) - view.now();
  if (leftMs <= 0) {
    const message = `${ofClass.spec.provisioner} did not create a target in time${asked === undefined ? '' : `; ${asked.message}`}`;
    return stuck(claim, { reason: 'DeadlineExceeded', message });
  }
  const conditions = asked === undefined ? [] : [condition(PROVISIONED, asked.isDone, asked.reason, asked.message)];
  return { conditions, events: [], lookAgainMs: leftMs };
}

/** Why the provisioner of a class makes nothing for a claim. Of the provisioners of others nothing is known. */
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
  const isNews = before?.reason !== reason || before.message !== message;
  return {
    conditions: [condition(PROVISIONED, false, reason, message)],
    events: isNews ? [{ type: 'Warning', reason, note: message }] : [],
    problem: { reason, message },
  };
}

interface RequestProgress extends Problem {
  readonly isDone: boolean;
  readonly isFailure: boolean;
}

/** How far a space request has come, by its own word. */
function requestProgress({ metadata, status }: SpaceRequest): RequestProgress | undefined {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready === undefined) return undefined;
  const { reason = '', message } = ready;
  return {
    // That of another operator may be any text, and the reason of a condition of a claim may not.
    reason: (/^[A-Za-z](\w*)$/.test(reason) ? reason : 'Unknown') as SpaceReason,
    message: `SpaceRequest ${metadata.name}${message ? `: ${message}` : ''}`,
    isDone: ready.status === 'True',
    isFailure: ready.status !== 'True' && reason.startsWith('UnableTo'),
  };
}

/** When a target should be there: so long after it was asked for or, while nobody has, after the claim began to wait. */
function deadlineOf(
  view: View,
  claim: DeploymentTargetClaim,
  ofClass: DeploymentTargetClass,
  request: SpaceRequest | undefined,
  { provisioningDeadlineMs }: Settings,
): number {
  const { provisioningDeadline } = classParameters(ofClass).value ?? {};
  const lengthMs = parseDuration(provisioningDeadline ?? '') ?? provisioningDeadlineMs;
  const conditions = claim.status?.conditions ?? [];
  const isQueued = conditions.some(({ type, reason }) => type === PROVISIONED && reason === 'QuotaExceeded');
  const waiting = conditions.find(({ type, status }) => type === 'Ready' && status === 'False');
  const since = request?.metadata.creationTimestamp ?? (isQueued ? undefined : waiting?.lastTransitionTime);
  return (since === undefined ? view.now() : Date.parse(since)) + lengthMs;
}
