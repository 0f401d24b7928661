// Periodic work that belongs to no single object, such as deleting orphans. Run by the controller that declares it, in
// the process that leads.
import type { Outcome } from '../kube/write/apply.ts';
import type { Client } from '../kube/client/client.ts';
import { delay } from '../kube/clock.ts';
import type { Clock } from '../kube/clock.ts';
import { isNotFound } from '../kube/errors.ts';
import type { Kind, KubeObject, Ref } from '../kube/objects.ts';
import type { Step } from '../kube/write/steps.ts';
import { NotSynced } from '../kube/tables/tables.ts';
import type { Tables } from '../kube/tables/tables.ts';
import { untracked } from '../watchable/index.ts';
import type { ControllerOptions } from './controller.ts';
import type { PlannedEvent } from './definition.ts';
import { factsOf } from './facts.ts';
import type { Facts } from './facts.ts';
import type { Logger } from './logger.ts';
import type { Reconciler } from './reconciler.ts';

/** What a chore works with. */
export interface ChoreContext {
  /** What is observed; reading it here subscribes to nothing. */
  readonly facts: Facts;
  /** For chores that track their reads: `factsOf(tables, read)`. */
  readonly tables: Tables;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Carries out steps like those of a plan. */
  apply(steps: readonly Step[]): Promise<readonly Outcome[]>;
  /** Throws `WriteForbidden` unless this process may write. To be called right before each write to another system. */
  throwUnlessMayWrite(): void;
  record(object: KubeObject, event: PlannedEvent): void;
  /**
   * Reads an object from the server and updates the tables with it; undefined only if the server serves the kind and
   * answers that the object does not exist.
   */
  read<T extends KubeObject>(kind: Kind<T>, ref: Ref): Promise<T | undefined>;
}

export interface Chore {
  readonly name: string;
  /** How long to wait between two runs. */
  readonly everyMs: number;
  /** Does what is due, given the facts. Errors are logged; after `NotSynced` it runs again once the table is synced. */
  run(context: ChoreContext): Promise<void>;
}

/** What the chores of a controller work with. */
export function choreContext(
  { client, tables, clock, logger }: Pick<ControllerOptions, 'client' | 'tables' | 'clock' | 'logger'>,
  reconciler: Reconciler,
): ChoreContext {
  return {
    facts: factsOf(tables, untracked),
    tables,
    clock,
    logger,
    apply: (steps) => reconciler.apply(steps),
    throwUnlessMayWrite: () => reconciler.throwUnlessMayWrite(),
    record: (object, event) => reconciler.record(object, event),
    read: async (kind, ref) => {
      const found = await readNow(client, kind, ref);
      if (found !== undefined) for (const table of tables.holding(kind)) table.observe(found);
      return found;
    },
  };
}

/** Runs a chore at once and then periodically, until the signal aborts. */
export async function runChore(chore: Chore, context: ChoreContext, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await chore.run(context);
    } catch (err) {
      if (err instanceof NotSynced) {
        await err.table.whenSynced(signal).catch(() => {});
        continue;
      }
      if (!signal.aborted)
        context.logger.warn({ err, chore: chore.name }, 'chore failed, retrying at the next interval');
    }
    await delay(context.clock, chore.everyMs, signal);
  }
}

/** Reads an object from the server. A 404 for the path does not mean that the object does not exist. */
async function readNow<T extends KubeObject>(client: Client, kind: Kind<T>, ref: Ref): Promise<T | undefined> {
  try {
    return await client.get(kind, ref);
  } catch (error) {
    if (isNotFound(error) && error.details?.name === ref.name) return undefined;
    throw error;
  }
}
