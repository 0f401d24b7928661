// How far the rollout of a workload is: what an installation and restarts wait for.
import type { Workload } from './workloads.ts';

/** Done, on its way, or stuck: it will not go on by itself. */
export type Rollout =
  | { readonly state: 'done' }
  | {
      readonly state: 'progressing';
      readonly why: string;
      /** All of its pods are new, and some do not answer: it was healthy once, and may never be again. */
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
  // Argo Rollouts write it as a text, and older ones a hash: only a number can be behind.
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

/** What a Deployment says of its progress since all new pods were available. */
const COMPLETE = 'NewReplicaSetAvailable';

function deployment({ spec, status = {} }: Workload): Rollout {
  const wanted = spec?.replicas ?? 1;
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0, conditions = [] } = status;
  if (updatedReplicas < wanted) return progressing(`${updatedReplicas} of ${wanted} pods are new`);
  if (replicas > updatedReplicas) return progressing(`${replicas - updatedReplicas} old pods are still there`);
  if (availableReplicas < wanted) {
    const { reason = COMPLETE } = conditions.find(({ type }) => type === 'Progressing') ?? {};
    const why = `${availableReplicas} of ${wanted} pods are available`;
    return reason === COMPLETE ? degraded(why) : progressing(why);
  }
  return DONE;
}

function statefulSet({ spec, status = {} }: Workload): Rollout {
  const wanted = spec?.replicas ?? 1;
  const { readyReplicas = 0, updatedReplicas = 0 } = status;
  // Who deletes pods by hand decides when they are new.
  const byHand = spec?.updateStrategy?.type === 'OnDelete';
  const expected = byHand ? 0 : wanted - Math.min(spec?.updateStrategy?.rollingUpdate?.partition ?? 0, wanted);
  if (updatedReplicas < expected) return progressing(`${updatedReplicas} of ${expected} pods are new`);
  if (readyReplicas < wanted) return degraded(`${readyReplicas} of ${wanted} pods are ready`);
  return DONE;
}

function daemonSet({ spec, status = {} }: Workload): Rollout {
  const { desiredNumberScheduled: wanted = 0, updatedNumberScheduled: updated = 0, numberAvailable = 0 } = status;
  if (spec?.updateStrategy?.type !== 'OnDelete' && updated < wanted) {
    return progressing(`${updated} of ${wanted} pods are new`);
  }
  if (numberAvailable < wanted) return degraded(`${numberAvailable} of ${wanted} pods are available`);
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
  const wanted = spec?.replicas ?? 1;
  const { readyReplicas = 0 } = status;
  return readyReplicas < wanted ? degraded(`${readyReplicas} of ${wanted} pods are ready`) : DONE;
}
