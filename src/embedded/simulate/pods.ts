// Pods as the workload controllers see them: which count, which are ready, which go first, and how a new one looks.
import type { KubeObject, OwnerReference } from '../../kube/objects.ts';
import type { Selector } from '../../kube/selector.ts';
import { matches } from '../../kube/selector.ts';
import type { Collection, Pod, PodTemplate } from '../kinds/types.ts';
import { byAge, conditionOf, defined } from './values.ts';
import { controllerOf } from './world.ts';
import type { World } from './world.ts';
import { createOf, deleteOf, updateOf } from './writes.ts';
import type { NewObject, Write } from './writes.ts';

/** How many pods one round of a controller may create or delete, as with the real ones. */
export const burst = 500;

/** Neither ended nor on its way out. */
export function isActive(pod: Pod): boolean {
  const phase = pod.status?.phase;
  return phase !== 'Succeeded' && phase !== 'Failed' && pod.metadata.deletionTimestamp === undefined;
}

/** On its way out, and not ended yet. */
export function isTerminating(pod: Pod): boolean {
  const phase = pod.status?.phase;
  return phase !== 'Succeeded' && phase !== 'Failed' && pod.metadata.deletionTimestamp !== undefined;
}

export function isReady(pod: Pod): boolean {
  return conditionOf(pod.status?.conditions, 'Ready')?.status === 'True';
}

/** Milliseconds until a ready pod counts as available: 0 when it does, undefined when it is not even ready. */
function availableInMs(pod: Pod, minReadySeconds: number, now: number): number | undefined {
  const ready = conditionOf(pod.status?.conditions, 'Ready');
  if (ready?.status !== 'True') return undefined;
  if (minReadySeconds === 0) return 0;
  return Math.max(0, Date.parse(ready.lastTransitionTime ?? '') + minReadySeconds * 1000 - now);
}

export function isAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  return availableInMs(pod, minReadySeconds, now) === 0;
}

/** When the next of these pods becomes available, if time alone is missing. */
export function nextAvailableInMs(pods: readonly Pod[], minReadySeconds: number, now: number): number | undefined {
  const waits = pods.map((pod) => availableInMs(pod, minReadySeconds, now) ?? 0).filter((wait) => wait > 0);
  return waits.length === 0 ? undefined : Math.min(...waits);
}

/** The reference by which an object says who manages it. */
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

/** A pod made from a template. Without a name it gets one that starts with the owner's. */
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

/** Those of a kind that belong to their owner, and the writes that make it so: strays are taken in or let go. */
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

/** Creates a pod and says so on its owner. */
export function birthOf(pod: NewObject, owner: KubeObject): Write {
  return createOf(pod, {
    about: owner,
    type: 'Normal',
    reason: 'SuccessfulCreate',
    message: (name) => `Created pod: ${name}`,
  });
}

/** Deletes a pod and says so on its owner. */
export function deathOf(pod: Pod, owner: KubeObject): Write {
  const note = {
    about: owner,
    type: 'Normal',
    reason: 'SuccessfulDelete',
    message: (name: string) => `Deleted pod: ${name}`,
  } as const;
  return deleteOf(pod, {}, note);
}

/** The order in which surplus pods go: what is missed least comes first. */
export function byDispensability(pods: readonly Pod[]): Pod[] {
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
