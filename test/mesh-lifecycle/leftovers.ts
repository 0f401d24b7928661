// Deletes a mesh, and returns the objects that are left behind.
import { Istio } from '../../src/api/istio.ts';
import { isNotFound, keyOf } from '../../src/kube/index.ts';
import type { AnyObject, Client } from '../../src/kube/index.ts';
import { ISTIO_NAMESPACE, MODULE_LABEL } from '../../src/mesh/index.ts';
import { poll } from '../scenarios/poll.ts';
import { KINDS } from './all.ts';

const DEADLINE_MS = 60_000;

/** Deletes every Istio resource; resolves with the objects that are left in the end. */
export async function takeAway(client: Client): Promise<readonly string[]> {
  const { items } = await client.list(Istio);
  for (const { metadata } of items) {
    await client.delete(Istio, metadata).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
  let left: readonly string[] = [];
  const nothingIsLeft = async (): Promise<boolean> => {
    const lists = await Promise.all(KINDS.map((kind) => client.list(kind)));
    left = lists
      .flatMap((list) => list.items)
      .filter(isOfMesh)
      .map(({ kind, metadata }) => `${kind} ${keyOf(metadata)}`);
    return left.length === 0;
  };
  await poll(nothingIsLeft, DEADLINE_MS).catch(() => undefined);
  return left;
}

function isOfMesh({ kind, metadata: { name, namespace, labels = {} } }: AnyObject): boolean {
  return (
    kind === 'Istio' ||
    (kind === 'Namespace' && name === ISTIO_NAMESPACE) ||
    namespace === ISTIO_NAMESPACE ||
    name.endsWith('.istio.io') ||
    labels[MODULE_LABEL] !== undefined
  );
}
