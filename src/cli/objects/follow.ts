// Follows objects in the cluster: what a command waits for or streams. A table and its reflector do the work.
import type { Client, Selection } from '../../kube/client/client.ts';
import { systemClock } from '../../kube/clock.ts';
import type { Change } from '../../kube/tables/change-feed.ts';
import { isExpired, isTransient } from '../../kube/errors.ts';
import type { Kind, KubeObject } from '../../kube/objects.ts';
import { runReflector } from '../../kube/tables/reflector.ts';
import { Table } from '../../kube/tables/table.ts';

/**
 * Calls `judge` once the objects are known and after every change, until it returns something else than undefined.
 * Trouble of the connection is waited out; a refusal that would only repeat itself rejects, and so does the signal.
 */
export async function followUntil<T extends KubeObject, R>(
  client: Client,
  kind: Kind<T>,
  selection: Selection,
  signal: AbortSignal,
  judge: (table: Table<T>, change?: Change<T>) => R | undefined,
): Promise<R> {
  const table = new Table<T>(kind, selection);
  const ending = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<R>();
  const interrupt = (): void => reject(signal.reason);
  if (signal.aborted) interrupt();
  signal.addEventListener('abort', interrupt);
  const look = (change?: Change<T>): void => {
    try {
      const result = judge(table, change);
      if (result !== undefined) resolve(result);
    } catch (error) {
      reject(error);
    }
  };
  // What is there at first is no change.
  const begin = (): void => {
    table.onChange(look);
    look();
  };
  const running = runReflector({
    client,
    table,
    clock: systemClock,
    signal: ending.signal,
    onError: (error) => {
      if (!isTransient(error) && !isExpired(error)) reject(error);
    },
  });
  try {
    void table.whenSynced(ending.signal).then(
      () => begin(),
      () => {},
    );
    return await promise;
  } finally {
    signal.removeEventListener('abort', interrupt);
    ending.abort();
    await running;
  }
}

/** Every object of a selection, page after page. */
export async function listAll<T extends KubeObject>(
  client: Client,
  kind: Kind<T>,
  selection: Selection = {},
): Promise<readonly T[]> {
  const items: T[] = [];
  let next: string | undefined;
  do {
    const page = await client.list(kind, { ...selection, limit: 500, ...(next !== undefined && { continue: next }) });
    items.push(...page.items);
    next = page.continue;
  } while (next !== undefined);
  return items;
}
