// Deletes meshes, and returns the objects that the controllers have left behind.
import { Mesh } from '../../src/api/routing.ts';
import { isNotFound, keyOf } from '../../src/kube/index.ts';
import type { AnyObject, Client, Kind } from '../../src/kube/index.ts';
import { poll } from '../scenarios/poll.ts';
import { MADE } from './all.ts';

const DEADLINE_MS = 60_000;

/** Deletes the meshes of a namespace; resolves with the objects that are left in the end. */
export async function deleteMeshes(client: Client, namespace: string): Promise<readonly string[]> {
  const { items } = await client.list(Mesh, { namespace });
  for (const { metadata } of items) {
    await client.delete(Mesh, metadata).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
  let left: readonly string[] = [];
  const nothingIsLeft = async (): Promise<boolean> => {
    const lists = await Promise.all([Mesh as unknown as Kind, ...MADE].map((kind) => client.list(kind)));
    left = lists
      .flatMap((list) => list.items)
      .filter((object) => isOf(object, namespace))
      .map(({ kind, metadata }) => `${kind} ${keyOf(metadata)}`);
    return left.length === 0;
  };
  await poll(nothingIsLeft, DEADLINE_MS).catch(() => undefined);
  return left;
}

/** Whether an object was made for a mesh of the namespace, or still has a finalizer. */
function isOf({ metadata }: AnyObject, namespace: string): boolean {
  const { annotations = {}, finalizers = [] } = metadata;
  return (
    annotations['offshoot.dev/mesh']?.startsWith(`${namespace}/`) ||
    (metadata.namespace === namespace && finalizers.length > 0)
  );
}
