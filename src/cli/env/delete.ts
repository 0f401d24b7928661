// `offshoot env delete`: deletes environments, and waits until all their objects are gone.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import type { Client } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import { keyOf } from '../../kube/objects.ts';
import { deleteObjects } from '../objects/delete.ts';
import type { DeleteFlags } from '../objects/delete.ts';
import { deletedWith, deletionReport } from '../../environments/index.ts';
import { withConnection } from '../options.ts';
import { selectObjects } from '../objects/select.ts';
import type { SelectOptions } from '../objects/select.ts';
import { ENVIRONMENT } from './get.ts';

export interface DeleteOptions extends DeleteFlags, SelectOptions {}

/** Deletes the environments that names, files or labels select. */
export function deleteEnvironments(names: readonly string[], options: DeleteOptions): Promise<void> {
  return withConnection(options, async (connection) => {
    const { client } = connection;
    const environments = await selectObjects(ENVIRONMENT, names, options, connection, 'delete');
    if (environments.length === 0) return;
    const removals = environments.flatMap(deletedWith);
    await deleteObjects(client, DynamicEnv, environments, removals, options, 'environments', async () => {
      const reasons = await reportsOn(client, environments);
      return { reasons, isReported: reasons.length > 0 };
    });
  });
}

/** What the controllers say about the deletion of environments that still exist. */
async function reportsOn(client: Client, environments: readonly DynamicEnv[]): Promise<readonly string[]> {
  const reports = environments.map(async ({ metadata }) => {
    try {
      const report = deletionReport(await client.get(DynamicEnv, metadata));
      return report === undefined ? [] : [`Environment ${keyOf(metadata)}: ${report}`];
    } catch (error) {
      if (isNotFound(error)) return [];
      throw error;
    }
  });
  return (await Promise.all(reports)).flat();
}
