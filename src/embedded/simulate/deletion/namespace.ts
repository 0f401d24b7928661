// Terminating namespaces: deletes everything in them, of every kind, and then removes their finalizer.
import { timestamp } from '../../../kube/times.ts';
import type { AnyObject } from '../../../kube/objects.ts';
import { sameJson } from '../../patch/json.ts';
import type { StoreEvent } from '../../store/types.ts';
import { namespaces } from '../../kinds/types.ts';
import type { Collection, Condition, Namespace } from '../../kinds/types.ts';
import type { Controller } from '../loop.ts';
import { self, withCondition } from '../values.ts';
import type { World } from '../world.ts';
import { controllerManager, deleteOf, nothing, statusOf } from '../writes.ts';
import type { Plan } from '../writes.ts';

const finalizer = 'kubernetes';

/** `failure` is why some of the content could not be deleted. */
export function planNamespace(world: World, namespace: Namespace, failure?: string): Plan {
  const { deletionTimestamp, name } = namespace.metadata;
  if (deletionTimestamp === undefined) return nothing;
  const content = world
    .collections()
    .filter((collection) => world.resource(collection)?.namespaced === true)
    .map((collection: Collection) => ({ collection, objects: world.list(collection, name) }))
    .filter(({ objects }) => objects.length > 0);
  const objects = content.flatMap((kind) => kind.objects);
  const deletions = objects.filter((object) => object.metadata.deletionTimestamp === undefined);
  if (deletions.length > 0 && failure === undefined) {
    return { writes: deletions.map((object) => deleteOf(object, { propagationPolicy: 'Background' })) };
  }
  const before = namespace.status?.conditions;
  const reported = conditionsOf(content, failure).map((one) => ({
    ...one,
    lastTransitionTime: timestamp(world.now()),
  }));
  const conditions = reported.reduce<readonly Condition[]>((all, one) => withCondition(all, one), before ?? []);
  const writes = sameJson(conditions, before)
    ? []
    : [statusOf(namespace, { ...namespace.status, phase: 'Terminating', conditions })];
  if (objects.length > 0 || writes.length > 0) return { writes };
  if (namespace.spec?.finalizers?.includes(finalizer) !== true) return nothing;
  const finalizers = namespace.spec.finalizers.filter((one) => one !== finalizer);
  return {
    writes: [{ verb: 'update', object: { ...namespace, spec: { finalizers } } as Namespace, subresource: 'finalize' }],
  };
}

interface Content {
  readonly collection: string;
  readonly objects: readonly AnyObject[];
}

function conditionsOf(content: readonly Content[], failure: string | undefined): Condition[] {
  const condition = (
    type: string,
    holds: boolean,
    reasons: readonly [string, string],
    messages: readonly [string, string],
  ): Condition => ({
    type,
    status: holds ? 'True' : 'False',
    reason: reasons[holds ? 0 : 1],
    message: messages[holds ? 0 : 1],
  });
  const remaining = content
    .map(({ collection, objects }) => `${withDot(collection)} has ${objects.length} resource instances`)
    .toSorted();
  const finalizerCounts = new Map<string, number>();
  for (const object of content.flatMap(({ objects }) => objects)) {
    for (const name of object.metadata.finalizers ?? [])
      finalizerCounts.set(name, (finalizerCounts.get(name) ?? 0) + 1);
  }
  const finalizersLeft = [...finalizerCounts]
    .map(([name, count]) => `${name} in ${count} resource instances`)
    .toSorted();
  return [
    condition(
      'NamespaceDeletionDiscoveryFailure',
      false,
      ['DiscoveryFailed', 'ResourcesDiscovered'],
      ['', 'All resources successfully discovered'],
    ),
    condition(
      'NamespaceDeletionGroupVersionParsingFailure',
      false,
      ['GroupVersionParsingFailed', 'ParsedGroupVersions'],
      ['', 'All legacy kube types successfully parsed'],
    ),
    condition(
      'NamespaceDeletionContentFailure',
      failure !== undefined,
      ['ContentDeletionFailed', 'ContentDeleted'],
      [
        `Failed to delete all resource types, 1 remaining: ${failure}`,
        'All content successfully deleted, may be waiting on finalization',
      ],
    ),
    condition(
      'NamespaceContentRemaining',
      remaining.length > 0,
      ['SomeResourcesRemain', 'ContentRemoved'],
      [`Some resources are remaining: ${remaining.join(', ')}`, 'All content successfully removed'],
    ),
    condition(
      'NamespaceFinalizersRemaining',
      finalizersLeft.length > 0,
      ['SomeFinalizersRemain', 'ContentHasNoFinalizers'],
      [
        `Some content in the namespace has finalizers remaining: ${finalizersLeft.join(', ')}`,
        'All content-preserving finalizers finished',
      ],
    ),
  ];
}

/** `pods.` and `deployments.apps`: Kubernetes prints the core group as an empty suffix. */
function withDot(collection: string): string {
  return collection.includes('.') ? collection : `${collection}.`;
}

/** Changes of content matter only to a terminating namespace. */
function terminatingNamespaceOf({ stored }: StoreEvent, world: World): Iterable<string> {
  const { namespace } = stored.object.metadata;
  if (namespace === undefined) return [];
  return world.get(namespaces, namespace)?.metadata.deletionTimestamp === undefined ? [] : [namespace];
}

function planKey(world: World, key: string, failure?: string): Plan {
  const namespace = world.get(namespaces, key);
  return namespace === undefined ? nothing : planNamespace(world, namespace, failure);
}

export const namespaceController: Controller = {
  name: 'namespace-controller',
  writer: controllerManager('namespace-controller'),
  on: { namespaces: self, '*': terminatingNamespaceOf },
  plan: planKey,
  refused: planKey,
};
