// Finds one environment, and says what else there is if it is not there.
import { DynamicEnv } from '../api/dynamicenv.ts';
import type { Client, Selection } from '../kube/client.ts';
import { isNotFound } from '../kube/errors.ts';
import { CommandFailed, EXIT } from './exit.ts';
import { listAll } from './follow.ts';
import { similar } from './similar.ts';

export interface EnvironmentRef {
  readonly name: string;
  readonly namespace: string;
}

/** The environment; fails with a hint if there is none of that name. */
export async function getEnvironment(client: Client, ref: EnvironmentRef): Promise<DynamicEnv> {
  const env = await findEnvironment(client, ref);
  if (env !== undefined) return env;
  const others = (await listEvery(client, { namespace: ref.namespace })).map(({ metadata }) => metadata.name);
  const close = similar(ref.name, others);
  const hint = close.length > 0 ? `did you mean ${close.join(' or ')}?` : '"offshoot env list -A" shows all there are';
  throw new CommandFailed(EXIT.error, `there is no environment ${ref.name} in namespace ${ref.namespace}; ${hint}`);
}

/** The environment, or undefined. A cluster that does not know the kind is an error of its own. */
export async function findEnvironment(client: Client, ref: EnvironmentRef): Promise<DynamicEnv | undefined> {
  try {
    return await client.get(DynamicEnv, ref);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    // An unknown kind is answered without the details of an object.
    if (error.details?.name === ref.name) return undefined;
    throw unknownKind();
  }
}

/** The environments of a selection. */
export async function listEvery(client: Client, selection: Selection): Promise<readonly DynamicEnv[]> {
  try {
    return await listAll(client, DynamicEnv, selection);
  } catch (error) {
    throw isNotFound(error) ? unknownKind() : error;
  }
}

/** What to say when the cluster does not serve environments. */
export function unknownKind(): CommandFailed {
  return new CommandFailed(
    EXIT.error,
    'this cluster does not know DynamicEnv: install it with "offshoot crds | kubectl apply -f -"',
  );
}
