// Watches objects in the cluster, for commands that wait or stream. A table and its reflector do the work.
import type { Client, Selection } from '../../kube/client/client.ts';
import { systemClock } from '../../kube/clock.ts';
import { isExpired, isTransient } from '../../kube/errors.ts';
import type { ApiError } from '../../kube/errors.ts';
import type { Kind, KubeObject } from '../../kube/objects.ts';
import { runReflector } from '../../kube/tables/reflector.ts';
import { Table } from '../../kube/tables/table.ts';
import type { Update } from '../../watchable/index.ts';

/**
 * Calls `judge` once the objects are listed and after every change, until it does not return undefined. Transient
 * errors are reported to `onTrouble` and retried; permanent errors and the signal reject.
 */
export async function followUntil<T extends KubeObject, R>(
  client: Client,
  kind: Kind<T>,
  selection: Selection,
  signal: AbortSignal,
  judge: (table: Table<T>, updates?: readonly Update<string, T>[]) => R | undefined,
  onTrouble: (error: ApiError) => void = () => {},
): Promise<R> {
  const table = new Table<T>(kind, selection);
  const ending = new AbortController();
  const failed = Promise.withResolvers<never>();
  const interrupt = (): void => failed.reject(signal.reason);
  if (signal.aborted) interrupt();
  signal.addEventListener('abort', interrupt);
  const running = runReflector({
    client,
    table,
    clock: systemClock,
    signal: ending.signal,
    onError: (error) => {
      if (isTransient(error)) onTrouble(error);
      else if (!isExpired(error)) failed.reject(error);
    },
  });
  const judged = judgeUntil(table, ending.signal, judge);
  try {
    return await Promise.race([judged, failed.promise]);
  } finally {
    signal.removeEventListener('abort', interrupt);
    ending.abort();
    await Promise.allSettled([running, judged]);
  }
}

async function judgeUntil<T extends KubeObject, R>(
  table: Table<T>,
  signal: AbortSignal,
  judge: (table: Table<T>, updates?: readonly Update<string, T>[]) => R | undefined,
): Promise<R> {
  await table.whenSynced(signal);
  for await (const { updates, initial } of table.map.subscribe({ signal, state: false })) {
    // The initial objects are not a change.
    const result = judge(table, initial ? undefined : updates);
    if (result !== undefined) return result;
  }
  throw signal.reason;
}

/** All objects of a selection, page by page. */
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
