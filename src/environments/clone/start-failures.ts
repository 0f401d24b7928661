// Why containers are not created, because of a missing Secret or a volume that another node uses, say: it is reported
// only in Events, while the pod only says that its containers are being created.
import { defineKind, keyOf } from '../../kube/objects.ts';
import type { KubeObject } from '../../kube/objects.ts';
import type { Pod } from '../objects.ts';
import type { Problem } from './pods.ts';

/** The reasons of these Events, the most common first. There are many other Events. */
export const START_FAILURES = ['FailedMount', 'FailedAttachVolume', 'FailedCreatePodSandBox'] as const;

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

/** Why the containers of a pod are not created. */
export function startProblem(failures: readonly PodEvent[]): Problem | undefined {
  for (const reason of START_FAILURES) {
    const failed = failures.filter((each) => each.reason === reason);
    // Which of several volumes fails first varies: take the first in order.
    const [first] = failed.flatMap(({ message = '' }) => essenceOf(reason, message) ?? []).sort();
    if (first !== undefined) return { reason, message: `${reason}: ${first}` };
    if (failed.length > 0) return { reason, message: `${reason}: its volumes can't be mounted` };
  }
  return undefined;
}

/** Ids of sandboxes and requests, which differ at each try; names such as `pvc-…` contain some that do not. */
const ID = /\b[0-9a-f]{32,}\b|(?<![\w-])(?:[0-9a-f]{12,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![\w-])/g;

/** The part of a message that stays the same at every try. */
function essenceOf(reason: (typeof START_FAILURES)[number], message: string): string | undefined {
  const [, volume, why] =
    /^(?:MountVolume|AttachVolume)\.\w+ failed for volume "([^"]*)" ?: (.*)$/s.exec(message) ?? [];
  if (why !== undefined) return `volume ${volume}: ${why.replaceAll(ID, '…')}`;
  // Other messages about mounting list volumes in any order.
  return reason === 'FailedMount' ? undefined : message.replaceAll(ID, '…');
}
