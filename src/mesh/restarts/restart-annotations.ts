// The annotations of a restart: its time, and the hash of the desired state. Writing them restarts a workload, except
// for kinds whose pods must be deleted; there they determine which pods count as old.
import type { Pod, Workload } from '../workloads/workloads.ts';
import { withAnnotations } from '../../kube/annotations.ts';
import { timestamp } from '../../kube/times.ts';
import { RESTARTED_AT, RESTARTED_FOR } from '../names.ts';

export interface LastRestart {
  /** The hash of the desired state. */
  readonly for: string;
  readonly at: number;
}

/** A Deployment, StatefulSet or DaemonSet replaces its pods when their template changes. */
function hasRollout({ kind }: Workload): boolean {
  return kind === 'Deployment' || kind === 'StatefulSet' || kind === 'DaemonSet';
}

/** ReplicaSets and ReplicationControllers do not replace running pods: these must be deleted. */
export function needsDeletion({ kind }: Workload): boolean {
  return kind === 'ReplicaSet' || kind === 'ReplicationController';
}

/** The last restart of a workload. */
export function lastRestart(workload: Workload): LastRestart | undefined {
  const annotations = hasRollout(workload)
    ? workload.spec?.template?.metadata?.annotations
    : workload.metadata.annotations;
  const { [RESTARTED_FOR]: hash, [RESTARTED_AT]: at = '' } = annotations ?? {};
  return hash === undefined ? undefined : { for: hash, at: Date.parse(at) || 0 };
}

/** The workload with the annotations of a restart. Nothing else changes, as autoscalers and GitOps write to it too. */
export function withRestart(workload: Workload, hash: string, now: number): Workload {
  const added = { [RESTARTED_AT]: timestamp(now), [RESTARTED_FOR]: hash };
  if (!hasRollout(workload)) {
    // Argo replaces the pods of a Rollout without a new revision, whose steps would take hours.
    const spec = workload.kind === 'Rollout' ? { ...workload.spec, restartAt: timestamp(now) } : workload.spec;
    return { ...withAnnotations(workload, added), ...(spec && { spec }) };
  }
  const { template = {} } = workload.spec ?? {};
  return { ...workload, spec: { ...workload.spec, template: withAnnotations(template, added) } };
}

/** The outdated pod of a workload to delete next: the oldest that was created before the restart. */
export function podToDelete(restart: LastRestart, outdated: Iterable<Pod>): Pod | undefined {
  const made = ({ metadata }: Pod): number => Date.parse(metadata.creationTimestamp ?? '') || 0;
  return [...outdated]
    .filter((pod) => made(pod) < restart.at && pod.metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => made(a) - made(b) || (a.metadata.name < b.metadata.name ? -1 : 1))[0];
}
