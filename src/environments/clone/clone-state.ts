// The state of a clone, and why it does not run, from the Deployment and its pods.
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import type { Deployment, Pod, WorkloadCondition } from '../objects.ts';
import { isScaledDown } from '../lifecycle/sleep.ts';
import { CRASH_LOOP, isDown, loopOf, podProblem, readyPods } from './pods.ts';
import type { Loop, Problem } from './pods.ts';
import { startProblem } from './start-failures.ts';
import type { PodEvent } from './start-failures.ts';

/** The state of a clone in the status. */
export type CloneState =
  | 'missing'
  | 'unknown'
  | 'initializing'
  | 'updating'
  | 'running'
  | 'asleep'
  | 'failed'
  | 'removing';

/** The state of a clone. `updated`: it has been changed since it was created. */
export function cloneState(clone: Deployment | undefined, updated: boolean): CloneState {
  if (clone === undefined) return 'missing';
  if (isScaledDown(clone) && clone.spec.replicas === 0) return 'asleep';
  if (!isObserved(clone)) return updated ? 'updating' : 'initializing';
  const progressing = progressOf(clone);
  if (progressing === undefined) return 'unknown';
  if (progressing.status !== 'True') return 'failed';
  if (progressing.reason === 'NewReplicaSetAvailable') return 'running';
  return updated ? 'updating' : 'initializing';
}

/** Whether some pod of a clone answers requests, even while a new version of it starts. */
export function isAvailable(clone: Deployment | undefined, state: CloneState, pods: readonly Pod[] = []): boolean {
  // The Deployment may be ahead of its pods, or behind them.
  if (podProblem(pods)?.reason === CRASH_LOOP && isDown(pods)) return false;
  // A pod gets requests as soon as it is ready; it is available after `minReadySeconds`.
  if ((clone?.status?.readyReplicas ?? 0) > 0) return true;
  // If the Deployment is available even without a pod, the condition says nothing.
  if (clone !== undefined && maxUnavailablePods(clone) >= (clone.spec.replicas ?? 1)) return false;
  const available = clone?.status?.conditions?.find(({ type }) => type === 'Available');
  return available === undefined ? state === 'running' || state === 'updating' : available.status === 'True';
}

/** Since when a clone has been available, in milliseconds; 0 if that is not known. */
export function availableSince(clone: Deployment | undefined): number {
  const available = clone?.status?.conditions?.find(({ type, status }) => type === 'Available' && status === 'True');
  return Date.parse(available?.lastTransitionTime ?? '') || 0;
}

/** Since when a clone has not been available, in milliseconds; 0 if it is, or that is not known. */
export function unavailableSince(clone: Deployment): number {
  const available = clone.status?.conditions?.find(({ type, status }) => type === 'Available' && status === 'False');
  return Date.parse(available?.lastTransitionTime ?? '') || 0;
}

/** Whether the status of a clone is about an older generation. */
export function isOutdated(clone: Deployment): boolean {
  return clone.status?.observedGeneration !== undefined && !isObserved(clone);
}

/** Whether a clone runs without a problem: it may have crashed after it was up. */
export function isRunning({
  cloneStatus,
  problem,
}: {
  readonly cloneStatus: { readonly status: CloneState };
  readonly problem: Problem | undefined;
}): boolean {
  return cloneStatus.status === 'running' && problem === undefined;
}

/**
 * Why a clone does not run, in the words of Kubernetes: why no pod can be created, or why pods do not start; else that
 * its deadline is exceeded. Its progress alone is not worth a status write.
 */
export function cloneProblem(
  clone: Deployment | undefined,
  pods: readonly Pod[],
  startFailures: readonly PodEvent[] = [],
): Problem | undefined {
  if (clone === undefined || !isObserved(clone)) return undefined;
  const { conditions = [] } = clone.status ?? {};
  const failing = conditions.find(({ type, status }) => type === 'ReplicaFailure' && status === 'True');
  // The message names the pod, which is another one at each try.
  if (failing !== undefined) return problemOf({ ...failing, ...withoutPod(failing.message) });
  const progressing = progressOf(clone);
  const isSteady = isSettled(clone) && (pods.length === 0 || readyPods(pods).length >= neededPods(clone));
  const ofPods = isSteady ? undefined : podProblem(pods, startProblem(startFailures));
  return ofPods ?? (progressing === undefined || progressing.status === 'True' ? undefined : problemOf(progressing));
}

/** The crash loop of a clone whose Deployment reports no problem, because its pods are up at the moment. */
export function cloneLoop(clone: Deployment | undefined, pods: readonly Pod[]): Loop | undefined {
  return clone === undefined || !isObserved(clone) ? undefined : loopOf(pods, neededPods(clone));
}

/** How many pods must run for a Deployment to be available. */
function neededPods(clone: Deployment): number {
  return Math.max(1, (clone.spec.replicas ?? 1) - maxUnavailablePods(clone));
}

/** How many pods of a Deployment may be unavailable while it is available. */
function maxUnavailablePods({ spec }: Deployment): number {
  const { replicas = 1 } = spec;
  const { type = 'RollingUpdate', rollingUpdate = {} } = (spec['strategy'] ?? {}) as {
    readonly type?: string;
    readonly rollingUpdate?: { readonly maxUnavailable?: number | string };
  };
  const { maxUnavailable = '25%' } = rollingUpdate;
  if (type !== 'RollingUpdate') return 0;
  return typeof maxUnavailable === 'number'
    ? maxUnavailable
    : Math.floor((parseInt(maxUnavailable, 10) * replicas) / 100);
}

/** Whether a Deployment reports that enough pods run: other pods that come and go do not matter. */
function isSettled(clone: Deployment): boolean {
  const progressing = progressOf(clone);
  const isUnavailable = clone.status?.conditions?.some(
    ({ type, status }) => type === 'Available' && status === 'False',
  );
  return progressing?.status === 'True' && progressing.reason === 'NewReplicaSetAvailable' && !isUnavailable;
}

/** The problem in the status, if the new one is only its beginning: kubelets alternate between the two. */
export function keepLongerMessage(env: DynamicEnv, key: string, problem: Problem | undefined): Problem | undefined {
  const { subsetsStatus, consumersStatus } = env.status ?? {};
  const reported = subsetsStatus?.[key]?.deployment.message ?? consumersStatus?.[key]?.message;
  return problem && reported?.startsWith(`${problem.message}: `) ? { ...problem, message: reported } : problem;
}

/** False while its status is about an older generation, or has not been written yet. */
function isObserved({ metadata, status }: Deployment): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
}

function withoutPod(message: string | undefined): { readonly message?: string } {
  return message === undefined
    ? {}
    : { message: message.replace(/^pods "[^"]*" is forbidden: /, 'pods are forbidden: ') };
}

function problemOf({ type, reason = type, message = reason }: WorkloadCondition): Problem {
  return { reason, message };
}

/** The latest condition Progressing. */
function progressOf({ status }: Deployment): WorkloadCondition | undefined {
  return status?.conditions
    ?.filter(({ type }) => type === 'Progressing')
    .reduce<WorkloadCondition | undefined>(
      (best, each) => (best === undefined || (each.lastUpdateTime ?? '') > (best.lastUpdateTime ?? '') ? each : best),
      undefined,
    );
}
