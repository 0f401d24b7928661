// StatefulSets: pods with stable names, created and replaced one after the other (or in parallel, if configured).
import { sameJson } from '../../patch/json.ts';
import { pods as podCollection, statefulSets } from '../../kinds/types.ts';
import type { Collection, Pod, PodTemplate, StatefulSet } from '../../kinds/types.ts';
import type { Controller } from '../loop.ts';
import { burst, claim, isActive, isAvailable, isReady, nextAvailableInMs, podFrom } from '../pods/pods.ts';
import { truncateHistory, withRevisionLabel, labelOf, revisionLabel, revisionsOf, templateOf } from './revisions.ts';
import type { Revisions } from './revisions.ts';
import { ownersOrSelectors, ownersOfKind, safeSelector, self, withoutZeros } from '../values.ts';
import type { World } from '../world.ts';
import { controllerManager, createOf, deleteOf, nothing, statusOf } from '../writes.ts';
import type { NewObject, Plan, Write } from '../writes.ts';

const claims: Collection = 'persistentvolumeclaims';

function ordinalOf(set: StatefulSet, pod: Pod): number {
  const match = /^(.*)-(\d+)$/.exec(pod.metadata.name);
  return match?.[1] === set.metadata.name ? Number(match[2]) : -1;
}

function hasEnded(pod: Pod): boolean {
  return pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded';
}

export function planStatefulSet(world: World, set: StatefulSet): Plan {
  const now = world.now();
  const { owned, writes: claimed } = claim(
    world,
    set,
    podCollection,
    safeSelector(set.spec.selector),
    (pod) => ordinalOf(set, pod) >= 0,
  );
  if (claimed.length > 0) return { writes: claimed };
  const revisions = revisionsOf(world, set);
  if (revisions.writes.length > 0) return { writes: revisions.writes };
  const current = currentRevision(set, revisions);
  const minReadySeconds = set.spec.minReadySeconds ?? 0;
  const healthy = (pod: Pod): boolean => isActive(pod) && isAvailable(pod, minReadySeconds, now);
  const steps =
    set.metadata.deletionTimestamp === undefined ? nextSteps(world, set, owned, revisions, current, healthy) : [];
  const status = statusAfter(set, owned, revisions, current, now);
  const inUse = new Set([current, revisions.update, ...owned.map((pod) => pod.metadata.labels?.[revisionLabel] ?? '')]);
  const writes = [...steps, ...truncateHistory(set, revisions, inUse)];
  if (!sameJson(status, set.status ?? {})) writes.push(statusOf(set, status));
  const requeueAfterMs = nextAvailableInMs(owned, minReadySeconds, now);
  return { writes, ...(requeueAfterMs !== undefined && { requeueAfterMs }) };
}

function currentRevision(set: StatefulSet, revisions: Revisions): string {
  const { currentRevision: known = '' } = set.status ?? {};
  return revisions.all.some((one) => one.metadata.name === known) ? known : revisions.update;
}

/** The next writes: create missing pods first, then delete surplus pods, then outdated ones. */
function nextSteps(
  world: World,
  set: StatefulSet,
  pods: readonly Pod[],
  revisions: Revisions,
  current: string,
  healthy: (pod: Pod) => boolean,
): Write[] {
  const parallel = set.spec.podManagementPolicy === 'Parallel';
  const first = set.spec.ordinals?.start ?? 0;
  const end = first + (set.spec.replicas ?? 1);
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(set, pod), pod]));
  const writes: Write[] = [];
  for (let ordinal = first; ordinal < end; ordinal++) {
    const pod = byOrdinal.get(ordinal);
    if (pod === undefined) writes.push(...createPodAndClaims(world, set, ordinal, revisions, current));
    else if (hasEnded(pod) && pod.metadata.deletionTimestamp === undefined) writes.push(deleteOf(pod));
    if (!parallel && (writes.length > 0 || !healthy(pod!))) return writes;
    if (writes.length >= burst) return writes;
  }
  const condemned = [...byOrdinal].filter(([ordinal]) => ordinal < first || ordinal >= end).sort(([a], [b]) => b - a);
  for (const [, pod] of condemned) {
    if (pod.metadata.deletionTimestamp === undefined) writes.push(deleteOf(pod));
    if (!parallel) return writes;
  }
  if (writes.length > 0 || set.spec.updateStrategy?.type === 'OnDelete') return writes;
  const partition = set.spec.updateStrategy?.rollingUpdate?.partition ?? 0;
  for (let ordinal = end - 1; ordinal >= first + partition; ordinal--) {
    const pod = byOrdinal.get(ordinal);
    if (pod === undefined) return [];
    const outdated = pod.metadata.labels?.[revisionLabel] !== labelOf(set, revisions.update);
    if (outdated && pod.metadata.deletionTimestamp === undefined) return [deleteOf(pod)];
    if (!healthy(pod)) return [];
  }
  return [];
}

