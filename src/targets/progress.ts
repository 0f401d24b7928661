// How the provisioning of a pending claim goes on, for its status: the binder owns that and asks here.
import type { SpaceRequest } from '../api/spaces.ts';
import type { DeploymentTargetClaim, DeploymentTargetClass } from '../api/targets.ts';
import type { PlannedCondition, PlannedEvent, View } from '../controller/index.ts';
import { parseDuration } from '../kube/index.ts';
import { requestProblem } from './devsandbox-request.ts';
import { DEVSANDBOX, NAMESPACE_PROVISIONER, PROVISIONER } from './names.ts';
import { namespaceProblem } from './namespaces/request.ts';
import { classParameters } from './parameters.ts';
import type { Settings } from './settings.ts';
import { condition } from './status.ts';
import type { Problem } from './wanted.ts';
import { classOf, requestsFor } from './world.ts';

const PROVISIONED = 'Provisioned';

export interface Progress {
  readonly conditions: readonly PlannedCondition[];
  readonly events: readonly PlannedEvent[];
  /** What keeps a target from being made. */
  readonly problem?: string;
  /** When there may be more to tell even if nothing changes. */
  readonly lookAgainMs?: number;
}

const NOTHING: Progress = { conditions: [], events: [] };

/** What there is to tell about the provisioning of a claim that is pending. */
export function progressOf(view: View, claim: DeploymentTargetClaim, settings: Settings): Progress {
  const ofClass = classOf(view, claim.spec.deploymentTargetClassName);
  if (ofClass === undefined || claim.metadata.annotations?.[PROVISIONER] === undefined) return NOTHING;
  const problem = problemOf(view, claim, ofClass);
  if (problem !== undefined) return told(claim, problem, problem.message);
  const [request] = requestsFor(view, claim.metadata);
  const said = request && sayingOf(request);
  if (said?.isFailure) return told(claim, said, said.message);
  const leftMs = deadlineOf(view, claim, ofClass, request, settings) - view.now();
  if (leftMs <= 0) {
    const message = `no target was made in time${said === undefined ? '' : `; ${said.message}`}`;
    return told(claim, { reason: 'DeadlineExceeded', message }, message);
  }
  const conditions = said === undefined ? [] : [condition(PROVISIONED, said.isDone, said.reason, said.message)];
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

function told(claim: DeploymentTargetClaim, { reason, message }: Problem, problem: string): Progress {
  const before = claim.status?.conditions?.find(({ type }) => type === PROVISIONED);
  const isNews = before?.reason !== reason || before.message !== message;
  return {
    conditions: [condition(PROVISIONED, false, reason, message)],
    events: isNews ? [{ type: 'Warning', reason, note: message }] : [],
    problem,
  };
}

interface Saying extends Problem {
  readonly isDone: boolean;
  readonly isFailure: boolean;
}

/** What a space request says about itself. */
function sayingOf({ metadata, status }: SpaceRequest): Saying | undefined {
  const conditions = status?.conditions ?? [];
  const ready = conditions.find(({ type }) => type === 'Ready');
  const stalled = conditions.find(({ type, status }) => type === 'Stalled' && status === 'True');
  const said = stalled ?? ready;
  if (said === undefined) return undefined;
  const reason = said.reason || 'Unknown';
  return {
    reason,
    message: `SpaceRequest ${metadata.name}${said.message ? `: ${said.message}` : ''}`,
    isDone: ready?.status === 'True',
    isFailure: stalled !== undefined || (ready?.status !== 'True' && reason.startsWith('UnableTo')),
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
