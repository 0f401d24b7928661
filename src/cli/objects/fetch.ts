// Fetches the objects that a pure function reads. Descriptions read synchronously; a command has only a connection.
import type { ObjectReader } from '../../api/description/reader.ts';
import type { Client } from '../../kube/client/client.ts';
import { isForbidden, isNotFound } from '../../kube/errors.ts';
import { identityOf } from '../../kube/objects.ts';
import { listAll } from './follow.ts';

/**
 * Computes a result from objects of the cluster: repeatedly, each time with the objects that it read before, until it
 * reads nothing new. Objects that one run reads are fetched in parallel.
 */
export async function fetchFor<R>(client: Client, compute: (read: ObjectReader) => R): Promise<R> {
  const answers = new Map<string, unknown>();
  for (;;) {
    const missing = new Map<string, () => Promise<unknown>>();
    const answer = (query: string, ask: () => Promise<unknown>): unknown => {
      if (!answers.has(query)) missing.set(query, ask);
      return answers.get(query);
    };
    const read = {
      get: (kind, ref) => answer(identityOf(kind, ref), () => orHidden(client.get(kind, ref))),
      list: (kind, selection) => {
        const query = `${identityOf(kind, { name: '' })} ${JSON.stringify(selection)}`;
        const found = answer(query, () => orHidden(listAll(client, kind, selection)));
        return Array.isArray(found) ? found : [];
      },
    } as ObjectReader;
    const result = compute(read);
    if (missing.size === 0) return result;
    await Promise.all([...missing].map(async ([query, ask]) => answers.set(query, await ask())));
  }
}

/** An answer of the API server; `hidden` if it is forbidden, undefined if the object does not exist. */
async function orHidden<R>(answer: Promise<R>): Promise<R | 'hidden' | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isForbidden(error)) return 'hidden';
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
