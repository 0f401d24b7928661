// The state of the rollout of a workload, for which installations and restarts wait.
import type { Workload } from './workloads.ts';

/** Done, progressing, or stuck, which needs a person. */
export type Rollout =
  | { readonly state: 'done' }
  | {
      readonly state: 'progressing';
      readonly why: string;
      /** All pods are new but some are not ready: it was healthy before, and may never be again. */
      readonly degraded?: boolean;
    }
  | { readonly state: 'stuck'; readonly why: string };

const DONE: Rollout = { state: 'done' };
const progressing = (why: string): Rollout => ({ state: 'progressing', why });
const degraded = (why: string): Rollout => ({ state: 'progressing', why, degraded: true });

/** The rollout of a Deployment, StatefulSet, DaemonSet, ReplicaSet, ReplicationController or Argo Rollout. */
export function rolloutOf(workload: Workload): Rollout {
  const { generation = 0 } = workload.metadata;
  const { observedGeneration = 0, conditions = [] } = workload.status ?? {};
  // Argo Rollouts write it as a string, and older ones as a hash: only a number can be compared.
  if (Number(observedGeneration) < generation) return progressing('its controller has not observed the change yet');
  const failed = conditions.find(({ type, status, reason }) => {
    return (type === 'Progressing' && status === 'False') || reason === 'ProgressDeadlineExceeded';
  });
  if (failed !== undefined) return { state: 'stuck', why: failed.message ?? failed.reason ?? 'its rollout has failed' };
  switch (workload.kind) {
    case 'DaemonSet':
      return daemonSet(workload);
    case 'StatefulSet':
      return statefulSet(workload);
    case 'Rollout':
      return argoRollout(workload);
    case 'Deployment':
      return deployment(workload);
    default:
      return replicaSet(workload);
  }
}

/** The reason of `Progressing` of a Deployment whose new pods were all available once. */
const COMPLETE = 'NewReplicaSetAvailable';

function deployment({ spec, status = {} }: Workload): Rollout {
  const desired = spec?.replicas ?? 1;
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0, conditions = [] } = status;
  if (updatedReplicas < desired) return progressing(`${updatedReplicas} of ${desired} pods are new`);
  if (replicas > updatedReplicas) return progressing(`${replicas - updatedReplicas} old pods are still there`);
  if (availableReplicas < desired) {
    const { reason = COMPLETE } = conditions.find(({ type }) => type === 'Progressing') ?? {};
    const why = `${availableReplicas} of ${desired} pods are available`;
    return reason === COMPLETE ? degraded(why) : progressing(why);
  }
  return DONE;
}

function statefulSet({ spec, status = {} }: Workload): Rollout {
  const desired = spec?.replicas ?? 1;
  const { readyReplicas = 0, updatedReplicas = 0 } = status;
  // With OnDelete, pods become new only when somebody deletes them.
  const byHand = spec?.updateStrategy?.type === 'OnDelete';
  const expected = byHand ? 0 : desired - Math.min(spec?.updateStrategy?.rollingUpdate?.partition ?? 0, desired);
  if (updatedReplicas < expected) return progressing(`${updatedReplicas} of ${expected} pods are new`);
  if (readyReplicas < desired) return degraded(`${readyReplicas} of ${desired} pods are ready`);
  return DONE;
}

function daemonSet({ spec, status = {} }: Workload): Rollout {
  const { desiredNumberScheduled: desired = 0, updatedNumberScheduled: updated = 0, numberAvailable = 0 } = status;
  if (spec?.updateStrategy?.type !== 'OnDelete' && updated < desired) {
    return progressing(`${updated} of ${desired} pods are new`);
  }
  if (numberAvailable < desired) return degraded(`${numberAvailable} of ${desired} pods are available`);
  return DONE;
}

function argoRollout({ spec, status = {} }: Workload): Rollout {
  if (status.phase === 'Degraded') return { state: 'stuck', why: 'it is degraded' };
  if (status.phase === 'Paused') return { state: 'stuck', why: 'it is paused: promote or abort it' };
  const { restartAt } = spec ?? {};
  if (restartAt !== undefined && !(Date.parse(status.restartedAt ?? '') >= Date.parse(restartAt))) {
    return progressing(`pods from before ${restartAt} are still there`);
  }
  return deployment({ spec, status } as Workload);
}

function replicaSet({ spec, status = {} }: Workload): Rollout {
  const desired = spec?.replicas ?? 1;
  const { readyReplicas = 0 } = status;
  return readyReplicas < desired ? degraded(`${readyReplicas} of ${desired} pods are ready`) : DONE;
}
