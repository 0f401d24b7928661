// Pods for the workload controllers: which are active, ready or available, which to delete first, how to build one.
import type { KubeObject, OwnerReference } from '../../../kube/objects.ts';
import type { Selector } from '../../../kube/selector.ts';
import { matches } from '../../../kube/selector.ts';
import type { Collection, Pod, PodTemplate } from '../../kinds/types.ts';
import { byAge, conditionOf, defined } from '../values.ts';
import { controllerOf } from '../world.ts';
import type { World } from '../world.ts';
import { createOf, deleteOf, updateOf } from '../writes.ts';
import type { NewObject, Write } from '../writes.ts';

/** How many pods a controller may create or delete at a time, as in Kubernetes. */
export const burst = 500;

/** Neither terminated nor being deleted. */
export function isActive(pod: Pod): boolean {
  const phase = pod.status?.phase;
  return phase !== 'Succeeded' && phase !== 'Failed' && pod.metadata.deletionTimestamp === undefined;
}

/** Being deleted, and not terminated yet. */
export function isTerminating(pod: Pod): boolean {
  const phase = pod.status?.phase;
  return phase !== 'Succeeded' && phase !== 'Failed' && pod.metadata.deletionTimestamp !== undefined;
}

export function isReady(pod: Pod): boolean {
  return conditionOf(pod.status?.conditions, 'Ready')?.status === 'True';
}

/** Milliseconds until a ready pod is available: 0 when it is, undefined when it is not ready. */
function availableInMs(pod: Pod, minReadySeconds: number, now: number): number | undefined {
  const ready = conditionOf(pod.status?.conditions, 'Ready');
  if (ready?.status !== 'True') return undefined;
  if (minReadySeconds === 0) return 0;
  return Math.max(0, Date.parse(ready.lastTransitionTime ?? '') + minReadySeconds * 1000 - now);
}

export function isAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  return availableInMs(pod, minReadySeconds, now) === 0;
}

/** The time until the next ready pod becomes available; undefined when there is none. */
export function nextAvailableInMs(pods: readonly Pod[], minReadySeconds: number, now: number): number | undefined {
  const waits = pods.map((pod) => availableInMs(pod, minReadySeconds, now) ?? 0).filter((wait) => wait > 0);
  return waits.length === 0 ? undefined : Math.min(...waits);
}

/** The owner reference of a controller. */
export function managedBy(owner: KubeObject): OwnerReference {
  return {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid!,
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** Builds a pod from a template. Without a name, one is generated from the owner's. */
export function podFrom(template: PodTemplate, owner: KubeObject, name?: string): NewObject {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...(name === undefined ? { generateName: `${owner.metadata.name}-` } : { name }),
      ...defined({ namespace: owner.metadata.namespace, labels, annotations, finalizers }),
      ownerReferences: [managedBy(owner)],
    },
    spec: template.spec,
  };
}

/** The objects that an owner controls, and the writes that adopt matching orphans and release what does not match. */
export function claim<T extends KubeObject>(
  world: World,
  owner: KubeObject,
  collection: Collection<T>,
  selector: Selector | undefined,
  mayAdopt: (object: T) => boolean = () => true,
): { readonly owned: readonly T[]; readonly writes: readonly Write[] } {
  const { uid, namespace = '', deletionTimestamp } = owner.metadata;
  const owned: T[] = [];
  const writes: Write[] = [];
  for (const object of world.controlled(collection, uid)) {
    if (selector !== undefined && matches(selector, object.metadata.labels)) owned.push(object);
    else if (deletionTimestamp === undefined && object.metadata.deletionTimestamp === undefined) {
      writes.push(updateOf(withOwners(object, (owners) => owners.filter((one) => one.uid !== uid))));
    }
  }
  if (deletionTimestamp !== undefined || selector === undefined || selector.length === 0) return { owned, writes };
  for (const object of world.selected(collection, namespace, selector)) {
    if (controllerOf(object) !== undefined || object.metadata.deletionTimestamp !== undefined || !mayAdopt(object))
      continue;
    writes.push(updateOf(withOwners(object, (owners) => [...owners, managedBy(owner)])));
  }
  return { owned, writes };
}

function withOwners<T extends KubeObject>(
  object: T,
  change: (owners: readonly OwnerReference[]) => readonly OwnerReference[],
): T {
  return {
    ...object,
    metadata: { ...object.metadata, ownerReferences: change(object.metadata.ownerReferences ?? []) },
  };
}

/** Creates a pod and records an Event on its owner. */
export function createPod(pod: NewObject, owner: KubeObject): Write {
  return createOf(pod, {
    about: owner,
    type: 'Normal',
    reason: 'SuccessfulCreate',
    message: (name) => `Created pod: ${name}`,
  });
}

/** Deletes a pod and records an Event on its owner. */
export function deletePod(pod: Pod, owner: KubeObject): Write {
  const event = {
    about: owner,
    type: 'Normal',
    reason: 'SuccessfulDelete',
    message: (name: string) => `Deleted pod: ${name}`,
  } as const;
  return deleteOf(pod, {}, event);
}

/** Sorts pods in the order in which surplus pods are deleted, as in Kubernetes. */
export function inDeletionOrder(pods: readonly Pod[]): Pod[] {
  const onNode = new Map<string, number>();
  for (const pod of pods) {
    const node = pod.spec.nodeName ?? '';
    onNode.set(node, (onNode.get(node) ?? 0) + 1);
  }
  const rank = (pod: Pod): readonly number[] => [
    pod.spec.nodeName === undefined || pod.spec.nodeName === '' ? 0 : 1,
    ['Pending', 'Unknown', 'Running'].indexOf(pod.status?.phase ?? 'Pending'),
    isReady(pod) ? 1 : 0,
    Number(pod.metadata.annotations?.['controller.kubernetes.io/pod-deletion-cost'] ?? 0),
    -(onNode.get(pod.spec.nodeName ?? '') ?? 0),
    -Date.parse(conditionOf(pod.status?.conditions, 'Ready')?.lastTransitionTime ?? '') || 0,
    -(pod.status?.containerStatuses ?? []).reduce((most, one) => Math.max(most, one.restartCount), 0),
  ];
  const ranked = pods.map((pod) => ({ pod, rank: rank(pod) }));
  ranked.sort((left, right) => {
    const index = left.rank.findIndex((value, position) => value !== right.rank[position]);
    return index < 0 ? -byAge(left.pod, right.pod) : left.rank[index]! - right.rank[index]!;
  });
  return ranked.map(({ pod }) => pod);
}
