// Deletes a mesh, and returns the objects that are left behind.
import { Istio } from '../../src/api/istio.ts';
import { isNotFound, keyOf } from '../../src/kube/index.ts';
import type { AnyObject, Client } from '../../src/kube/index.ts';
import { ISTIO_NAMESPACE, MODULE_LABEL } from '../../src/mesh/index.ts';
import { poll } from '../scenarios/poll.ts';
import { KINDS } from './all.ts';

const DEADLINE_MS = 60_000;

/** Deletes every Istio resource; resolves with the objects that are left in the end. */
export async function takeAway(client: Client, deadlineMs = DEADLINE_MS): Promise<readonly string[]> {
  const { items } = await client.list(Istio);
  for (const { metadata } of items) {
    await client.delete(Istio, metadata).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
  // Lists everything only once the resources are gone: the definitions of Istio's kinds are large.
  const nothingIsLeft = async (): Promise<boolean> =>
    (await client.list(Istio)).items.length === 0 && (await leftovers(client)).length === 0;
  await poll(nothingIsLeft, deadlineMs).catch(() => undefined);
  return leftovers(client);
}

async function leftovers(client: Client): Promise<readonly string[]> {
  const lists = await Promise.all(KINDS.map((kind) => client.list(kind)));
  return lists
    .flatMap(({ items }) => items)
    .filter(isOfMesh)
    .map((object) => `${object.kind} ${keyOf(object.metadata)}${statusOf(object)}`);
}

/** What an Istio resource that is left says it waits for. */
function statusOf(object: AnyObject): string {
  return object.kind === 'Istio' ? ` ${JSON.stringify((object as { status?: unknown }).status)}` : '';
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
