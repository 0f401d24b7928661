// How far a clone is, and what keeps it from running: read off the Deployment and its pods.
import type { DynamicEnv } from '../api/dynamicenv.ts';
import type { Deployment, Pod, WorkloadCondition } from './objects.ts';
import { isScaledDown } from './lifecycle/sleep.ts';
import { mountProblem } from './mount-failures.ts';
import type { PodEvent } from './mount-failures.ts';
import { CRASH_LOOP, isDown, loopOf, podProblem, readyPods } from './pods.ts';
import type { Loop, Problem } from './pods.ts';

/** How far a clone is, in the words of the status. */
export type CloneState =
  | 'missing'
  | 'unknown'
  | 'initializing'
  | 'updating'
  | 'running'
  | 'asleep'
  | 'failed'
  | 'removing';

/** Reads off a clone how far it is. `updated`: it has been changed since it was created. */
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

/** Whether some pod of a clone answers requests, also while another version of it starts. */
export function isAvailable(clone: Deployment | undefined, state: CloneState, pods: readonly Pod[] = []): boolean {
  // The Deployment may be ahead of its pods, or behind them.
  if (podProblem(pods)?.reason === CRASH_LOOP && isDown(pods)) return false;
  // A pod gets requests as soon as it is ready; available is one that has been so for `minReadySeconds`.
  if ((clone?.status?.readyReplicas ?? 0) > 0) return true;
  // What would be available without any pod says nothing by being so.
  if (clone !== undefined && sparePods(clone) >= (clone.spec.replicas ?? 1)) return false;
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

/** Whether a clone has been changed since somebody last looked at it, and what its status says is about an older version. */
export function isOutdated(clone: Deployment): boolean {
  return clone.status?.observedGeneration !== undefined && !isObserved(clone);
}

/** Whether a clone does its work: one that came up once may have fallen since. */
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
 * What keeps a clone from running, in the words of whoever runs it: why no pod can be made, or why those that there are
 * do not start; else that the time is up. Steps of its progress are not worth a write each.
 */
export function cloneProblem(
  clone: Deployment | undefined,
  pods: readonly Pod[],
  mountFailures: readonly PodEvent[] = [],
): Problem | undefined {
  if (clone === undefined || !isObserved(clone)) return undefined;
  const { conditions = [] } = clone.status ?? {};
  const failing = conditions.find(({ type, status }) => type === 'ReplicaFailure' && status === 'True');
  // Each try has a pod of another name.
  if (failing !== undefined) return problemOf({ ...failing, ...withoutPod(failing.message) });
  const progressing = progressOf(clone);
  const isSteady = isSettled(clone) && (pods.length === 0 || readyPods(pods).length >= neededPods(clone));
  const ofPods = isSteady ? undefined : (podProblem(pods) ?? mountProblem(mountFailures));
  return ofPods ?? (progressing === undefined || progressing.status === 'True' ? undefined : problemOf(progressing));
}

/** The crash loop of a clone whose Deployment finds nothing wrong, because its pods are up at the moment. */
export function cloneLoop(clone: Deployment | undefined, pods: readonly Pod[]): Loop | undefined {
  return clone === undefined || !isObserved(clone) ? undefined : loopOf(pods, neededPods(clone));
}

/** How many pods must run for a Deployment to be available. */
function neededPods(clone: Deployment): number {
  return Math.max(1, (clone.spec.replicas ?? 1) - sparePods(clone));
}

/** How many pods a Deployment may lack and be available. */
function sparePods({ spec }: Deployment): number {
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

/** Whether a Deployment says that enough pods run: those that come and go meanwhile are nobody's worry. */
function isSettled(clone: Deployment): boolean {
  const progressing = progressOf(clone);
  const isUnavailable = clone.status?.conditions?.some(
    ({ type, status }) => type === 'Available' && status === 'False',
  );
  return progressing?.status === 'True' && progressing.reason === 'NewReplicaSetAvailable' && !isUnavailable;
}

/** A problem as it is told already, where the news says less of the same: kubelets alternate between the two. */
export function withoutRepeating(env: DynamicEnv, key: string, problem: Problem | undefined): Problem | undefined {
  const { subsetsStatus, consumersStatus } = env.status ?? {};
  const told = subsetsStatus?.[key]?.deployment.message ?? consumersStatus?.[key]?.message;
  return problem && told?.startsWith(`${problem.message}: `) ? { ...problem, message: told } : problem;
}

/** False while whatever its status says is about an older version, or nobody has looked at it yet. */
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

/** The latest condition about progress. */
function progressOf({ status }: Deployment): WorkloadCondition | undefined {
  return status?.conditions
    ?.filter(({ type }) => type === 'Progressing')
    .reduce<WorkloadCondition | undefined>(
      (best, each) => (best === undefined || (each.lastUpdateTime ?? '') > (best.lastUpdateTime ?? '') ? each : best),
      undefined,
    );
}
