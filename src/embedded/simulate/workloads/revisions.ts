// ControllerRevisions: the revision history of stateful sets and daemon sets.
import type { JsonObject, KubeObject } from '../../../kube/objects.ts';
import { sameJson } from '../../patch/json.ts';
import { contentHash } from './hash.ts';
import { controllerRevisions } from '../../kinds/types.ts';
import type { ControllerRevision, PodTemplate } from '../../kinds/types.ts';
import { managedBy } from '../pods/pods.ts';
import { byAge } from '../values.ts';
import type { World } from '../world.ts';
import { createOf, deleteOf, updateOf } from '../writes.ts';
import type { NewObject, Write } from '../writes.ts';

/** The pod label with the revision that the pod was created from. */
export const revisionLabel = 'controller-revision-hash';

/** The hash label of the revisions themselves, where it differs. */
const hashLabels: Readonly<Record<string, string>> = { StatefulSet: 'controller.kubernetes.io/hash' };

interface Owner extends KubeObject {
  readonly spec: { readonly template: PodTemplate; readonly revisionHistoryLimit?: number };
}

export interface Revisions {
  /** Oldest first. */
  readonly all: readonly ControllerRevision[];
  /** The name of the revision of the owner's template, whether it exists or not. */
  readonly update: string;
  /** The writes that create that revision or make it the newest. */
  readonly writes: readonly Write[];
}

function dataOf(template: PodTemplate): JsonObject {
  return { spec: { template: { ...template, $patch: 'replace' } } };
}

export function revisionsOf(world: World, owner: Owner): Revisions {
  const all = world
    .controlled(controllerRevisions, owner.metadata.uid)
    .toSorted((left, right) => left.revision - right.revision || byAge(left, right));
  const data = dataOf(owner.spec.template);
  const equal = all.findLast((one) => sameJson(one.data, data));
  const next = (all.at(-1)?.revision ?? 0) + 1;
  if (equal === undefined) {
    const created = newRevision(owner, data, next);
    return { all, update: created.metadata.name!, writes: [createOf(created)] };
  }
  const renumbered: ControllerRevision = { ...equal, revision: next };
  return { all, update: equal.metadata.name, writes: equal === all.at(-1) ? [] : [updateOf(renumbered)] };
}

function newRevision(owner: Owner, data: JsonObject, revision: number): NewObject {
  const hash = contentHash(data);
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `${owner.metadata.name}-${hash}`,
      namespace: owner.metadata.namespace!,
      labels: { ...owner.spec.template.metadata?.labels, [hashLabels[owner.kind] ?? revisionLabel]: hash },
      ...(owner.metadata.annotations !== undefined && { annotations: owner.metadata.annotations }),
      ownerReferences: [managedBy(owner)],
    },
    data,
    revision,
  };
}

/** The value of the label for a revision: its name for stateful sets, only the hash for daemon sets. */
export function labelOf(owner: KubeObject, revision: string): string {
  return owner.kind === 'DaemonSet' ? revision.slice(owner.metadata.name.length + 1) : revision;
}

/** The pod template of a revision; the owner's template when the revision does not exist yet. */
export function templateOf(owner: Owner, revisions: Revisions, name: string): PodTemplate {
  const template = revisions.all.find((one) => one.metadata.name === name)?.data.spec.template;
  if (template === undefined) return owner.spec.template;
  const { $patch: _patch, ...rest } = template as PodTemplate & { $patch?: string };
  return rest;
}

/** Adds the revision label to a pod template. */
export function withRevisionLabel(owner: Owner, template: PodTemplate, revision: string): PodTemplate {
  const labels = { ...template.metadata?.labels, [revisionLabel]: labelOf(owner, revision) };
  return { ...template, metadata: { ...template.metadata, labels } };
}

/** Deletes unused revisions beyond the history limit. */
export function truncateHistory(owner: Owner, revisions: Revisions, inUse: ReadonlySet<string>): readonly Write[] {
  const unused = revisions.all.filter(
    ({ metadata }) => !inUse.has(metadata.name) && !inUse.has(labelOf(owner, metadata.name)),
  );
  const surplus = unused.length - (owner.spec.revisionHistoryLimit ?? 10);
  return unused.slice(0, Math.max(0, surplus)).map((revision) => deleteOf(revision));
}
