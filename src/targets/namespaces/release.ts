// The namespace provisioner, last part: deletes or keeps the namespace of a deleted target, as the class says.
import { DeploymentTarget } from '../../api/targets.ts';
import { defineController } from '../../controller/index.ts';
import type { ControllerDefinition, Plan, View } from '../../controller/index.ts';
import { edit, editStatus, remove, withAnnotations } from '../../kube/index.ts';
import type { Step } from '../../kube/index.ts';
import { CLAIM_UID, CLASS_NAME, OF_CLAIM, OF_TARGET, PROBLEM, RECLAIM_POLICY } from '../names.ts';
import { Namespace, Secret } from '../objects.ts';
import { condition, withPlanned } from '../status.ts';
import { policyFor, wasUsed } from '../world.ts';
import { MADE_BY, MADE_BY_LABEL, NAMESPACE_FINALIZER, secretNameFor, TARGET_MADE } from './names.ts';
import { namespaceOf } from './world.ts';

/** How long the deletion of a namespace may take before its target becomes Failed. */
const STUCK_MS = 120_000;

/** All annotations that we write on a namespace. */
const MARKS = [OF_TARGET, OF_CLAIM, CLAIM_UID, CLASS_NAME, RECLAIM_POLICY, TARGET_MADE, PROBLEM];

export function namespaceRelease(): ControllerDefinition {
  return defineController<DeploymentTarget>({
    name: 'namespace-release',
    kind: DeploymentTarget,
    ownsStatus: false,
    plan: planRelease,
  });
}

/** Plans the deletion of one target. */
export function planRelease(view: View, target: DeploymentTarget): Plan {
  const { deletionTimestamp, finalizers = [] } = target.metadata;
  if (deletionTimestamp === undefined || !finalizers.includes(NAMESPACE_FINALIZER)) return {};
  const namespace = namespaceOf(view, target);
  const { name: place } = namespace?.metadata ?? { name: target.spec.kubernetesCredentials.defaultNamespace };
  const withoutSecret = secretSteps(view, target, place);
  if (namespace === undefined) return { steps: [...withoutSecret, removeFinalizer(target)] };
  if (isKept(view, target)) return { steps: [...withoutSecret, disown(namespace), removeFinalizer(target)] };

  const steps: Step[] = [...withoutSecret, remove(Namespace, namespace)];
  const since = Date.parse(namespace.metadata.deletionTimestamp ?? '') || view.now();
  const leftMs = since + STUCK_MS - view.now();
  const { name } = namespace.metadata;
  if (leftMs >= 0) {
    const message = `waiting for namespace ${name} to be deleted`;
    return { steps: [...steps, statusStep(view, target, 'Terminating', message)], requeueAfterMs: leftMs + 1 };
  }
  const message = `deleting namespace ${name} has taken over 2 minutes`;
  const isNew = target.status?.phase !== 'Failed';
  return {
    steps: [...steps, statusStep(view, target, 'Failed', message)],
    ...(isNew && { events: [{ type: 'Warning', reason: 'Failed', note: message }] }),
  };
}

/** Writes the progress of the deletion into the status of the target: the reclaimer has finished with it. */
function statusStep(view: View, target: DeploymentTarget, reason: 'Terminating' | 'Failed', message: string): Step {
  const { status } = target;
  const conditions = withPlanned(status?.conditions, condition('Ready', false, reason, message), view.now());
  const phase = reason === 'Failed' ? { phase: reason } : {};
  return editStatus(DeploymentTarget, target, { ...status, ...phase, conditions });
}

/** Deletes the credentials with the target, whatever happened to the namespace. */
function secretSteps(view: View, { metadata }: DeploymentTarget, place: string): Step[] {
  const secret = view.get(Secret, {
    name: secretNameFor(metadata.name, place),
    namespace: metadata.namespace!,
  });
  return secret?.metadata.labels?.[MADE_BY_LABEL] === MADE_BY ? [remove(Secret, secret)] : [];
}

/** Whether the namespace is kept. One that no claim ever had is not. */
function isKept(view: View, target: DeploymentTarget): boolean {
  return wasUsed(target) && policyFor(view, target) === 'Retain';
}

/** Removes our marks from a namespace that is kept. */
function disown(namespace: Namespace): Step {
  const { [MADE_BY_LABEL]: _by, ...labels } = namespace.metadata.labels ?? {};
  const unmarked = withAnnotations(namespace, Object.fromEntries(MARKS.map((mark) => [mark, undefined])));
  return edit(Namespace, namespace, { ...unmarked, metadata: { ...unmarked.metadata, labels } });
}

function removeFinalizer(target: DeploymentTarget): Step {
  const finalizers = target.metadata.finalizers!.filter((name) => name !== NAMESPACE_FINALIZER);
  return edit(DeploymentTarget, target, { ...target, metadata: { ...target.metadata, finalizers } });
}
