// Why the pods of a clone do not run. The message stays the same while a kubelet retries, and names no pod: an
// unchanged status is not written again.
import type { KubeObject } from '../../kube/objects.ts';
import { keyOf } from '../../kube/objects.ts';
import type { ContainerState, ContainerStatus, Pod } from '../objects.ts';

const TEMPLATE_HASH = 'pod-template-hash';
/** The reason for containers that crash again and again. */
export const CRASH_LOOP = 'CrashLoopBackOff';
const IMAGE_REASONS = new Set(['ErrImagePull', 'ImagePullBackOff']);
/** Reasons of containers that are starting, which is no problem. */
const STARTING_REASONS = new Set(['ContainerCreating', 'PodInitializing']);

/** Why a workload does not run. */
export interface Problem {
  /** The reason that Kubernetes gives. */
  readonly reason: string;
  readonly message: string;
}

/** The Deployment of a pod, if any: the name of its ReplicaSet is that of the Deployment and the template hash. */
export function deploymentOf({ metadata }: KubeObject): readonly string[] {
  const { namespace, labels = {}, ownerReferences = [] } = metadata;
  const owner = ownerReferences.find(({ kind, controller }) => kind === 'ReplicaSet' && controller);
  const suffix = `-${labels[TEMPLATE_HASH]}`;
  if (owner === undefined || !owner.name.endsWith(suffix)) return [];
  return [keyOf({ name: owner.name.slice(0, -suffix.length), ...(namespace !== undefined && { namespace }) })];
}

/** A pod with only the fields that are used here: there can be many pods. */
export function slimPod({ apiVersion, kind, metadata, status = {} }: Pod): Pod {
  const { managedFields: _nobodys, annotations: _none, ...kept } = metadata;
  const { phase, reason, message, conditions, initContainerStatuses, containerStatuses } = status;
  return {
    apiVersion,
    kind,
    metadata: kept,
    status: {
      ...(phase !== undefined && { phase }),
      ...(reason !== undefined && { reason }),
      ...(message !== undefined && { message }),
      conditions: (conditions ?? []).filter(({ type }) => type === 'PodScheduled'),
      initContainerStatuses: initContainerStatuses ?? [],
      containerStatuses: containerStatuses ?? [],
    },
  };
}

/** Why pods do not run. `start`: why the containers of living pods are not created. */
export function podProblem(pods: readonly Pod[], start?: Problem): Problem | undefined {
  const current = currentOf(pods);
  // A pod that has ended is replaced by another, whose problem is more relevant.
  const [ended, alive] = [current.filter(hasEnded), current.filter((pod) => !hasEnded(pod))];
  const problemOfPod = (pod: Pod) => unscheduled(pod) ?? rejected(pod) ?? containerProblem(pod);
  const problems = [...alive.map(problemOfPod), start, ...ended.map(problemOfPod)];
  return problems.find((problem) => problem !== undefined);
}

/** A crash loop whose containers are up at the moment; reported until they have stayed up for a while. */
export interface Loop {
  readonly problem: Problem;
  /** In milliseconds. */
  readonly until: number;
  /** Whether all ready pods are in a crash loop. */
  readonly isEverywhere: boolean;
}

/** The crash loop of pods that are ready at the moment, if fewer than needed have stayed up. */
export function loopOf(pods: readonly Pod[], needed: number): Loop | undefined {
  const steady = readyPods(pods)
    .map((pod) => ({ pod, at: steadyAt(pod) }))
    .sort((a, b) => a.at - b.at);
  const last = steady[Math.min(needed, steady.length) - 1];
  if (last === undefined || last.at === -Infinity) return undefined;
  const { name, lastState } = last.pod.status!.containerStatuses!.find((each) => steadySince(each) === last.at)!;
  return { problem: crash(name, lastState!.terminated!), until: last.at, isEverywhere: steady[0]!.at > -Infinity };
}

/** When a pod will count as stable; -Infinity if it has not failed. */
function steadyAt({ status }: Pod): number {
  return Math.max(-Infinity, ...(status?.containerStatuses ?? []).map(steadySince));
}

const SHORTEST_MS = 10_000;
const LONGEST_MS = 300_000;

/**
 * When a container that failed counts as stable again: once it has been up twice as long as the last time, and for at
 * least ten seconds. One that was up for five minutes, the maximum backoff of kubelets, is in no loop.
 */
