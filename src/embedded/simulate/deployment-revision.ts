// The replica sets of a deployment as its history: which one is current, how a new one looks, which are forgotten.
import { withAnnotations } from '../../kube/annotations.ts';
import { sameJson } from '../patch/json.ts';
import { contentHash } from './hash.ts';
import type { Deployment, Labels, PodTemplate, ReplicaSet } from '../kinds/types.ts';
import { managedBy } from './pods.ts';
import { byAge, resolveCount } from './values.ts';
import type { NewObject } from './writes.ts';

const hashLabel = 'pod-template-hash';
export const revisionAnnotation = 'deployment.kubernetes.io/revision';
const historyAnnotation = 'deployment.kubernetes.io/revision-history';
const desiredAnnotation = 'deployment.kubernetes.io/desired-replicas';
const maxAnnotation = 'deployment.kubernetes.io/max-replicas';
/** Annotations of a deployment that its replica sets do not take over. */
const ownAnnotations = new Set([
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

/** How many pods may be there beyond those wanted, and how many of those wanted may be missing. */
export function limitsOf(deployment: Deployment): { readonly surge: number; readonly unavailable: number } {
  const { strategy } = deployment.spec;
  if (strategy?.type === 'Recreate') return { surge: 0, unavailable: 0 };
  const replicas = replicasOf(deployment);
  const { maxSurge = '25%', maxUnavailable = '25%' } = strategy?.rollingUpdate ?? {};
  const surge = resolveCount(maxSurge, replicas, true);
  const unavailable = resolveCount(maxUnavailable, replicas, false);
  // With neither, nothing could ever move.
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : Math.min(unavailable, replicas) };
}

/** The replica set that has the deployment's template; the oldest when there are several. */
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

/** The number of the revision that follows these replica sets. */
export function nextRevision(old: readonly ReplicaSet[]): number {
  return Math.max(0, ...old.map(revisionOf)) + 1;
}

/** How many pods the deployment wanted when it last scaled this replica set. */
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

function inherited(deployment: Deployment): Labels {
  const entries = Object.entries(deployment.metadata.annotations ?? {});
  return Object.fromEntries(entries.filter(([name]) => !ownAnnotations.has(name)));
}

/** The name of the replica set for the deployment's template. */
export function setName(deployment: Deployment): string {
  const hash = contentHash(deployment.spec.template, deployment.status?.collisionCount ?? 0);
  return `${deployment.metadata.name}-${hash}`;
}

/** A replica set for the deployment's template. */
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
        ...inherited(deployment),
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

/** The replica set with this many pods, and a note of what the deployment wanted at that time. */
export function resized(deployment: Deployment, set: ReplicaSet, replicas: number): ReplicaSet {
  return { ...withAnnotations(set, sizeAnnotations(deployment)), spec: { ...set.spec, replicas } };
}

/** The current replica set with the annotations and settings that it takes over from the deployment. */
export function synced(deployment: Deployment, set: ReplicaSet, revision: number): ReplicaSet {
  const before = set.metadata.annotations ?? {};
  const old = before[revisionAnnotation];
  let annotations: Labels = { ...before, ...inherited(deployment) };
  if (Number(old ?? 0) < revision) {
    annotations = { ...annotations, [revisionAnnotation]: String(revision) };
    // A revision that is used again under a new number keeps its earlier ones.
    const history = before[historyAnnotation];
    if (old !== undefined) {
      annotations = { ...annotations, [historyAnnotation]: history === undefined ? old : `${history},${old}` };
    }
  }
  const { minReadySeconds = 0 } = deployment.spec;
  const sameReadiness = (set.spec.minReadySeconds ?? 0) === minReadySeconds;
  if (sameReadiness && sameJson(annotations, before)) return set;
  const spec = sameReadiness ? set.spec : { ...set.spec, minReadySeconds };
  return { ...set, metadata: { ...set.metadata, annotations }, spec };
}

/** Old replica sets beyond the history limit that nothing runs in any more. */
export function forgotten(deployment: Deployment, old: readonly ReplicaSet[]): readonly ReplicaSet[] {
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
