// Reads an object that may not exist.
import { isNotFound } from '../../src/kube/errors.ts';
import type { Client } from '../../src/kube/client/client.ts';
import type { Kind, KubeObject, Ref } from '../../src/kube/objects.ts';

/** The object; undefined if it does not exist. */
export async function findObject<T extends KubeObject>(
  client: Client,
  kind: Kind<T>,
  ref: Ref,
): Promise<T | undefined> {
  try {
    return await client.get(kind, ref);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
