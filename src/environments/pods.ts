// Why the pods of a clone do not run, as far as it is known. The words stay the same while a kubelet tries again and
// again, and name no pod: a status that says the same is not written again.
import type { KubeObject } from '../kube/objects.ts';
import { keyOf } from '../kube/objects.ts';
import type { ContainerStatus, Pod } from './objects.ts';

const TEMPLATE_HASH = 'pod-template-hash';
const IMAGE_REASONS = new Set(['ErrImagePull', 'ImagePullBackOff']);
/** On its way, and no reason to worry. */
const ORDINARY = new Set(['ContainerCreating', 'PodInitializing']);

/** Why a workload does not run. */
export interface Problem {
  /** In one word, as Kubernetes says it. */
  readonly reason: string;
  readonly message: string;
}

/** The Deployment that a pod belongs to, if any: its ReplicaSet is named after that and the hash of the template. */
export function deploymentOf({ metadata }: KubeObject): readonly string[] {
  const { namespace, labels = {}, ownerReferences = [] } = metadata;
  const owner = ownerReferences.find(({ kind, controller }) => kind === 'ReplicaSet' && controller);
  const suffix = `-${labels[TEMPLATE_HASH]}`;
  if (owner === undefined || !owner.name.endsWith(suffix)) return [];
  return [keyOf({ name: owner.name.slice(0, -suffix.length), ...(namespace !== undefined && { namespace }) })];
}

/** A pod with nothing but what is read here: there can be many. */
export function slimPod({ apiVersion, kind, metadata, status = {} }: Pod): Pod {
  const { managedFields: _nobodys, annotations: _none, ...kept } = metadata;
  const { phase, conditions, initContainerStatuses, containerStatuses } = status;
  return {
    apiVersion,
    kind,
    metadata: kept,
    status: {
      ...(phase !== undefined && { phase }),
      conditions: (conditions ?? []).filter(({ type }) => type === 'PodScheduled'),
      initContainerStatuses: initContainerStatuses ?? [],
      containerStatuses: containerStatuses ?? [],
    },
  };
}

/** What keeps pods from running: the latest of them are what the Deployment wants now. */
export function podProblem(pods: readonly Pod[]): Problem | undefined {
  const [latest] = pods.toSorted((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1));
  const hash = latest?.metadata.labels?.[TEMPLATE_HASH];
  const current = pods.filter(
    ({ metadata }) => metadata.labels?.[TEMPLATE_HASH] === hash && metadata.deletionTimestamp === undefined,
  );
  // One that has ended is replaced by another, which has more to say.
  const [ended, alive] = [current.filter(hasEnded), current.filter((pod) => !hasEnded(pod))];
  const problems = [...alive, ...ended].map((pod) => unscheduled(pod) ?? containerProblem(pod));
  return problems.find((problem) => problem !== undefined);
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

function containerProblem({ status }: Pod): Problem | undefined {
  const { initContainerStatuses = [], containerStatuses = [] } = status ?? {};
  const problems = [
    ...initContainerStatuses.map((each) => problemOf(each, (code) => code !== 0)),
    ...containerStatuses.map((each) => problemOf(each, () => true)),
  ];
  return problems.find((problem) => problem !== undefined);
}

/** `isFailure`: whether a container that ended with this exit code should not have. */
function problemOf(container: ContainerStatus, isFailure: (exitCode: number) => boolean): Problem | undefined {
  const { name, ready, image = '', state, lastState } = container;
  if (ready) return undefined;
  const { reason = '', message = '' } = state?.waiting ?? {};
  if (IMAGE_REASONS.has(reason)) {
    const words = message.replace(/^Back-off pulling image "[^"]*"(: (ErrImagePull: )?)?/, '');
    return about('ImagePullBackOff', name, [`image ${image} can't be pulled`, words].filter(Boolean).join(': '));
  }
  // The same whether it waits for its next try or has just begun it.
  const terminated = state?.terminated ?? lastState?.terminated;
  if (terminated !== undefined && isFailure(terminated.exitCode ?? 0)) {
    const why = terminated.reason === undefined ? '' : ` (${terminated.reason})`;
    return about('CrashLoopBackOff', name, `ended with exit code ${terminated.exitCode ?? 0}${why}`);
  }
  if (reason === '' || ORDINARY.has(reason)) return undefined;
  // Ids differ at each try.
  return about(reason, name, message.replaceAll(/\b[0-9a-f]{12,}\b/g, '…'));
}

function about(reason: string, container: string, what: string): Problem {
  return { reason, message: `${reason}: container ${container}${what === '' ? '' : `: ${what}`}` };
}
