// `offshoot env delete`: removes environments, and waits until nothing of them is left.
import { DynamicEnv } from '../api/dynamicenv.ts';
import type { Client } from '../kube/client.ts';
import { isNotFound } from '../kube/errors.ts';
import { keyOf } from '../kube/objects.ts';
import { ENVIRONMENT, getEnvironment } from './env-get.ts';
import { leavingWith } from './env-leaving.ts';
import { CommandFailed, EXIT } from './exit.ts';
import { waitGone } from './leaving.ts';
import { readManifests } from './manifests.ts';
import { listNamed } from './named.ts';
import { connected } from './options.ts';
import type { ClusterOptions, Connection, DryRun } from './options.ts';
import { nameText } from './output.ts';

export interface DeleteOptions extends ClusterOptions {
  readonly filename?: readonly string[];
  readonly selector?: string;
  readonly output?: 'name';
  readonly dryRun: DryRun;
  readonly wait: boolean;
  readonly timeout: number;
}

/** Deletes the environments that names, files or labels choose. */
export function deleteEnvironments(names: readonly string[], options: DeleteOptions): Promise<void> {
  return connected(options, async (connection) => {
    const { client } = connection;
    const environments = await chosen(names, options, connection);
    if (environments.length === 0) {
      console.error(`No environments found in namespace ${connection.namespace}.`);
      return;
    }
    const leaving = environments.flatMap(leavingWith);
    if (options.dryRun !== 'none' || !options.wait) for (const { label } of leaving) console.error(`going: ${label}`);
    for (const env of environments) {
      if (options.dryRun !== 'client') await remove(client, env, options.dryRun === 'server');
      console.log(options.output === 'name' ? nameText(env) : `${nameText(env)} deleted${suffix(options.dryRun)}`);
    }
    if (options.wait && options.dryRun === 'none') await waitGone(client, leaving, options.timeout);
  });
}

function suffix(dryRun: DryRun): string {
  if (dryRun === 'none') return '';
  return dryRun === 'client' ? ' (dry run)' : ' (server dry run)';
}

/** All of them must exist before any is deleted. */
async function chosen(
  names: readonly string[],
  options: DeleteOptions,
  { client, namespace }: Connection,
): Promise<readonly DynamicEnv[]> {
  const ways = [names.length > 0, options.filename !== undefined, options.selector !== undefined];
  if (ways.filter(Boolean).length !== 1) {
    throw new CommandFailed(EXIT.error, 'say what to delete in one way: by NAME, by -f FILE or by -l LABELS');
  }
  if (options.selector !== undefined) {
    return listNamed(client, ENVIRONMENT, { namespace, labelSelector: options.selector });
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

async function remove(client: Client, { metadata }: DynamicEnv, dryRun: boolean): Promise<void> {
  try {
    await client.delete(DynamicEnv, metadata, {
      ...(metadata.uid !== undefined && { preconditions: { uid: metadata.uid } }),
      propagationPolicy: 'Background',
      dryRun,
    });
  } catch (error) {
    // Somebody else was quicker.
    if (!isNotFound(error)) throw error;
  }
}
