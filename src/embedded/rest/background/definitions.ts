// Watches the CustomResourceDefinitions in the store: serves their resources at once, and deletes all objects of a
// definition before the definition itself. Started by server.ts.
import { isDeepStrictEqual } from 'node:util';
import type { AnyObject } from '../../../kube/objects.ts';
import { customResources, isEstablished } from '../../crd/index.ts';
import { collectionOf } from '../../registry.ts';
import type { Stored, StoreEvent } from '../../store/types.ts';
import { systemUser } from '../context.ts';
import type { Cluster, Target, WriteOptions } from '../context.ts';
import { removeAll } from '../verbs/delete.ts';
import { Fault } from '../fault.ts';
import { cleanupFinalizer, definitionCollection, withTerminating } from '../rules/definitions.ts';
import { change } from '../verbs/update.ts';

const options: WriteOptions = {
  user: systemUser,
  dryRun: false,
  fieldManager: 'kube-apiserver',
  fieldValidation: 'Ignore',
  warn: () => undefined,
};

/** Keeps the registry in sync with the definitions until the returned function is called. */
export function followDefinitions(cluster: Cluster, onError: (error: unknown) => void): () => void {
  const emptying = new Map<string, () => void>();
  const release = (name: string): void => {
    emptying.get(name)?.();
    emptying.delete(name);
  };
  /** The served spec and accepted names of each definition. */
  const served = new Map<string, unknown>();
  const follow = (stored: Stored): void => {
    const { name, deletionTimestamp, finalizers = [] } = stored.object.metadata;
    const current = [stored.object['spec'], acceptedNames(stored.object)];
    if (isEstablished(stored.object) && !isDeepStrictEqual(served.get(name), current)) {
      served.set(name, current);
      cluster.registry.setCustom(name, customResources(stored.object, stored.version));
    }
    if (deletionTimestamp === undefined || !finalizers.includes(cleanupFinalizer) || emptying.has(name)) return;
    const versions = cluster.registry
      .all()
      .filter((served) => served.custom && `${served.plural}.${served.group}` === name);
    // The stored version needs no conversion webhook.
    const resource = versions.find(({ version, stored: kept }) => version === kept?.version) ?? versions[0];
    const finishIfEmpty = (): void => {
      if (resource !== undefined && cluster.store.count(collectionOf(resource)) > 0) return;
      release(name);
      removeCleanupFinalizer(cluster, name).catch(onError);
    };
    if (resource === undefined) return finishIfEmpty();
    emptying.set(name, cluster.store.subscribe(collectionOf(resource), finishIfEmpty));
    const target = { resource, namespace: '', name: '', subresource: '' };
    removeAll(cluster, target, cluster.store.list(collectionOf(resource)), {}, options)
      .then(() =>
        cluster.store.count(collectionOf(resource)) > 0 ? reportRemainingObjects(cluster, name) : finishIfEmpty(),
      )
      .catch(onError);
  };
  const onEvent = ({ type, stored }: StoreEvent): void => {
    if (type !== 'DELETED') return follow(stored);
    const { name } = stored.object.metadata;
    release(name);
    served.delete(name);
    cluster.registry.removeCustom(name);
  };
  const { initial, stop } = cluster.store.watch(definitionCollection, onEvent);
  for (const stored of initial) follow(stored);
  return () => {
    stop();
    for (const name of emptying.keys()) release(name);
  };
}

function acceptedNames({ status }: AnyObject): unknown {
  return (status as { acceptedNames?: unknown } | undefined)?.acceptedNames;
}

/** Removes the finalizer once the last object is deleted. */
function removeCleanupFinalizer(cluster: Cluster, name: string): Promise<void> {
  return changeDefinition(cluster, name, '', (old) => {
    const finalizers = (old.metadata.finalizers ?? []).filter((finalizer) => finalizer !== cleanupFinalizer);
    return { ...old, metadata: { ...old.metadata, finalizers } };
  });
}

/** Finalizers block the deletion of some objects: reports this in the condition Terminating. */
function reportRemainingObjects(cluster: Cluster, name: string): Promise<void> {
  return changeDefinition(cluster, name, 'status', (old) =>
    withTerminating(old, 'InstanceDeletionInProgress', 'CustomResource deletion is in progress'),
  );
}

/** Changes a definition, unless it was deleted meanwhile. */
async function changeDefinition(
  cluster: Cluster,
  name: string,
  subresource: string,
  next: (old: AnyObject) => AnyObject,
): Promise<void> {
  const resource = cluster.registry.find('apiextensions.k8s.io', 'v1', 'customresourcedefinitions');
  if (resource === undefined) return;
  const target: Target = { resource, namespace: '', name, subresource };
  try {
    await change(cluster, target, (old) => ({ object: next(old) }), options);
  } catch (error) {
    if (!(error instanceof Fault && error.code === 404)) throw error;
  }
}
