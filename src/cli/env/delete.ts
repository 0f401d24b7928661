// `offshoot env delete`: deletes environments, and waits until all their objects are gone.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { deleteObjects } from '../objects/delete.ts';
import type { DeleteFlags } from '../objects/delete.ts';
import { deletedWith } from '../../environments/index.ts';
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
    await deleteObjects(client, DynamicEnv, environments, environments.flatMap(deletedWith), options, 'environments');
  });
}
