// The replica sets of a deployment are its revision history: which one is current, how to build a new one, and which to
// delete.
import { withAnnotations } from '../../../../kube/annotations.ts';
import { sameJson } from '../../../patch/json.ts';
import { contentHash } from '../hash.ts';
import type { Deployment, Labels, PodTemplate, ReplicaSet } from '../../../kinds/types.ts';
import { managedBy } from '../../pods/pods.ts';
import { byAge, resolveCount } from '../../values.ts';
import type { NewObject } from '../../writes.ts';

const hashLabel = 'pod-template-hash';
export const revisionAnnotation = 'deployment.kubernetes.io/revision';
const historyAnnotation = 'deployment.kubernetes.io/revision-history';
const desiredAnnotation = 'deployment.kubernetes.io/desired-replicas';
const maxAnnotation = 'deployment.kubernetes.io/max-replicas';
/** Annotations that are not copied from a deployment to its replica sets. */
const notInherited = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  'deprecated.deployment.rollback.to',
  revisionAnnotation,
  historyAnnotation,
  desiredAnnotation,
  maxAnnotation,
]);

export function replicasOf(object: { readonly spec: { readonly replicas?: number } }): number {
  return object.spec.replicas ?? 1;
}

/** maxSurge and maxUnavailable of a deployment, as numbers of pods. */
export function limitsOf(deployment: Deployment): { readonly surge: number; readonly unavailable: number } {
  const { strategy } = deployment.spec;
  if (strategy?.type === 'Recreate') return { surge: 0, unavailable: 0 };
  const replicas = replicasOf(deployment);
  const { maxSurge = '25%', maxUnavailable = '25%' } = strategy?.rollingUpdate ?? {};
  const surge = resolveCount(maxSurge, replicas, true);
  const unavailable = resolveCount(maxUnavailable, replicas, false);
  // With neither, a rollout could never make progress.
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : Math.min(unavailable, replicas) };
}

/** The replica set with the deployment's pod template; the oldest when there are several. */
export function currentSet(deployment: Deployment, sets: readonly ReplicaSet[]): ReplicaSet | undefined {
  const template = withoutHash(deployment.spec.template);
  return sets.toSorted(byAge).find((set) => sameJson(withoutHash(set.spec.template), template));
}

function withoutHash(template: PodTemplate): unknown {
  const { [hashLabel]: _hash, ...labels } = template.metadata?.labels ?? {};
  const { labels: _labels, creationTimestamp: _time, ...metadata } = template.metadata ?? {};
  return { ...template, metadata: { ...metadata, labels } };
}

export function revisionOf(set: ReplicaSet): number {
  return Number(set.metadata.annotations?.[revisionAnnotation] ?? 0) || 0;
}

/** The revision number after those of the old replica sets. */
export function nextRevision(old: readonly ReplicaSet[]): number {
  return Math.max(0, ...old.map(revisionOf)) + 1;
}

/** The deployment's replica count when it last scaled this replica set. */
export function desiredReplicas(set: ReplicaSet): number | undefined {
  const text = set.metadata.annotations?.[desiredAnnotation];
  return text === undefined ? undefined : Number(text);
}

export function maxReplicas(set: ReplicaSet): number | undefined {
  const text = set.metadata.annotations?.[maxAnnotation];
  return text === undefined ? undefined : Number(text);
}

function sizeAnnotations(deployment: Deployment): Labels {
  const replicas = replicasOf(deployment);
  return { [desiredAnnotation]: String(replicas), [maxAnnotation]: String(replicas + limitsOf(deployment).surge) };
}

function inheritedAnnotations(deployment: Deployment): Labels {
  const entries = Object.entries(deployment.metadata.annotations ?? {});
  return Object.fromEntries(entries.filter(([name]) => !notInherited.has(name)));
}

export function setName(deployment: Deployment): string {
  const hash = contentHash(deployment.spec.template, deployment.status?.collisionCount ?? 0);
  return `${deployment.metadata.name}-${hash}`;
}

export function newSet(deployment: Deployment, revision: number, replicas: number): NewObject {
  const { template, selector, minReadySeconds } = deployment.spec;
  const name = setName(deployment);
  const hash = name.slice(deployment.metadata.name.length + 1);
  const labels = { ...template.metadata?.labels, [hashLabel]: hash };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name,
      namespace: deployment.metadata.namespace!,
      labels,
      annotations: {
        ...inheritedAnnotations(deployment),
        [revisionAnnotation]: String(revision),
        ...sizeAnnotations(deployment),
      },
      ownerReferences: [managedBy(deployment)],
    },
    spec: {
      replicas,
      ...(minReadySeconds !== undefined && { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [hashLabel]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}

/** Scales a replica set, and records the deployment's replica count in its annotations. */
export function resized(deployment: Deployment, set: ReplicaSet, replicas: number): ReplicaSet {
  return { ...withAnnotations(set, sizeAnnotations(deployment)), spec: { ...set.spec, replicas } };
}

/** Copies the revision, annotations and minReadySeconds of the deployment to its current replica set. */
export function synced(deployment: Deployment, set: ReplicaSet, revision: number): ReplicaSet {
  const { [revisionAnnotation]: old, [historyAnnotation]: history } = set.metadata.annotations ?? {};
  const isNew = Number(old ?? 0) < revision;
  const annotated = withAnnotations(set, {
    ...inheritedAnnotations(deployment),
    ...(isNew && { [revisionAnnotation]: String(revision) }),
    // After a rollback the replica set gets a new revision; the history annotation keeps its earlier ones.
    ...(isNew && old !== undefined && { [historyAnnotation]: history === undefined ? old : `${history},${old}` }),
  });
  const { minReadySeconds = 0 } = deployment.spec;
  const sameReadiness = (set.spec.minReadySeconds ?? 0) === minReadySeconds;
  if (sameReadiness && sameJson(annotated.metadata.annotations, set.metadata.annotations)) return set;
  return sameReadiness ? annotated : { ...annotated, spec: { ...set.spec, minReadySeconds } };
}

/** Old replica sets without pods beyond the history limit. */
export function setsBeyondHistory(deployment: Deployment, old: readonly ReplicaSet[]): readonly ReplicaSet[] {
  const kept = deployment.spec.revisionHistoryLimit ?? 10;
  const alive = old.filter((set) => set.metadata.deletionTimestamp === undefined);
  return alive
    .toSorted((left, right) => revisionOf(left) - revisionOf(right))
    .slice(0, Math.max(0, alive.length - kept))
    .filter(
      (set) =>
        replicasOf(set) === 0 &&
        (set.status?.replicas ?? 0) === 0 &&
        (set.metadata.generation ?? 0) <= (set.status?.observedGeneration ?? 0),
    );
}
