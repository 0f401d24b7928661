// Changes annotations of an environment by which people say how it should live. Called by extend, sleep and wake.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import type { Client } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import { keyOf } from '../../kube/objects.ts';
import { failure } from '../exit.ts';
import type { CommandFailed } from '../exit.ts';
import type { DryRun } from '../options.ts';

/** Sets annotations, or takes away those that are null; returns the environment with them. Nothing else is touched. */
export async function annotateEnvironment(
  client: Client,
  env: DynamicEnv,
  annotations: Readonly<Record<string, string | null>>,
  dryRun: DryRun,
): Promise<DynamicEnv> {
  if (env.metadata.deletionTimestamp !== undefined) throw tooLate(env);
  if (dryRun === 'client') return withAnnotations(env, annotations);
  const { uid } = env.metadata;
  try {
    const patch = { type: 'merge', body: { metadata: { uid, annotations } } } as const;
    const options = { fieldManager: 'offshoot-cli', dryRun: dryRun === 'server' };
    const after = await client.patch(DynamicEnv, env.metadata, patch, options);
    // Its time may have been over at the same moment.
    if (after.metadata.deletionTimestamp !== undefined) throw tooLate(env);
    return after;
  } catch (error) {
    throw isNotFound(error) ? tooLate(env) : error;
  }
}

function withAnnotations(env: DynamicEnv, changes: Readonly<Record<string, string | null>>): DynamicEnv {
  const all = Object.entries({ ...env.metadata.annotations, ...changes });
  const annotations = Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== null));
  return { ...env, metadata: { ...env.metadata, annotations } };
}

function tooLate({ metadata }: DynamicEnv): CommandFailed {
  return failure('BeingDeleted', `environment ${keyOf(metadata)} is being deleted: create it again`);
}
