// Sets the annotations that control the lifecycle of an environment. Called by extend, sleep and wake.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { withAnnotations } from '../../kube/annotations.ts';
import type { Client } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import { keyOf } from '../../kube/objects.ts';
import { failure } from '../exit.ts';
import type { CommandFailed } from '../exit.ts';
import type { DryRun } from '../options.ts';

/** Sets annotations, removes those that are null, and returns the changed environment. Nothing else is changed. */
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
    // It may have expired in the meantime.
    if (after.metadata.deletionTimestamp !== undefined) throw tooLate(env);
    return after;
  } catch (error) {
    throw isNotFound(error) ? tooLate(env) : error;
  }
}

function tooLate({ metadata }: DynamicEnv): CommandFailed {
  return failure('BeingDeleted', `environment ${keyOf(metadata)} is being deleted: create it again`);
}
