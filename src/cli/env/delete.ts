// `offshoot env delete`: removes environments, and waits until nothing of them is left.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { keyOf } from '../../kube/objects.ts';
import { deleteObjects } from '../objects/delete.ts';
import type { DeleteFlags } from '../objects/delete.ts';
import { ENVIRONMENT, getEnvironment } from './get.ts';
import { deletedWith } from '../../environments/index.ts';
import { failure } from '../exit.ts';
import { readManifests } from '../manifests/read.ts';
import { listOfKind } from '../objects/find.ts';
import { withConnection } from '../options.ts';
import type { Connection } from '../options.ts';

export interface DeleteOptions extends DeleteFlags {
  readonly filename?: readonly string[];
  readonly selector?: string;
}

/** Deletes the environments that names, files or labels choose. */
export function deleteEnvironments(names: readonly string[], options: DeleteOptions): Promise<void> {
  return withConnection(options, async (connection) => {
    const { client } = connection;
    const environments = await selectEnvironments(names, options, connection);
    if (environments.length === 0) {
      console.error(`No environments found in namespace ${connection.namespace}.`);
      return;
    }
    await deleteObjects(client, DynamicEnv, environments, environments.flatMap(deletedWith), options, 'environments');
  });
}

/** All of them must exist before any is deleted. */
async function selectEnvironments(
  names: readonly string[],
  options: DeleteOptions,
  { client, namespace }: Connection,
): Promise<readonly DynamicEnv[]> {
  const ways = [names.length > 0, options.filename !== undefined, options.selector !== undefined];
  if (ways.filter(Boolean).length !== 1) {
    throw failure('say what to delete in one way: by NAME, by -f FILE or by -l LABELS');
  }
  if (options.selector !== undefined) {
    return listOfKind(client, ENVIRONMENT, { namespace, labelSelector: options.selector });
  }
  const refs =
    options.filename === undefined
      ? names.map((name) => ({ name, namespace }))
      : readManifests(options.filename)
          .filter(({ object }) => object.kind === 'DynamicEnv')
          .map(({ object: { metadata } }) => ({ name: metadata.name, namespace: metadata.namespace ?? namespace }));
  const unique = new Map(refs.map((ref) => [keyOf(ref), ref]));
  return Promise.all([...unique.values()].map((ref) => getEnvironment(client, ref)));
}
