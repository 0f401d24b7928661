// The mark that a restart leaves: when, and for which desired state. Writing it is what restarts a workload, except where
// pods are replaced by deleting them; there it says which pods count as old.
import type { Pod, Workload } from '../workloads.ts';
import { timestamp } from '../../kube/times.ts';
import { RESTARTED_AT, RESTARTED_FOR } from '../names.ts';

export interface RestartMark {
  /** The hash of the desired state. */
  readonly for: string;
  readonly at: number;
}

/** A Deployment, StatefulSet or DaemonSet replaces its pods when their template changes. */
function hasRollout({ kind }: Workload): boolean {
  return kind === 'Deployment' || kind === 'StatefulSet' || kind === 'DaemonSet';
}

/** ReplicaSets and ReplicationControllers keep pods as they are: they have to be deleted. */
export function needsDeletion({ kind }: Workload): boolean {
  return kind === 'ReplicaSet' || kind === 'ReplicationController';
}

/** For what and when a workload was last restarted. */
export function markOf(workload: Workload): RestartMark | undefined {
  const annotations = hasRollout(workload)
    ? workload.spec?.template?.metadata?.annotations
    : workload.metadata.annotations;
  const { [RESTARTED_FOR]: hash, [RESTARTED_AT]: at = '' } = annotations ?? {};
  return hash === undefined ? undefined : { for: hash, at: Date.parse(at) || 0 };
}

/** The workload with the mark. Nothing else is touched: autoscalers and GitOps write to it as well. */
export function marked(workload: Workload, hash: string, now: number): Workload {
  const mark = { [RESTARTED_AT]: timestamp(now), [RESTARTED_FOR]: hash };
  if (!hasRollout(workload)) {
    const annotations = { ...workload.metadata.annotations, ...mark };
    // Argo replaces the pods of a Rollout without a new revision, whose steps would take hours.
    const spec = workload.kind === 'Rollout' ? { ...workload.spec, restartAt: timestamp(now) } : workload.spec;
    return { ...workload, metadata: { ...workload.metadata, annotations }, ...(spec && { spec }) };
  }
  const { template = {} } = workload.spec ?? {};
  const annotations = { ...template.metadata?.annotations, ...mark };
  return {
    ...workload,
    spec: { ...workload.spec, template: { ...template, metadata: { ...template.metadata, annotations } } },
  };
}

/** Of the outdated pods of a workload, the one to delete next: the oldest that was there before the mark. */
export function podToDelete(mark: RestartMark, outdated: Iterable<Pod>): Pod | undefined {
  const made = ({ metadata }: Pod): number => Date.parse(metadata.creationTimestamp ?? '') || 0;
  return [...outdated]
    .filter((pod) => made(pod) < mark.at && pod.metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => made(a) - made(b) || (a.metadata.name < b.metadata.name ? -1 : 1))[0];
}
