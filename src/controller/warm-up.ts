// Before the first reconcile, plans are made without writing anything, so that the tables that they read are listed.
import { setImmediate } from 'node:timers/promises';
import type { KubeObject } from '../kube/objects.ts';
import { NotSynced } from '../kube/tables/tables.ts';
import type { AnyTable, Tables } from '../kube/tables/tables.ts';
import { Reads } from './view.ts';
import type { View } from './view.ts';

/** If the plans of this many objects in a row read nothing new, those of the others will not either. */
const ENOUGH_PLANS = 100;

export interface WarmUp {
  readonly tables: Tables;
  readonly objects: readonly KubeObject[];
  /** Pure: what it returns is dropped. */
  readonly plan: (view: View, object: KubeObject) => unknown;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** Makes plans until those of many objects in a row read nothing that is not synced. */
export async function syncReads({ tables, objects, plan, now, signal }: WarmUp): Promise<void> {
  const reads = new Reads({ tables, now, wake: () => {} });
  /** The first table that a plan would have to wait for. */
  const unsyncedFor = (object: KubeObject): AnyTable | undefined => {
    try {
      reads.track('', (view) => plan(view, object));
    } catch (error) {
      if (error instanceof NotSynced) return error.table;
    }
    return undefined;
  };
  let known = 0;
  try {
    for (const object of objects) {
      if (known++ === ENOUGH_PLANS) break;
      for (let table = unsyncedFor(object); table !== undefined; table = unsyncedFor(object)) {
        known = 0;
        await table.whenSynced(signal);
        // Lets lists be read meanwhile, even if the plan names a table that is already synced.
        await setImmediate();
      }
      await setImmediate();
    }
  } finally {
    reads.close();
  }
}
