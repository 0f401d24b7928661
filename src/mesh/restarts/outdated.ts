// Pods that must be replaced, by workload. Pods are looked at one after the other and not kept.
import type { KubeObject } from '../../kube/index.ts';
import type { Pod } from '../workloads.ts';
import { ownerOf, workloadKey } from './owners.ts';
import type { WorkloadRef } from './owners.ts';
import type { RestartPredicate } from './predicate.ts';

/** A workload with pods that must be replaced. */
export interface OutdatedWorkload {
  readonly workload: WorkloadRef;
  /** Why, of the first pod that was seen. */
  readonly why: string;
  readonly pods: number;
  /** When the oldest of these pods was made. */
  readonly oldest: number;
}

/** A pod that only a person can replace. */
export interface ManualRestart {
  readonly namespace: string;
  readonly name: string;
  readonly why: string;
  /** Why we can't. */
  readonly problem: string;
}

export interface Outdated {
  /** By workload key. */
  readonly workloads: ReadonlyMap<string, OutdatedWorkload>;
  readonly manual: readonly ManualRestart[];
}

/** The workloads whose pods a predicate says must be replaced. */
export function outdatedWorkloads(
  pods: Iterable<Pod>,
  predicate: RestartPredicate,
  replicaSet: (namespace: string, name: string) => KubeObject | undefined,
): Outdated {
  const workloads = new Map<string, OutdatedWorkload>();
  const manual: ManualRestart[] = [];
  for (const pod of pods) {
    const why = predicate(pod);
    if (why === undefined) continue;
    const { name, namespace = '' } = pod.metadata;
    const owner = ownerOf(pod, (set) => replicaSet(namespace, set));
    if ('manual' in owner) {
      manual.push({ namespace, name, why, problem: owner.manual });
      continue;
    }
    const key = workloadKey(owner.workload);
    const known = workloads.get(key);
    const made = Date.parse(pod.metadata.creationTimestamp ?? '') || 0;
    workloads.set(key, {
      workload: owner.workload,
      why: known?.why ?? why,
      pods: (known?.pods ?? 0) + 1,
      oldest: Math.min(known?.oldest ?? made, made),
    });
  }
  return { workloads, manual };
}
