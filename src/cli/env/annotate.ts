// Changes annotations of an environment by which people say how it shall live. Called by extend, sleep and wake.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import type { Client } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import { keyOf } from '../../kube/objects.ts';
import { failure } from '../exit.ts';
import type { CommandFailed } from '../exit.ts';
import type { DryRun } from '../options.ts';

/** Sets annotations, or takes away those that are null. Nothing else of the environment is touched. */
export async function annotateEnvironment(
  client: Client,
  env: DynamicEnv,
  annotations: Readonly<Record<string, string | null>>,
  dryRun: DryRun,
): Promise<void> {
  if (env.metadata.deletionTimestamp !== undefined) throw tooLate(env);
  if (dryRun === 'client') return;
  const { uid } = env.metadata;
  try {
    const patch = { type: 'merge', body: { metadata: { uid, annotations } } } as const;
    const options = { fieldManager: 'offshoot-cli', dryRun: dryRun === 'server' };
    const after = await client.patch(DynamicEnv, env.metadata, patch, options);
    // Its time may have been over at the same moment.
    if (after.metadata.deletionTimestamp !== undefined) throw tooLate(env);
  } catch (error) {
    throw isNotFound(error) ? tooLate(env) : error;
  }
}

function tooLate({ metadata }: DynamicEnv): CommandFailed {
  return failure(`environment ${keyOf(metadata)} is being deleted: make it anew`);
}
