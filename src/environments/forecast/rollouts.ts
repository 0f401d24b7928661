// A forecast assumes that the pods of clones become ready, unless they already have a problem. This controller of the
// forecast stands for those of Kubernetes.
import { CLUSTER, defineController } from '../../controller/index.ts';
import type { ControllerDefinition, Plan, View, Write } from '../../controller/index.ts';
import { editStatus, remove } from '../../kube/index.ts';
import type { Step } from '../../kube/index.ts';
import { timestamp } from '../../kube/times.ts';
import { availableSince, cloneProblem, cloneState } from '../clone/clone-state.ts';
import { findStartFailures, findPods } from '../lookup/lookup.ts';
import { Deployment, Pod } from '../objects.ts';
import { environmentsOf } from '../identity/ownership.ts';

/** Rolls out every clone as soon as it is written. */
export function assumedRollouts(): ControllerDefinition {
  return defineController<Deployment>({ name: CLUSTER, kind: Deployment, ownsStatus: false, plan: rollOut });
}

/** Whether a step is an assumed rollout. */
export function isRolloutStep(step: Step): boolean {
  return (
    step.kind.kind === Pod.kind || (step.do === 'edit' && step.kind.kind === Deployment.kind && !!step.subresource)
  );
}

/** Whether a write is an assumed rollout. */
export function isRollout({ by, kind, after }: Write): boolean {
  return by === CLUSTER && (kind.kind === Pod.kind || (kind.kind === Deployment.kind && after !== undefined));
}

function rollOut(view: View, clone: Deployment): Plan {
  const { metadata, spec, status } = clone;
  if (metadata.deletionTimestamp !== undefined || environmentsOf(clone).length === 0) return {};
  const isObserved = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  const pods = findPods(view, clone);
  const isRolledOut = isObserved && !['initializing', 'unknown'].includes(cloneState(clone, false));
  if (isRolledOut || cloneProblem(clone, pods, findStartFailures(view, pods)) !== undefined) return {};
  const now = timestamp(view.now());
  const since = availableSince(clone);
  const available = { type: 'Available', status: 'True', lastTransitionTime: since > 0 ? timestamp(since) : now };
  const progressing = { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable', lastUpdateTime: now };
  const running: Deployment['status'] = {
    observedGeneration: metadata.generation ?? 0,
    readyReplicas: spec.replicas ?? 1,
    conditions: [available, progressing],
  };
  return {
    // Replaced pods say nothing about the new ones.
    steps: [...pods.map((pod) => remove(Pod, pod)), editStatus(Deployment, clone, running)],
  };
}
