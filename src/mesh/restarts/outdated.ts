// Pods that must be replaced, and the workloads that they belong to. Pods are looked at one after the other and not kept.
import type { KubeObject } from '../../kube/index.ts';
import type { Pod } from '../workloads.ts';
import { ownerOf, workloadKey } from './owners.ts';
import type { WorkloadRef } from './owners.ts';
import type { RestartPredicate } from './predicate.ts';

/** A pod that must be replaced. */
export interface OutdatedPod {
  readonly namespace: string;
  readonly name: string;
  readonly why: string;
  readonly made: number;
  /** Who replaces it; else why only a person can. */
  readonly workload?: WorkloadRef;
  readonly problem?: string;
  /** A setting has changed since some earlier pod was made; that of a newer one looks no different. */
  readonly bySetting?: boolean;
  /** It is not ready: its workload is reported, and not restarted for this pod alone. */
  readonly isUnhealthy?: boolean;
}

/** A workload with pods that must be replaced. */
export interface OutdatedWorkload {
  readonly workload: WorkloadRef;
  /** Why, of the first pod that was seen. */
  readonly why: string;
  readonly pods: number;
  /** When the oldest of these pods was made. */
  readonly oldest: number;
  /** When the newest was. */
  readonly newest: number;
  /** Nothing but a changed setting is the reason: after a restart nothing is left of it. */
  readonly bySetting: boolean;
  /** None of these pods is ready. */
  readonly isUnhealthy: boolean;
}

/** A pod that only a person can replace. */
export interface ManualRestart {
  readonly namespace: string;
  readonly name: string;
  readonly why: string;
  /** Why we can't. */
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

/** What is wrong with a pod, and who replaces it; nothing for a pod that is as it should be. */
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
      // A pod that nobody replaces and that does not work is on its way to something else.
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
