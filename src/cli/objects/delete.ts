// Deletes objects, prints each, and waits until they and their dependents are gone. For the `delete` commands.
import type { Client } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { Kind, KubeObject } from '../../kube/objects.ts';
import type { PartName } from '../../api/description/controllers-hint.ts';
import type { Removal } from '../../api/description/deletion.ts';
import { waitGone } from './wait-gone.ts';
import type { Explain } from './wait-gone.ts';
import type { ClusterOptions, DryRun } from '../options.ts';
import { objectPrinter } from '../terminal/output.ts';

export interface DeleteFlags extends ClusterOptions {
  readonly output?: 'name';
  readonly dryRun: DryRun;
  readonly wait: boolean;
  readonly timeout: number;
}

/** Deletes objects of one kind; `explain` says why something still exists after the timeout. */
export async function deleteObjects<T extends KubeObject>(
  client: Client,
  kind: Kind<T>,
  objects: readonly T[],
  removals: readonly Removal[],
  options: DeleteFlags,
  part: PartName,
  explain: Explain,
): Promise<void> {
  if (options.dryRun !== 'none' || !options.wait) for (const { label } of removals) console.error(`deleting: ${label}`);
  const printer = objectPrinter(options.output);
  for (const object of objects) {
    if (options.dryRun !== 'client') await remove(client, kind, object, options.dryRun === 'server');
    printer.print(object, `deleted${dryRunSuffix(options.dryRun)}`);
  }
  if (!options.wait || options.dryRun !== 'none') return;
  await waitGone(client, removals, options.timeout, part, explain);
}

async function remove<T extends KubeObject>(
  client: Client,
  kind: Kind<T>,
  { metadata }: T,
  dryRun: boolean,
): Promise<void> {
  try {
    await client.delete(kind, metadata, {
      ...(metadata.uid !== undefined && { preconditions: { uid: metadata.uid } }),
      propagationPolicy: 'Background',
      dryRun,
    });
  } catch (error) {
    // It is already deleted.
    if (!isNotFound(error)) throw error;
  }
}

/** The suffix of an outcome in a dry run. */
export function dryRunSuffix(dryRun: DryRun): string {
  if (dryRun === 'none') return '';
  return dryRun === 'client' ? ' (dry run)' : ' (server dry run)';
}