function steadySince({ state, lastState }: ContainerStatus): number {
  const startedAt = Date.parse(state?.running?.startedAt ?? '');
  const { exitCode = 0, ...last } = lastState?.terminated ?? {};
  if (exitCode === 0 || Number.isNaN(startedAt)) return -Infinity;
  const lasted = Date.parse(last.finishedAt ?? '') - Date.parse(last.startedAt ?? '') || 0;
  return lasted >= LONGEST_MS ? -Infinity : startedAt + Math.max(SHORTEST_MS, 2 * lasted);
}

/** Pods of the current version whose containers are all ready. */
export function readyPods(pods: readonly Pod[]): readonly Pod[] {
  return currentOf(pods).filter(isReady);
}

/** Whether pods are known and none of them is ready, of any version. */
export function isDown(pods: readonly Pod[]): boolean {
  return pods.length > 0 && !pods.some(isReady);
}

function isReady({ status }: Pod): boolean {
  return status?.containerStatuses?.every(({ ready }) => ready) ?? false;
}

/** The pods of the current version: that of the latest pod. */
function currentOf(pods: readonly Pod[]): readonly Pod[] {
  const [latest] = pods.toSorted((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1));
  const hash = latest?.metadata.labels?.[TEMPLATE_HASH];
  return pods.filter(
    ({ metadata }) => metadata.labels?.[TEMPLATE_HASH] === hash && metadata.deletionTimestamp === undefined,
  );
}

function timeOf({ metadata }: Pod): string {
  return metadata.creationTimestamp ?? '';
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Failed' || status?.phase === 'Succeeded';
}

function unscheduled({ status }: Pod): Problem | undefined {
  const condition = status?.conditions?.find(({ type, status: is }) => type === 'PodScheduled' && is === 'False');
  if (condition?.reason === undefined) return undefined;
  const { reason, message = '' } = condition;
  const brief = message.replace(/\.? (no new claims to deallocate, )?preemption: .*$/s, '');
  return { reason, message: brief === '' ? reason : `${reason}: ${brief}` };
}

/** A pod that its node refused to run, or stopped to free resources. */
function rejected({ status }: Pod): Problem | undefined {
  const { phase, reason, message = '' } = status ?? {};
  if (phase !== 'Failed' || reason === undefined) return undefined;
  // What follows are amounts, which differ from pod to pod.
  const brief = message.replace(/(\. |, requested: ).*$/s, '').replace(/\.$/, '');
  return { reason, message: brief === '' ? reason : `${reason}: ${brief}` };
}

function containerProblem({ status }: Pod): Problem | undefined {
  const { initContainerStatuses = [], containerStatuses = [] } = status ?? {};
  const problems = [
    ...initContainerStatuses.map((each) => problemOf(each, (code) => code !== 0)),
    ...containerStatuses.map((each) => problemOf(each, () => true)),
  ];
  return problems.find((problem) => problem !== undefined);
}

/** `isFailure`: whether this exit code of a container is a failure. */
function problemOf(container: ContainerStatus, isFailure: (exitCode: number) => boolean): Problem | undefined {
  const { name, ready, restartCount = 0, image = '', state, lastState } = container;
  if (ready) return undefined;
  const { reason = '', message = '' } = state?.waiting ?? {};
  if (IMAGE_REASONS.has(reason)) {
    const words = message.replace(/^Back-off pulling image "[^"]*"(: (ErrImagePull: )?)?/, '');
    return about('ImagePullBackOff', name, [`image ${image} can't be pulled`, words].filter(Boolean).join(': '));
  }
  // The same whether the container waits for its restart or has just been restarted.
  const terminated = state?.terminated ?? lastState?.terminated;
  // One that ended without an error may have been restarted for another reason, if that happened only once.
  const isRestarted = state?.waiting === undefined && terminated?.exitCode === 0 && restartCount < 2;
  if (terminated !== undefined && isFailure(terminated.exitCode ?? 0) && !isRestarted) {
    return crash(name, terminated);
  }
  if (reason === '' || STARTING_REASONS.has(reason)) return undefined;
  // Ids differ at each try.
  return about(reason, name, message.replaceAll(/\b[0-9a-f]{12,}\b/g, '…'));
}

function crash(name: string, { exitCode = 0, reason }: NonNullable<ContainerState['terminated']>): Problem {
  const why = reason === undefined ? '' : ` (${reason})`;
  return about(CRASH_LOOP, name, `ended with exit code ${exitCode}${why}`);
}

function about(reason: string, container: string, what: string): Problem {
  return { reason, message: `${reason}: container ${container}${what === '' ? '' : `: ${what}`}` };
}
