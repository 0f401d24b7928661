// Fetches what a pure function reads. Descriptions read objects as if all were at hand; a command has only a connection.
import type { ObjectReader } from '../../api/description/reader.ts';
import type { Client } from '../../kube/client/client.ts';
import { isForbidden, isNotFound } from '../../kube/errors.ts';
import { identityOf } from '../../kube/objects.ts';
import { listAll } from './follow.ts';

/**
 * Computes something from objects of the cluster: again and again, each time with what it asked for before, until it
 * asks for nothing new. What it asks for at once is fetched at once.
 */
export async function fetchFor<R>(client: Client, compute: (read: ObjectReader) => R): Promise<R> {
  const answers = new Map<string, unknown>();
  for (;;) {
    const asked = new Map<string, () => Promise<unknown>>();
    const answer = (question: string, ask: () => Promise<unknown>): unknown => {
      if (!answers.has(question)) asked.set(question, ask);
      return answers.get(question);
    };
    const read = {
      get: (kind, ref) => answer(identityOf(kind, ref), () => orHidden(client.get(kind, ref))),
      list: (kind, selection) => {
        const question = `${identityOf(kind, { name: '' })} ${JSON.stringify(selection)}`;
        const found = answer(question, () => orHidden(listAll(client, kind, selection)));
        return Array.isArray(found) ? found : [];
      },
    } as ObjectReader;
    const result = compute(read);
    if (asked.size === 0) return result;
    await Promise.all([...asked].map(async ([question, ask]) => answers.set(question, await ask())));
  }
}

/** An answer of the API server; `hidden` where we may not see it, undefined where there is nothing. */
async function orHidden<R>(answer: Promise<R>): Promise<R | 'hidden' | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isForbidden(error)) return 'hidden';
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
