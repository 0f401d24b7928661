// Follows the custom resource definitions of the store: serves what they define at once, and at their end removes their
// objects first. Started by server.ts.
import { customResources, isEstablished } from '../crd/index.ts';
import { collectionOf } from '../registry.ts';
import type { Stored, StoreEvent } from '../store/types.ts';
import { systemUser } from './context.ts';
import type { Cluster, Target, WriteOptions } from './context.ts';
import { removeAll } from './delete.ts';
import { Fault } from './fault.ts';
import { cleanupFinalizer, definitionCollection } from './rules/definitions.ts';
import { change } from './update.ts';

const options: WriteOptions = {
  user: systemUser,
  dryRun: false,
  fieldManager: 'kube-apiserver',
  fieldValidation: 'Ignore',
  warn: () => undefined,
};

/** Keeps the registry true to the definitions until the returned function is called. */
export function followDefinitions(cluster: Cluster, onError: (error: unknown) => void): () => void {
  const emptying = new Map<string, () => void>();
  const release = (name: string): void => {
    emptying.get(name)?.();
    emptying.delete(name);
  };
  const follow = (stored: Stored): void => {
    const { name, deletionTimestamp, finalizers = [] } = stored.object.metadata;
    if (isEstablished(stored.object)) cluster.registry.setCustom(name, customResources(stored.object));
    if (deletionTimestamp === undefined || !finalizers.includes(cleanupFinalizer) || emptying.has(name)) return;
    const resource = cluster.registry
      .all()
      .find((served) => served.custom && `${served.plural}.${served.group}` === name);
    const settle = (): void => {
      if (resource !== undefined && cluster.store.count(collectionOf(resource)) > 0) return;
      release(name);
      finish(cluster, name).catch(onError);
    };
    if (resource === undefined) return settle();
    emptying.set(name, cluster.store.subscribe(collectionOf(resource), settle));
    const target = { resource, namespace: '', name: '', subresource: '' };
    removeAll(cluster, target, cluster.store.list(collectionOf(resource)), {}, options).then(settle, onError);
  };
  const onEvent = ({ type, stored }: StoreEvent): void => {
    if (type !== 'DELETED') return follow(stored);
    release(stored.object.metadata.name);
    cluster.registry.removeCustom(stored.object.metadata.name);
  };
  const { initial, stop } = cluster.store.watch(definitionCollection, onEvent);
  for (const stored of initial) follow(stored);
  return () => {
    stop();
    for (const name of emptying.keys()) release(name);
  };
}

/** The last object is gone: lets the definition go too. */
async function finish(cluster: Cluster, name: string): Promise<void> {
  const resource = cluster.registry.find('apiextensions.k8s.io', 'v1', 'customresourcedefinitions');
  if (resource === undefined) return;
  const target: Target = { resource, namespace: '', name, subresource: '' };
  try {
    await change(
      cluster,
      target,
      (old) => {
        const finalizers = (old.metadata.finalizers ?? []).filter((finalizer) => finalizer !== cleanupFinalizer);
        return { object: { ...old, metadata: { ...old.metadata, finalizers } } };
      },
      options,
    );
  } catch (error) {
    if (!(error instanceof Fault && error.code === 404)) throw error;
  }
}
