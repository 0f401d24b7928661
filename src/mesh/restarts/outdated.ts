// Outdated pods and their workloads. Pods are processed one by one and not kept.
import type { KubeObject } from '../../kube/index.ts';
import type { Pod } from '../workloads/workloads.ts';
import { ownerOf, workloadKey } from './owners.ts';
import type { WorkloadRef } from './owners.ts';
import type { RestartPredicate } from './predicate.ts';

/** A pod that must be replaced. */
export interface OutdatedPod {
  readonly namespace: string;
  readonly name: string;
  readonly why: string;
  readonly made: number;
  /** The workload that replaces it, or why only a person can. */
  readonly workload?: WorkloadRef;
  readonly problem?: string;
  /** The reason is a changed setting, which cannot be seen in the pod: pods from after the change look the same. */
  readonly bySetting?: boolean;
  /** The pod is not ready: its workload is reported, but not restarted because of this pod alone. */
  readonly isUnhealthy?: boolean;
}

/** A workload with pods that must be replaced. */
export interface OutdatedWorkload {
  readonly workload: WorkloadRef;
  /** The reason of the first pod. */
  readonly why: string;
  readonly pods: number;
  /** When the oldest of these pods was created. */
  readonly oldest: number;
  /** When the newest was created. */
  readonly newest: number;
  /** The only reason is a changed setting, so it is up to date after a restart. */
  readonly bySetting: boolean;
  /** None of these pods is ready. */
  readonly isUnhealthy: boolean;
}

/** A pod that only a person can replace. */
export interface ManualRestart {
  readonly namespace: string;
  readonly name: string;
  readonly why: string;
  /** Why the controllers can't. */
  readonly problem: string;
}

/** A pod that should have a sidecar and has none. */
export type UninjectedPod = Pick<ManualRestart, 'namespace' | 'name' | 'why'>;

export interface Outdated {
  /** By workload key. */
  readonly workloads: ReadonlyMap<string, OutdatedWorkload>;
  readonly manual: readonly ManualRestart[];
}

/** Finds a ReplicaSet. */
export type FindReplicaSet = (namespace: string, name: string) => KubeObject | undefined;

/** Why a pod is outdated, and which workload replaces it; undefined if it is up to date. */
export function outdatedPod(
  pod: Pod,
  predicate: RestartPredicate,
  replicaSet: FindReplicaSet,
): OutdatedPod | undefined {
  const why = predicate(pod);
  if (why === undefined) return undefined;
  const { name, namespace = '', creationTimestamp = '' } = pod.metadata;
  const owner = ownerOf(pod, (set) => replicaSet(namespace, set));
  return {
    namespace,
    name,
    why,
    made: Date.parse(creationTimestamp) || 0,
    ...('manual' in owner ? { problem: owner.manual } : { workload: owner.workload }),
  };
}

/** The workloads of these pods. */
export function byWorkload(pods: Iterable<OutdatedPod>): Outdated {
  const workloads = new Map<string, OutdatedWorkload>();
  const manual: ManualRestart[] = [];
  for (const pod of pods) {
    const { namespace, name, why, made, workload, problem = '', bySetting = false, isUnhealthy = false } = pod;
    if (workload === undefined) {
      // An unhealthy pod without a workload is probably about to end, so it is not reported.
      if (!isUnhealthy) manual.push({ namespace, name, why, problem });
      continue;
    }
    const key = workloadKey(workload);
    const known = workloads.get(key);
    workloads.set(key, {
      workload,
      why: known?.why ?? why,
      pods: (known?.pods ?? 0) + 1,
      oldest: Math.min(known?.oldest ?? made, made),
      newest: Math.max(known?.newest ?? made, made),
      bySetting: (known?.bySetting ?? true) && bySetting,
      isUnhealthy: (known?.isUnhealthy ?? true) && isUnhealthy,
    });
  }
  return { workloads, manual };
}

/** The workloads whose pods a predicate says must be replaced. */
export function outdatedWorkloads(
  pods: Iterable<Pod>,
  predicate: RestartPredicate,
  replicaSet: FindReplicaSet,
): Outdated {
  const found: OutdatedPod[] = [];
  for (const pod of pods) {
    const outdated = outdatedPod(pod, predicate, replicaSet);
    if (outdated !== undefined) found.push(outdated);
  }
  return byWorkload(found);
}
