// Tables of a cluster, for commands that read much of it once.
import type { Client } from '../../kube/client/client.ts';
import { systemClock } from '../../kube/clock.ts';
import { isForbidden, isNotFound, isTransient } from '../../kube/errors.ts';
import { NotSynced, Tables } from '../../kube/tables/tables.ts';
import type { AnyKind } from '../../kube/objects.ts';

/** Runs a function on synced tables, and stops the watches afterwards. It runs again if it reads a further table. */
export async function withTables<R>(
  client: Client,
  kinds: Iterable<AnyKind>,
  signal: AbortSignal,
  use: (tables: Tables) => Promise<R> | R,
): Promise<R> {
  const tables = new Tables(kinds);
  const ending = new AbortController();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  const running = tables.run({
    client,
    clock: systemClock,
    signal: ending.signal,
    onError: (table, error) => {
      // A definition may exist before its objects are served and while it is deleted: the next list decides.
      if (isTransient(error) || isNotFound(error) || (table.optional && isForbidden(error))) return;
      failed.reject(error);
    },
  });
  try {
    for (;;) {
      await Promise.race([tables.whenSynced(signal), failed.promise]);
      try {
        return await use(tables);
      } catch (error) {
        if (!(error instanceof NotSynced)) throw error;
      }
    }
  } finally {
    ending.abort();
    await running;
  }
}
