// Tables of a cluster, for commands that look at much of it once.
import type { Client } from '../../kube/client/client.ts';
import { systemClock } from '../../kube/clock.ts';
import { isForbidden, isTransient } from '../../kube/errors.ts';
import { Tables } from '../../kube/tables/tables.ts';
import type { TableDeclaration } from '../../kube/tables/tables.ts';

/** Runs something on tables that are complete, and lets go of them in the end. */
export async function withTables<R>(
  client: Client,
  declarations: Iterable<TableDeclaration>,
  signal: AbortSignal,
  use: (tables: Tables) => Promise<R> | R,
): Promise<R> {
  const tables = new Tables(declarations);
  const ending = new AbortController();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  const running = tables.run({
    client,
    clock: systemClock,
    signal: ending.signal,
    onError: (table, error) => {
      if (!isTransient(error) && !(table.optional && isForbidden(error))) failed.reject(error);
    },
  });
  try {
    await Promise.race([tables.whenSynced(signal), failed.promise]);
    return await use(tables);
  } finally {
    ending.abort();
    await running;
  }
}
