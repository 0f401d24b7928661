// Volumes that can't be mounted, because of a missing Secret, say: kubelets report them only in Events, while the pod
// only says that its containers are being created.
import { defineKind, keyOf } from '../../kube/objects.ts';
import type { KubeObject } from '../../kube/objects.ts';
import type { Pod } from '../objects.ts';
import type { Problem } from './pods.ts';

const REASON = 'FailedMount';
/** Selects only these Events: there are many others. */
export const MOUNT_FAILURES = `reason=${REASON}`;

/** An Event about a pod, as kubelets write it. */
export interface PodEvent extends KubeObject {
  readonly involvedObject?: { readonly kind?: string; readonly name?: string; readonly namespace?: string };
  readonly reason?: string;
  readonly message?: string;
}
export const PodEvent = defineKind<PodEvent>('v1', 'Event', 'events');

/** An Event with only the fields that are used here. */
export function slimEvent({ apiVersion, kind, metadata, involvedObject, reason, message }: PodEvent): PodEvent {
  const { managedFields: _nobodys, ...kept } = metadata;
  return {
    apiVersion,
    kind,
    metadata: kept,
    ...(involvedObject && { involvedObject }),
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
  };
}

/** The pod that an Event is about. */
export function podOf({ metadata, involvedObject }: PodEvent): readonly string[] {
  const { kind, name, namespace = metadata.namespace ?? '' } = involvedObject ?? {};
  return kind === 'Pod' && name !== undefined ? [keyOf({ name, namespace })] : [];
}

/** Whether a pod is scheduled, and its containers are still being created. */
export function isBeingCreated({ metadata, status }: Pod): boolean {
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const isCreated = containers.some(({ state }) => state?.running ?? state?.terminated);
  return metadata.deletionTimestamp === undefined && containers.length > 0 && !isCreated;
}

/** Why the volumes of a pod can't be mounted. */
export function mountProblem(failures: readonly PodEvent[]): Problem | undefined {
  const problems = failures.flatMap(({ message = '' }) => {
    const [, volume, why] = /^MountVolume\.\w+ failed for volume "([^"]*)" ?: (.*)$/s.exec(message) ?? [];
    return why === undefined ? [] : [`volume ${volume}: ${why}`];
  });
  // Which of several volumes fails first varies: take the first in order.
  const [first] = problems.sort();
  if (first !== undefined) return { reason: REASON, message: `${REASON}: ${first}` };
  return failures.length === 0 ? undefined : { reason: REASON, message: `${REASON}: its volumes can't be mounted` };
}