/** Creates the missing volume claims of a pod, and then the pod. */
function createPodAndClaims(
  world: World,
  set: StatefulSet,
  ordinal: number,
  revisions: Revisions,
  current: string,
): Write[] {
  const first = set.spec.ordinals?.start ?? 0;
  const { rollingUpdate, type } = set.spec.updateStrategy ?? {};
  const kept =
    type === 'OnDelete'
      ? false
      : rollingUpdate?.partition === undefined
        ? ordinal < first + (set.status?.currentReplicas ?? 0)
        : ordinal < first + rollingUpdate.partition;
  const revision = kept ? current : revisions.update;
  const pod = podOf(set, ordinal, withRevisionLabel(set, templateOf(set, revisions, revision), revision));
  const message = (name: string): string => `Create Pod ${name} in StatefulSet ${set.metadata.name} successful`;
  const event = { about: set, type: 'Normal', reason: 'SuccessfulCreate', message } as const;
  return [...volumeClaims(world, set, pod.metadata.name!), createOf(pod, event)];
}

function podOf(set: StatefulSet, ordinal: number, template: PodTemplate): NewObject {
  const name = `${set.metadata.name}-${ordinal}`;
  const pod = podFrom(template, set, name);
  const owned = (set.spec.volumeClaimTemplates ?? []).map(({ metadata }) => ({
    name: metadata.name,
    persistentVolumeClaim: { claimName: `${metadata.name}-${name}` },
  }));
  const others = (template.spec.volumes ?? []).filter((volume) => !owned.some((one) => one.name === volume.name));
  const volumes = [...owned, ...others];
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      generateName: `${set.metadata.name}-`,
      labels: {
        ...pod.metadata.labels,
        'apps.kubernetes.io/pod-index': String(ordinal),
        'statefulset.kubernetes.io/pod-name': name,
      },
    },
    spec: {
      ...template.spec,
      hostname: name,
      ...(set.spec.serviceName !== undefined && { subdomain: set.spec.serviceName }),
      ...(volumes.length > 0 && { volumes }),
    },
  };
}

function volumeClaims(world: World, set: StatefulSet, pod: string): Write[] {
  const { namespace } = set.metadata;
  return (set.spec.volumeClaimTemplates ?? []).flatMap(({ metadata, spec }) => {
    const name = `${metadata.name}-${pod}`;
    if (world.get(claims, `${namespace}/${name}`) !== undefined) return [];
    const labels = { ...metadata.labels, ...set.spec.selector.matchLabels };
    const meta = { ...metadata, name, namespace: namespace!, labels };
    return [createOf({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: meta, spec })];
  });
}

function statusAfter(
  set: StatefulSet,
  pods: readonly Pod[],
  revisions: Revisions,
  current: string,
  now: number,
): object {
  const replicas = set.spec.replicas ?? 1;
  const counted = pods.filter((pod) => !hasEnded(pod));
  const of = (revision: string): number =>
    counted.filter(
      (pod) =>
        pod.metadata.labels?.[revisionLabel] === labelOf(set, revision) && pod.metadata.deletionTimestamp === undefined,
    ).length;
  const ready = counted.filter(isReady);
  const updatedReplicas = of(revisions.update);
  const rolling = set.spec.updateStrategy?.type !== 'OnDelete';
  const complete = rolling && updatedReplicas === replicas && ready.length === replicas && counted.length === replicas;
  return {
    ...withoutZeros({ observedGeneration: set.metadata.generation }),
    replicas: counted.length,
    ...withoutZeros({
      readyReplicas: ready.length,
      currentReplicas: complete ? updatedReplicas : of(current),
      updatedReplicas,
    }),
    availableReplicas: counted.filter((pod) => isAvailable(pod, set.spec.minReadySeconds ?? 0, now)).length,
    currentRevision: complete ? revisions.update : current,
    updateRevision: revisions.update,
    collisionCount: set.status?.collisionCount ?? 0,
  };
}

export const statefulSetController: Controller = {
  name: 'statefulset-controller',
  writer: controllerManager('statefulset-controller'),
  on: {
    [statefulSets]: self,
    pods: ownersOrSelectors('StatefulSet', statefulSets),
    'controllerrevisions.apps': ownersOfKind('StatefulSet'),
  },
  plan: (world, key) => {
    const set = world.get(statefulSets, key);
    return set === undefined ? nothing : planStatefulSet(world, set);
  },
};
