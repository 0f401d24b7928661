// Work that no single object asks for: done now and then, by the process that leads. Run by the controller that declares
// it.
import type { Outcome } from '../kube/write/apply.ts';
import type { Client } from '../kube/client/client.ts';
import { delay } from '../kube/clock.ts';
import type { Clock } from '../kube/clock.ts';
import { isNotFound } from '../kube/errors.ts';
import type { Kind, KubeObject, Ref } from '../kube/objects.ts';
import type { Step } from '../kube/write/steps.ts';
import { NotSynced } from '../kube/tables/tables.ts';
import type { Tables } from '../kube/tables/tables.ts';
import type { PlannedEvent } from './definition.ts';
import type { Facts } from './facts.ts';
import type { Logger } from './logger.ts';

/** What a chore works with. */
export interface ChoreSite {
  /** What is observed; reading it here subscribes to nothing. */
  readonly facts: Facts;
  /** For who tracks what it reads: `factsOf(tables, read)`. */
  readonly tables: Tables;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Carries steps out, as those of a plan. */
  apply(steps: readonly Step[]): Promise<readonly Outcome[]>;
  record(object: KubeObject, event: PlannedEvent): void;
  /**
   * An object as the server has it now, and from now on in the tables; undefined only if the server knows the kind and
   * says that it is not there.
   */
  read<T extends KubeObject>(kind: Kind<T>, ref: Ref): Promise<T | undefined>;
}

export interface Chore {
  readonly name: string;
  /** How long it rests between two times. */
  readonly everyMs: number;
  /** Looks at the facts and does what is due. What it throws is logged; what it must wait for (`NotSynced`), waited for. */
  run(site: ChoreSite): Promise<void>;
}

/** Does a chore at once and then at its times, until the signal. */
export async function runChore(chore: Chore, site: ChoreSite, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await chore.run(site);
    } catch (err) {
      if (err instanceof NotSynced) {
        await err.table.whenSynced(signal).catch(() => {});
        continue;
      }
      if (!signal.aborted)
        site.logger.warn({ err, chore: chore.name }, 'a chore failed, and is tried again at its time');
    }
    await delay(site.clock, chore.everyMs, signal);
  }
}

/** Reads an object past the tables. An answer that there is no such path is no answer about the object. */
export async function readNow<T extends KubeObject>(client: Client, kind: Kind<T>, ref: Ref): Promise<T | undefined> {
  try {
    return await client.get(kind, ref);
  } catch (error) {
    if (isNotFound(error) && error.details?.name === ref.name) return undefined;
    throw error;
  }
}
